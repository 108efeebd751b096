"""A text under validation: its blocks in order, split into runs, and the ids that the text says it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from gitckpt.protocol.blocks import Block, Diagnostic, Kind
from gitckpt.protocol.ids import canonical, ids_in, is_placeholder

_LEFT_OUT = re.compile(r"省略|略去|从略|\b(?:omitted|elided|left\s+out|skipped)\b", re.IGNORECASE)
#: An id or a range; bare numbers count something else ("12 passed, 3 skipped").
_STEPS = re.compile(r"(?<![A-Za-z0-9_])C\d+(?:\s*(?:[-–—~～]|至|到|\bto\b)\s*C?\d+)?(?![A-Za-z0-9_])")
_LONGEST_ELISION = 200
#: The maximum number of characters that a message quotes from the agent.
_QUOTED = 60
_FIELD = r"^\W*(?P<name>{})\W*[:：]"

#: What an agent writes under `next` when nothing is left to do.
_NOTHING_LEFT = re.compile(
    r"[\[（(\s]*(?:无|没有|完成|已完成|全部完成|任务完成|结束|none|nothing.*|n/?a|done|finished|complete|-|.*\bFINAL\b.*)[\])）。.\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What a rule found: at a block (in one of its fields), or at a line of the text."""

    at: Block | int
    message: str
    field: str = ""


@dataclass(frozen=True)
class Run:
    """The blocks of one agent run: up to and including a FINAL, after which ids start over.

    `left_out` maps each id that the text says it leaves out (`... (C3-C5 省略)`) to the line that says so.
    """

    blocks: tuple[Block, ...]
    left_out: dict[str, int]

    def of_kind(self, kind: Kind) -> list[Block]:
        """Return the blocks of this kind, in order."""
        return [block for block in self.blocks if block.kind == kind]

    def ids(self, kind: Kind) -> list[str]:
        """Return the canonical ids of the blocks of this kind, in order, without duplicates."""
        return list(dict.fromkeys(block.id for block in self.of_kind(kind) if block.id))

    @cached_property
    def retried_ids(self) -> frozenset[str]:
        """The checkpoints that RETRY blocks go back to, including those that never reported."""
        return frozenset(id for block in self.of_kind("retry") for id in retried(block))

    @property
    def looks_finished(self) -> bool:
        """Whether the last checkpoint is in the phase `finish` and says that nothing is left to do."""
        ended = [block.fields for block in self.of_kind("checkpoint")[-1:] if block.fields.get("phase") == "finish"]
        return any(_NOTHING_LEFT.fullmatch(str(fields.get("next", ""))) for fields in ended)

    def before(self) -> Iterator[tuple[Block, Set[str]]]:
        """Yield each block with the ids that may be named there: blocks up to it, retried steps, and what is left out.

        The set is the same object each time, and grows.
        """
        known = {"start", *self.left_out}
        retries = 0
        for block in self.blocks:
            if block.id:
                known.add(block.id)
            yield block, known
            if block.kind == "retry":
                retries += 1
                known |= {f"R{retries}", *retried(block)}


@dataclass(frozen=True)
class Transcript:
    """The input of the rules. `lines` are the lines of the text without line ends, if the text is available."""

    blocks: tuple[Block, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    lines: Sequence[str] = ()
    strict: bool = False
    finished: bool | None = None

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The real blocks, split after each FINAL."""
        return tuple(_runs(self.real, self.elisions))

    @cached_property
    def real(self) -> tuple[Block, ...]:
        """The blocks without echoes of the prompt."""
        return tuple(block for block in self.blocks if not _is_echo(block))

    def place(self, complaint: Complaint) -> tuple[int, int]:
        """Return line and column, 1-based: of the field if it can be found, otherwise of the block."""
        if isinstance(complaint.at, int):
            return complaint.at, 1
        return self._field_place(complaint.at, complaint.field) or (max(complaint.at.line, 1), 1)

    def _field_place(self, block: Block, name: str) -> tuple[int, int] | None:
        pattern = re.compile(_FIELD.format(re.escape(name)), re.IGNORECASE)
        for number in range(block.line + 1, min(block.end_line, len(self.lines)) + 1) if name else ():
            if found := pattern.search(self.lines[number - 1]):
                return number, found.start("name") + 1
        return None

    def prose(self) -> Iterator[tuple[int, str]]:
        """Yield the lines outside all blocks, numbered from 1."""
        inside = {number for block in self.blocks for number in range(block.line, block.end_line + 1)}
        return ((number, line) for number, line in enumerate(self.lines, 1) if number not in inside)

    @cached_property
    def elisions(self) -> dict[int, list[str]]:
        """The ids that the text says it leaves out, by line."""
        said = {
            number: [id for steps in _STEPS.findall(line) for id in ids_in(steps)]
            for number, line in self.prose()
            if len(line) <= _LONGEST_ELISION and _LEFT_OUT.search(line)
        }
        return {number: ids for number, ids in said.items() if ids}


def _is_echo(block: Block) -> bool:
    """Return whether everything that the block names is a placeholder."""
    written = {"retry": [block.fields.get("from")], "final": list(block.fields.get("checkpoints") or ())}
    named = written.get(block.kind, [block.written])
    return bool(named) and all(is_placeholder(str(id)) for id in named)


def _runs(blocks: Iterable[Block], elisions: dict[int, list[str]]) -> Iterator[Run]:
    """Split after each FINAL; an elision belongs to the run it stands in or before."""
    gathered: list[Block] = []
    waiting = dict(elisions)
    for block in blocks:
        gathered.append(block)
        if block.kind == "final":
            yield Run(tuple(gathered), _left_out(waiting, block.line))
            gathered = []
    if gathered:
        yield Run(tuple(gathered), _left_out(waiting, None))


def _left_out(waiting: dict[int, list[str]], before: int | None) -> dict[str, int]:
    lines = [line for line in waiting if before is None or line < before]
    return {id: line for line in lines for id in waiting.pop(line)}


def retried(retry: Block) -> tuple[str, ...]:
    """Return the checkpoint that a RETRY goes back to, as a tuple of one id; empty if it names none."""
    id = canonical(str(retry.fields.get("from", "")))
    return (id,) if id else ()


def name(block: Block) -> str:
    """Return the block as messages name it: `CHECKPOINT C7`, `RETRY`."""
    return f"{block.kind.upper()} {quoted(block.id or block.written)}".rstrip()


def quoted(text: str) -> str:
    """Return agent text for a message: on one line, cut if long."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else line[:_QUOTED] + "…"


def number(id: str | None, letter: str = "C") -> int | None:
    """Return 7 for `C7`; None if the id is not a number with this letter."""
    found = re.fullmatch(rf"{letter}(\d{{1,18}})", id or "")
    return int(found[1]) if found else None


def listed(ids: Iterable[str]) -> str:
    """Return `C3, C4 and C5` for a message; long lists are cut."""
    names = [quoted(id) for id in ids]
    if len(names) > 8:
        return f"{', '.join(names[:7])} and {len(names) - 7} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def span(ids: list[str]) -> str:
    """Return `C6-C10` for a message: the first and the last id."""
    return "-".join(dict.fromkeys(quoted(id) for id in (*ids[:1], *ids[-1:])))
