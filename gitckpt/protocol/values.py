"""Parse the text of a field: each function reads one shape from the table "Fields" of the protocol.

Readers that drop words return, besides the value, whether the text said more than that.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any, Final

from gitckpt.protocol.blocks import Phase
from gitckpt.protocol.brackets import one_line, pairs, split_list, unbracketed, unquoted
from gitckpt.protocol.ids import MAX_RANGE, canonical, expand_range, find_ids, ids_in, is_placeholder, says_only_ids
from gitckpt.protocol.nested import BULLET, nested_value

#: Roughly how many ids a field may name; any beyond that stay text.
MAX_IDS: Final = 10 * MAX_RANGE

#: Other words that agents use for a phase.
PHASE_WORDS: Final[dict[Phase, str]] = {
    "explore": """
        explore exploring explored exploration investigate investigation research analyze analyse analysis plan planning
        discover discovery survey read reading 探索 调研 调查 研究 分析 了解 规划 计划 定位""",
    "implement": """
        implement implementing implemented implementation execute execution code coding build building develop
        development edit editing write writing fix fixing refactor refactoring migrate migration
        实施 实现 执行 开发 编码 修改 改造 迁移 修复 重构""",
    "verify": """
        verify verifying verified verification validate validation test tests testing check checking review reviewing qa
        验证 校验 测试 检查 核对 复核""",
    "finish": """
        finish finishing finished wrap-up wrapup finalize finalise finalization cleanup complete completed completion
        done close closing final 收尾 完成 结束 总结 交付 清理""",
}
_PHASES: Final[dict[str, Phase]] = {word: phase for phase, words in PHASE_WORDS.items() for word in words.split()}
_PHASE_WORD: Final = re.compile(r"[\w-]+")

_BLOCK_SCALAR: Final = re.compile(r"\s*[|>][+-]?\s*")
_SEMICOLON: Final = re.compile("[;；]")
_ID_SEPARATOR: Final = re.compile(r"[,;；，、\n]")
_NOTHING: Final = frozenset(("none", "nil", "null", "n/a", "na", "-", "—", "无", "没有", "暂无"))

_RETRY: Final = re.compile(r"(?:retry|重试|R[0-9]+)\s*(?:→|⇒|-+>|—+>|=>|:|：|\bto\b)\s*(?P<id>.+)", re.IGNORECASE)
_SUMMARY: Final = re.compile(r"(?P<id>[^\s(（:：\[]+)\s*[:：]?\s*(?P<covers>.*)", re.DOTALL)

_SOURCE_WORD: Final = r"(?:sources?|src|来源|出处|依据)"
_SOURCE_IN_BRACKETS: Final = re.compile(
    rf"{_SOURCE_WORD}(?:\s*[:：=]\s*|\s+|$)(?P<source>.*)", re.IGNORECASE | re.DOTALL
)
_SOURCE_AFTER: Final = re.compile(rf"(?:^|[\s,，;；。.|—–-])\s*{_SOURCE_WORD}\s*[:：=]\s*", re.IGNORECASE)
_PLACE: Final = re.compile(
    r"(?:(?:see|via|参见|见)\s*)?(?P<place><?(?:https?://\S+|[^\s:：]+:[0-9]+(?:[-:][0-9]+)?)>?)"
)
_URL_AFTER: Final = re.compile(r"(?P<text>.*\S)\s+[-—–|@←]+\s+(?P<source>https?://\S+)", re.DOTALL)
_FACT_KEY: Final = re.compile(r"(?:text|fact|claim|statement|内容|事实)\s*[:：=]\s*", re.IGNORECASE)
_SUMMARY_KEY: Final = re.compile(r"\{|id\s*[:=]")
_TEXT_NAMES: Final = frozenset(("text", "fact", "claim", "statement", "内容", "事实"))
_SOURCE_NAMES: Final = frozenset(("source", "sources", "src", "来源", "出处", "依据"))


def text_value(raw: str) -> str:
    """Return the text without surrounding brackets or quotes. Inside brackets, line breaks are wraps and are joined;
    elsewhere they stay.
    """
    text = _margin_off(raw).strip()
    inner = unbracketed(text)
    is_wrapped = inner is not text and not any(BULLET.fullmatch(line) for line in inner.split("\n"))
    return unquoted(one_line(inner) if is_wrapped else inner)


def phase_value(raw: str) -> tuple[str, str]:
    """Return one of the four phases, and the word as written. An unknown word is returned unchanged as the phase."""
    written = text_value(raw).strip("*_`{}<> \t")
    bare = written.lower().replace("wrap up", "wrap-up").replace("clean up", "cleanup")
    first = _PHASE_WORD.match(bare)
    word = re.sub(r"(?:阶段|期)$", "", first[0]) if first else bare
    # `探索|实施` leaves both choices standing: the agent did not pick one.
    is_choice = first is not None and bare[first.end() :].lstrip()[:1] in ("|", "/")
    return (written if is_choice else _PHASES.get(word, written)), written


def list_value(raw: str) -> list[str]:
    """Read a list: `[a, b]`, lines starting with `-`, plain lines, or one line split at `;` only, since its commas are
    prose.
    """
    return [item for item in map(_item, raw_items(raw)) if item]


def open_list_value(raw: str) -> list[str]:
    """Read a list whose only item `none` or `无` means that it is empty."""
    items = list_value(raw)
    return [] if len(items) == 1 and _is_nothing(items[0]) else items


def raw_items(raw: str) -> list[str]:
    """Return the items of a list as written, without their bullets. If the value starts below the key, each line is an
    item; if it starts next to the key, further lines are wraps.
    """
    text = raw.strip()
    inner = unbracketed(text)
    lines = inner.split("\n")
    if any(BULLET.fullmatch(line) for line in lines):
        return _bulleted(lines)
    if inner is not text:
        return split_list(inner)
    begins_below = not raw.split("\n", 1)[0].strip()
    return [line.strip() for line in lines if line.strip()] if begins_below else split_list(one_line(text), _SEMICOLON)


def facts_value(raw: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the facts that name a source as `{text, source}`, and the texts of those that do not."""
    facts = [_fact(item) for item in raw_items(raw) if not _is_nothing(item)]
    unsourced = [_told(fact) for fact in facts if not fact.get("source")]
    return [fact for fact in facts if fact.get("source")], [text for text in unsourced if text]


def id_value(raw: str) -> tuple[str, bool]:
    """Return the id that `from` names, and whether the text says more. Text without an id is returned as is."""
    text = text_value(raw)
    if id := canonical(text):
        return id, False
    found = find_ids(text)
    return (found[0][2], True) if found else (text, False)


def id_list_value(raw: str) -> tuple[list[str], bool]:
    """Return ids, with ranges expanded and retries spelled `RETRY→C7`, and whether the text says more. Ids beyond
    MAX_IDS count as more.
    """
    ids: dict[str, None] = {}
    more = False
    for item in _id_items(raw):
        found, said_more = _ids_of(item) if len(ids) < MAX_IDS else ([], True)
        ids.update(dict.fromkeys(found))
        more = more or said_more
    return list(ids), more


def summaries_value(raw: str) -> tuple[list[dict[str, Any]], bool]:
    """Return summaries as `{id, covers}`, with ranges expanded, and whether the text says more. Anything beyond MAX_IDS
    counts as more.
    """
    summaries: list[dict[str, Any]] = []
    room, more = MAX_IDS, False
    for item in _id_items(raw):
        summary, said_more = _summary(item) if room > 0 else ({}, True)
        room -= 1 + len(summary.get("covers", ()))
        summaries += [summary] if summary else []
        more = more or said_more
    return summaries, more


def _margin_off(raw: str) -> str:
    """Remove the indent shared by all lines after the key's own, and the `|` or `>` of a YAML block scalar."""
    first, *rest = raw.split("\n")
    first = "" if rest and _BLOCK_SCALAR.fullmatch(first) else first
    return "\n".join([first, *dedent("\n".join(rest)).split("\n")])


def _bulleted(lines: list[str]) -> list[str]:
    """Return the items of a bulleted list, each with its continuation lines dedented."""
    items: list[list[str]] = []
    for line in lines:
        match = BULLET.fullmatch(line)
        if match or not items:
            items.append([match["item"] if match else line])
        else:
            items[-1].append(line)
    return [item for first, *rest in items if (item := "\n".join([first, dedent("\n".join(rest))]).strip())]


def _item(raw: str) -> str:
    return unquoted(one_line(raw)).strip()


def _is_nothing(text: str) -> bool:
    return text.strip(" \t。.").lower() in _NOTHING


def _fact(raw: str) -> dict[str, Any]:
    key = _FACT_KEY.match(raw)
    if raw.startswith("{") or (key and "\n" in raw):
        named = nested_value(raw if raw.startswith("{") else "\n" + raw)
        if isinstance(named, dict):
            return _named_fact(named)
    text, source = _text_and_source(_item(raw[key.end() :] if key else raw))
    return {"text": text, "source": "" if _is_nothing(source) or source in ("?", "unknown", "未知") else source}


def _named_fact(named: dict[str, Any]) -> dict[str, Any]:
    fact: dict[str, Any] = {"text": "", "source": ""}
    for name, value in named.items():
        role = "text" if name.lower() in _TEXT_NAMES else "source" if name.lower() in _SOURCE_NAMES else name
        fact[role] = value
    return fact


def _told(fact: dict[str, Any]) -> str:
    """Return a fact without a source as one text, including any other fields it has."""
    rest = [f"{name}: {value}" for name, value in fact.items() if name not in ("text", "source")]
    return one_line("; ".join(filter(None, [str(fact["text"]), *rest])))


def _text_and_source(text: str) -> tuple[str, str]:
    """Split `text (source: URL)`, `text（来源：path:line）`, `text (URL)`, `text, source: URL` or `text — URL`."""
    end = text.rstrip(" 。.")
    opening = next((at for at, close in pairs(end).items() if close == len(end) - 1 and end[at] in "([（"), None)
    if opening is not None:
        inner = end[opening + 1 : -1].strip()
        if found := _SOURCE_IN_BRACKETS.fullmatch(inner) or _PLACE.fullmatch(inner):
            return end[:opening].rstrip(" ,，;；"), found[found.lastgroup or 0].strip("<> ")
    if last := list(_SOURCE_AFTER.finditer(text))[-1:]:
        return text[: last[0].start()].rstrip(" ,，;；|—–-"), text[last[0].end() :].strip("<> 。")
    tail = _URL_AFTER.fullmatch(text)
    return (tail["text"], tail["source"]) if tail else (text, "")


def _id_items(raw: str) -> list[str]:
    text = unbracketed(raw.strip())
    if any(BULLET.fullmatch(line) for line in text.split("\n")):
        items = _bulleted(text.split("\n"))
    else:
        items = split_list(text, _ID_SEPARATOR)
    return [item for item in items if not _is_nothing(item)]


def _ids_of(item: str) -> tuple[list[str], bool]:
    text = unquoted(item.strip())
    if retry := _RETRY.fullmatch(text):
        id, more = id_value(retry["id"])
        return [f"RETRY→{id}"], more
    if ids := expand_range(text) or list(filter(None, [canonical(text)])) or (says_only_ids(text) and ids_in(text)):
        return list(ids), False
    named = find_ids(text)
    return ([named[0][2]], True) if named and not is_placeholder(text) else ([text], False)


def _summary(item: str) -> tuple[dict[str, Any], bool]:
    mapping = nested_value(item if item.startswith("{") else "\n" + item) if _SUMMARY_KEY.match(item) else None
    if isinstance(mapping, dict) and "id" in mapping:
        covers = mapping.get("covers", [])
        return _covering(str(mapping["id"]), covers if isinstance(covers, str) else ", ".join(map(str, covers)))
    written = _SUMMARY.fullmatch(item)
    return _covering(written["id"], written["covers"]) if written else ({"id": item, "covers": []}, False)


def _covering(id: str, covers: str) -> tuple[dict[str, Any], bool]:
    return {"id": canonical(id, "summary") or id, "covers": ids_in(covers)}, not says_only_ids(covers)
