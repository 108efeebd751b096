"""The data types of the protocol: the kinds of block, a block as read, and a diagnostic.

Field values are plain data (str, list, dict), so that a block can go into YAML or JSON unchanged. All text is valid
Unicode: bytes that are not UTF-8 and lone surrogates are read as U+FFFD."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["checkpoint", "summary", "retry", "final"]
Phase = Literal["explore", "implement", "verify", "finish"]

PHASES: Final[tuple[Phase, ...]] = ("explore", "implement", "verify", "finish")

#: Fields that a block of each kind must have (P001), in the order in which the protocol writes them.
REQUIRED: Final[dict[Kind, tuple[str, ...]]] = {
    "checkpoint": ("phase", "done", "next", "state_ref", "rollback_hint"),
    "summary": ("text",),
    "retry": ("from", "reason", "new_strategy"),
    "final": ("checkpoints", "summaries", "result"),
}

#: Optional fields of a checkpoint: the state needed to continue (docs/protocol.md, "State").
STATE_FIELDS: Final[tuple[str, ...]] = ("goal", "facts", "todo", "open")

#: The maximum size of a block in bytes, header to footer, after which it is cut with a diagnostic.
MAX_BLOCK: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem in the text: where (1-based line and column), which rule (P001…), and what to write instead."""

    line: int
    column: int
    code: str
    message: str


class RawBlock(NamedTuple):
    """A block as the scanner cut it out of a stream: header argument and body, unwrapped but not yet read as fields.

    `argument` is what follows the keyword in the header (`7`, `S2 (covers C6-C10)`, empty for RETRY and FINAL). `body`
    is the text between header and footer without the frame (quotes, fences, indents, colours, unusual blanks), with LF
    line ends. `line` and `end_line` are 1-based lines of the stream. `cut` means that the block exceeded MAX_BLOCK."""

    kind: Kind
    argument: str
    body: str
    line: int
    end_line: int
    terminated: bool = True
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block read as fields.

    `id` is canonical (`C7`, `S2`, `setup`), or None if the kind has no id (retry, final) or the written one is invalid;
    `written` is the id as the agent wrote it. `fields` maps the names of the fields present, in protocol order, to
    values in the shape that docs/protocol.md defines; a phase also has `phase_written`; unknown keys are under `extra`.
    A summary has `covers` (list of ids, ranges expanded) and `text`."""

    kind: Kind
    id: str | None
    written: str
    fields: dict[str, Any]
    line: int = 0
    end_line: int = 0
    terminated: bool = True
    diagnostics: tuple[Diagnostic, ...] = field(default=())

    @property
    def missing(self) -> tuple[str, ...]:
        """Required fields that are absent or empty."""
        return tuple(name for name in REQUIRED[self.kind] if not self.fields.get(name))
