"""Find the keys in a block body, and so which field each line belongs to.

A key stands at the start of a line, before `:` or `：`. A known key may be in Chinese, in any case, with spaces or
dashes, in bold, or, if all keys in the body are, behind a bullet. Any other word in that position is also a key, unless
it reads like part of a value.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gitckpt.protocol.blocks import REQUIRED, STATE_FIELDS, Kind
from gitckpt.protocol.ids import narrow

#: The fields that a block of each kind can have, in protocol order.
FIELDS: Final[dict[Kind, tuple[str, ...]]] = REQUIRED | {
    "checkpoint": REQUIRED["checkpoint"] + STATE_FIELDS,
    "summary": ("covers", "text"),
}

#: Alternative names of the fields.
ALIASES: Final[dict[str, str]] = {
    "phase": "阶段 stage",
    "done": "已完成 完成 已完成步骤 已完成的步骤 完成情况 completed",
    "next": "下一步 下一步计划 接下来 后续 后续步骤 next_step next_steps",
    "state_ref": "状态引用 关键状态引用 关键状态 状态 状态参考 state state_refs",
    "rollback_hint": "回退提示 回滚提示 回退 回滚 回退方案 回滚方案 回退方法 rollback",
    "goal": "目标 任务目标",
    "facts": "事实 已知事实 已核实事实 已核实的事实 fact",
    "todo": "待办 待办事项 待完成 待完成步骤 未完成 todos to_do",
    "open": "未解决 未解决问题 未解决的问题 待解决 待解决问题 遗留问题 开放问题 open_questions open_issues",
    "from": "从 来自 起点 恢复点 恢复自",
    "reason": "原因 失败原因",
    "new_strategy": "新策略 策略 改用策略 strategy",
    "checkpoints": "检查点 检查点列表 全部检查点 所有检查点 checkpoint_ids",
    "summaries": "摘要 摘要列表 总结 summary",
    "result": "结果 最终结果",
}

_KNOWN: Final[dict[Kind, dict[str, str]]] = {
    kind: {alias.replace("_", ""): name for name in names for alias in (name, *ALIASES.get(name, "").split())}
    for kind, names in FIELDS.items()
}

_KEY_LINE: Final = re.compile(
    r"""(?P<indent>[ ]*)(?P<bullet>[-*+•●][ ]+)?(?P<mark>[*_`"']{0,3})
    (?P<key>[^\W\d][\w-]*(?:[ ][\w-]+){0,2})
    (?P<unmark>[*_`"']{0,3})\s*(?P<colon>[:：])(?P<value>.*)""",
    re.VERBOSE,
)
_ASCII_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
# An ASCII colon marks a key only before a space or an opening sign: `localhost:8080` is text.
_AFTER_COLON: Final = re.compile(r"$|[\s\[{(\"'“‘（【「*]|[^\x00-\x7f]")


class Entry(NamedTuple):
    """A key and its value.

    `name` is the field's name, or None for an unknown key. `written` is the key as written, or "" for text before the
    first key. `value` holds the lines of the value. `line` is the 0-based body line of the key.
    """

    name: str | None
    written: str
    value: str
    line: int


class _Key(NamedTuple):
    name: str | None
    written: str
    value: str
    indent: int
    is_bulleted: bool


def read_entries(kind: Kind, body: str) -> list[Entry]:
    """Split the body into keys and values, in order of appearance. All text except the keys ends up in some value."""
    reading = _Reading(_KNOWN[kind])
    for number, line in enumerate(body.split("\n")):
        reading.take(number, line)
    return reading.entries()


class _Reading:
    """A body being read: the entry still open, and what keys look like in this body."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known
        self._entries: list[Entry] = []
        self._seen: set[str] = set()
        self._style: _Key | None = None
        self._open = _Key(None, "", "", 0, False)
        self._line = 0
        self._lines: list[str] = []
        self._depth = 0

    def take(self, number: int, line: str) -> None:
        key = self._key(line)
        if key and self._begins_entry(key):
            self._begin(key, number)
        else:
            self._add(line)

    def entries(self) -> list[Entry]:
        self._end()
        return self._entries

    def _key(self, line: str) -> _Key | None:
        match = _KEY_LINE.fullmatch(line)
        if not match or match["value"].startswith(("//", "\\")):
            return None
        name = self._known.get(re.sub(r"[\s_-]", "", narrow(match["key"]).lower()))
        value = _unmarked(match["value"], match["mark"] if not match["unmark"] else "")
        if not name and not _is_other_key(match["key"], match["colon"] + match["value"]):
            return None
        return _Key(name, match["key"], value, len(match["indent"]), bool(match["bullet"]))

    def _begins_entry(self, key: _Key) -> bool:
        """Return whether the line starts an entry, rather than being a line of the open value that looks like a key."""
        style = self._style or (key if key.name else _Key(None, "", "", 0, False))
        if key.indent > style.indent or (key.is_bulleted and not style.is_bulleted):
            return False
        return self._depth <= 0 or (key.name is not None and key.name not in self._seen)

    def _begin(self, key: _Key, number: int) -> None:
        self._end()
        if key.name:
            self._seen.add(key.name)
            self._style = self._style or key
        self._open, self._line, self._lines, self._depth = key, number, [], 0
        self._add(key.value)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        if self._depth > 0 or (len(self._lines) == 1 and line.lstrip().startswith(("[", "{"))):
            self._depth += line.count("[") + line.count("{") - line.count("]") - line.count("}")

    def _end(self) -> None:
        value = "\n".join(self._lines)
        if self._open.written or value.strip():
            self._entries.append(Entry(self._open.name, self._open.written, value, self._line))


def _is_other_key(key: str, after: str) -> bool:
    """Return whether a word that is not a field name may be a key: an ASCII word, or at most 20 Chinese characters."""
    is_word = bool(_ASCII_KEY.fullmatch(key)) or (
        len(key) <= 20 and all("\u3400" <= letter <= "\u9fff" for letter in key)
    )
    return is_word and (after.startswith("：") or _AFTER_COLON.match(after, 1) is not None)


def _unmarked(value: str, mark: str) -> str:
    """The value without the emphasis that began before its key: `**phase:** x`, `**phase: x**`."""
    if not mark:
        return value
    return value.removeprefix(mark) if value.startswith(mark) else value.removesuffix(mark)
