"""The rules of the protocol, P001 to P018: one row and one function each.

>>> blocks, diagnostics = read_text(text, keep_all=True)
>>> [finding.code for finding in check(blocks, diagnostics, text_lines=text.split("\\n"))]
['P006']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gitckpt.errors import UsageError
from gitckpt.protocol import block_rules as block
from gitckpt.protocol import naming_rules as naming
from gitckpt.protocol import order_rules as order
from gitckpt.protocol.blocks import Block, Diagnostic
from gitckpt.protocol.transcript import Complaint, Run, Transcript

Level = Literal["error", "warning"]


Find = Callable[[Transcript], Iterable[Complaint]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its code, the severity of a violation, a short description of one, and the functions that find it.

    Problems that prevent reading (P003, P004, P015) are found by the reader, as diagnostics with the rule's code.
    """

    code: str
    level: Level
    title: str
    find: tuple[Find, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A violation of a rule: the file, the position (1-based), and what to write instead."""

    file: str
    line: int
    column: int
    code: str
    level: Level
    message: str


def _each_block(find: Callable[[Block], Iterable[Complaint]]) -> Find:
    return lambda text: (complaint for block in text.real for complaint in find(block))


def _each_run(find: Callable[[Run], Iterable[Complaint]]) -> Find:
    return lambda text: (complaint for run in text.runs for complaint in find(run))


RULES: Final[tuple[Rule, ...]] = (
    Rule("P001", "error", "a required field is missing or empty", (_each_block(block.missing_field),)),
    Rule("P002", "error", "the phase is none of the four", (_each_block(block.unknown_phase),)),
    Rule("P003", "error", "a block is not terminated, or a footer has no block"),
    Rule("P004", "error", "an id is missing, malformed or a placeholder"),
    Rule("P005", "error", "an id is repeated with no RETRY between", (_each_run(order.repeated_id),)),
    Rule("P006", "error", "a rollback_hint is not executable", (_each_block(block.hint_not_executable),)),
    Rule(
        "P007",
        "error",
        "a checkpoint or summary is named that does not exist",
        (_each_run(naming.unknown_name), _each_run(naming.unknown_summary)),
    ),
    Rule(
        "P008", "error", "more than five checkpoints since the last SUMMARY", (_each_run(order.too_many_since_summary),)
    ),
    Rule("P009", "warning", "a SUMMARY is not three sentences", (_each_block(block.not_three_sentences),)),
    Rule(
        "P010",
        "error",
        "SUMMARY ranges overlap, leave a gap or disagree with the blocks",
        (_each_run(naming.summary_range), _each_run(naming.range_in_final)),
    ),
    Rule(
        "P011",
        "error",
        "FINAL omits something, or is absent from a finished run",
        (_each_run(naming.final_omits), naming.final_absent),
    ),
    Rule("P012", "warning", "prose outside the blocks (only with --strict)", (block.prose_outside,)),
    Rule("P013", "warning", "ids run backwards or skip", (_each_run(order.out_of_order), order.left_out)),
    Rule("P014", "error", "the state is longer than 2,000 characters", (_each_block(block.state_too_long),)),
    Rule("P015", "error", "a fact has no source"),
    Rule("P016", "warning", "checkpoints are too fine", (_each_run(order.too_many), _each_run(order.unchanged))),
    Rule("P017", "warning", "a checkpoint makes no progress", (_each_run(order.no_progress),)),
    Rule("P018", "warning", "phases run backwards with no RETRY", (_each_run(order.phase_backwards),)),
)

_BY_CODE: Final = {rule.code: rule for rule in RULES}


def check(
    blocks: Iterable[Block],
    diagnostics: Iterable[Diagnostic],
    *,
    file: str = "",
    text_lines: Sequence[str] = (),
    strict: bool = False,
    finished: bool | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> list[Finding]:
    """Return every violation of the selected rules in one text, in text order.

    `blocks` and `diagnostics` come from `reader.read_text(…, keep_all=True)`. `text_lines`, the text split at LF, puts
    a finding on the line of its field and lets the rules see prose and elisions. `finished` says whether the run is
    over; None leaves that to the last checkpoint. `select` and `ignore` hold codes or prefixes (`P00`); an empty
    `select` means every rule.

    Raises UsageError for a code that matches no rule.
    """
    text = Transcript(tuple(blocks), tuple(diagnostics), text_lines, strict, finished)
    codes = selected_codes(select, ignore)
    return sorted(
        Finding(file, line, column, rule.code, rule.level, message)
        for rule in RULES
        if rule.code in codes
        for line, column, message in _found(rule, text)
    )


def selected_codes(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> frozenset[str]:
    """Return the codes left after `--select` and `--ignore`. Raises UsageError for a code that matches no rule."""
    chosen = _expanded(select) or frozenset(_BY_CODE)
    return chosen - _expanded(ignore)


def _expanded(beginnings: Iterable[str]) -> frozenset[str]:
    codes: set[str] = set()
    for beginning in beginnings:
        matching = {code for code in _BY_CODE if beginning and code.startswith(beginning.strip().upper())}
        if not matching:
            raise UsageError(
                f"no rule has the code {beginning!r}", hint="the codes are P001 to P018, see docs/protocol.md"
            )
        codes |= matching
    return frozenset(codes)


def _found(rule: Rule, text: Transcript) -> Iterable[tuple[int, int, str]]:
    """Yield line, column and message of what the reader found and of what the rule finds."""
    yield from ((found.line, found.column, found.message) for found in text.diagnostics if found.code == rule.code)
    for find in rule.find:
        yield from ((*text.place(complaint), complaint.message) for complaint in find(text))
