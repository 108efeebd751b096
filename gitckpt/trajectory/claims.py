"""Compare what a checkpoint says with what its snapshot shows: paths that it names but did not change, and the reverse.
Pure.

An honest agent must not be accused. A word counts as a path only if it is a path of the project or the end of one;
reading a file, or repeating an earlier entry, is not a claim of a change; and a file counts as named if any word of the
checkpoint may mean it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitckpt.trajectory.events import is_readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

#: Fields whose words name what a step was about; of these only `done` claims changes.
NAMING = ("done", "state_ref", "rollback_hint")

#: Phases in which files are only looked at, so that naming one does not claim a change.
LOOKING = ("explore", "verify")

_WORD = re.compile(r"""[^\s,;:'"`()\[\]{}<>|=，。；：、（）《》「」“”‘’…→*]+""")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.@+~/-]+")
_PLACE = re.compile(r"#L\d+.*$")
_COUNTED = re.compile(
    r"\b(\d{1,6})(?:[ ]\w{1,20}){0,3}?[ ](?:files?|paths?)\b|(\d{1,6})[ ]?[个份]?(?:其他|其它)?文件", re.ASCII
)

#: An entry of `done` that contains one of these is not about a change.
_NO_CHANGE = re.compile(
    r"\b(?:read|reads|reading|looked|look|viewed|opened|scann?ed|checked|found|inspected|reviewed|analy[sz]ed|studied"
    r"|tested|ran|run|verified|confirmed|compared|searched|identified|listed|located|understood|noted|saw|keeps?|kept"
    r"|unchanged|untouched|left|not|no|without|already|skipped|planned|fails?|failed|passe[sd]|pass|reverted|restored)\b"
    r"|读|查看|扫描|检查|分析|运行|测试|确认|验证|识别|发现|保持|未|没有|不|无需|跳过|计划|已经|失败|通过|回退|恢复|浏览|搜索|定位|对比",
    re.IGNORECASE,
)

#: Words after which a path is a tool or a purpose, not what was changed.
_ASIDE = re.compile(
    r"(?:\b(?:for|like|see|per|via|with|using|against|by|than)\s+|[按据照为]\s*)[`'\"]?$", re.IGNORECASE
)


class Claims:
    """The result of a comparison.

    `unchanged` are paths that the checkpoint claims to have worked on but that are as they were before the step;
    `unnamed` are paths that it changed but did not name. Both are sorted bytes, as git has them."""

    __slots__ = ("unchanged", "unnamed")

    def __init__(self, unchanged: Iterable[bytes] = (), unnamed: Iterable[bytes] = ()) -> None:
        self.unchanged, self.unnamed = tuple(sorted(unchanged)), tuple(sorted(unnamed))

    def __bool__(self) -> bool:
        return bool(self.unchanged or self.unnamed)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Claims) and (self.unchanged, self.unnamed) == (other.unchanged, other.unnamed)

    def __hash__(self) -> int:
        return hash((self.unchanged, self.unnamed))

    def __repr__(self) -> str:
        return f"Claims({self.unchanged!r}, {self.unnamed!r})"


class Paths:
    """Paths that can be looked up by any trailing part: `src/api/time.ts`, `api/time.ts`, `time.ts`."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._by_name: dict[bytes, list[bytes]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition(b"/")[2], []).append(path)

    def meant(self, word: str) -> list[bytes]:
        """Return the paths that a word can mean: it equals the path, or the end of one after a slash."""
        path = word.encode("utf-8", "surrogateescape")
        found = self._by_name.get(path.rpartition(b"/")[2], ())
        return [known for known in found if known == path or known.endswith(b"/" + path)]


def step_of(event: Event, session: Session) -> list[Event]:
    """Return the events that make up the step of a checkpoint: those since the previous checkpoint on its line, newest
    first."""
    step = [event]
    while (before := session.parent(step[-1])) is not None and before.kind != "checkpoint":
        step.append(before)
    return step


def is_compared(event: Event) -> bool:
    """Return whether an event makes claims: it is a readable checkpoint that an agent wrote."""
    return event.kind == "checkpoint" and is_readable(event) and not event.document.get("by_hand")


def told_before(event: Event, session: Session) -> list[str]:
    """Return the entries of `done` of the previous checkpoint."""
    before = session.parent(step_of(event, session)[-1])
    return _texts(before.fields.get("done")) if before is not None and is_readable(before) else []


def compare(
    fields: Mapping[str, Any], changed: Collection[bytes], known: Paths, repeated: Collection[str] = ()
) -> Claims:
    """Compare the fields of a checkpoint with the paths that its step `changed`.

    `known` are the paths of the project, `repeated` the `done` entries of the previous checkpoint: repeating them does
    not claim to have done them again.
    """
    return Claims(_unchanged(fields, changed, known, repeated), _unnamed(fields, changed))


def _unchanged(
    fields: Mapping[str, Any], changed: Collection[bytes], known: Paths, repeated: Collection[str]
) -> set[bytes]:
    if fields.get("phase") in LOOKING:
        return set()
    claimed = [text for text in _texts(fields.get("done")) if text not in repeated and not _NO_CHANGE.search(text)]
    if not changed:
        claimed += _texts(fields.get("state_ref")) if claimed else []
    words = {word for text in claimed for word in _claimed_words(text)}
    found = [meant for word in words if (meant := known.meant(word))]
    return {path for meant in found if not any(path in changed for path in meant) for path in meant[:1]}


def _claimed_words(text: str) -> Iterator[str]:
    """Yield the words of an entry that look like files and are not mentioned only as a tool or a purpose."""
    for match in (*_WORD.finditer(text), *_PLAIN_WORD.finditer(text)):
        word = _trimmed(match[0])
        if "." in word.rpartition("/")[2][:-1] and not _ASIDE.search(text[max(match.start() - 16, 0) : match.start()]):
            yield word


def _unnamed(fields: Mapping[str, Any], changed: Collection[bytes]) -> set[bytes]:
    texts = [text for name in NAMING for text in _texts(fields.get(name))]
    words = {word for text in texts for word in words_of(text)}
    left = {path for path in changed if not _is_named(path, words, texts)}
    counted = [int(a or b) for text in texts for a, b in _COUNTED.findall(text)]
    return set() if any(number >= len(left) for number in counted) else left


def words_of(text: str) -> set[str]:
    """Return the words of a text that could be paths, without surrounding punctuation and line references."""
    return {_trimmed(word) for word in (*_WORD.findall(text), *_PLAIN_WORD.findall(text))} - {""}


def _is_named(path: bytes, words: Collection[str], texts: Collection[str]) -> bool:
    """Return whether a word is the path, a part or an end of it, a directory above it, or its name without
    extension.
    """
    parts = path.decode("utf-8", "surrogateescape").split("/")
    ends = {"/".join(parts[at:]) for at in range(len(parts))}
    above = {"/".join(parts[:to]) for to in range(1, len(parts))}
    stem = parts[-1].rpartition(".")[0] or parts[-1]
    if not ends.union(above, parts, (stem,)).isdisjoint(words):
        return True
    return not parts[-1].isascii() and any(parts[-1] in said for said in texts)


def _trimmed(word: str) -> str:
    return _PLACE.sub("", word).removeprefix("./").rstrip(".!?/\\")


def _texts(value: Any) -> list[str]:
    """Return all text in a field."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for entry in (*value.keys(), *value.values()) for text in _texts(entry)]
    if isinstance(value, list | tuple):
        return [text for entry in value for text in _texts(entry)]
    return []
