"""Words what a channel yields, for the user and for the record."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.agents.signals import Boundary
    from gitckpt.agents.tool_call import ToolCall

#: How many files a line names.
_FEW = 3


def boundary_words(boundary: Boundary | ToolCall, paths: Sequence[str] | None = None) -> str:
    """Return `after Edit src/app.py`, `after Bash, which failed` or `at the end of a turn`. Without `paths`, the files
    are those that the call names."""
    if boundary.kind == "turn":
        return "at the end of a turn" + (" that failed" if boundary.failed else "")
    paths = boundary.paths if paths is None else paths
    more = len(paths) - _FEW
    files = ", ".join(paths[:_FEW]) + (f" and {more} more" if more > 0 else "")
    named = " ".join(filter(None, (boundary.kind, boundary.tool or "a tool", files)))
    return named + (", which failed" if boundary.failed else "")


def boundary_record(boundary: Boundary | ToolCall) -> dict[str, Any]:
    """Return what an event records about its boundary: kind, tool, call, failed and paths, as far as known."""
    record = {
        "kind": boundary.kind, "tool": boundary.tool, "call": boundary.call[:200], "failed": boundary.failed,
        "paths": list(boundary.paths),
    }  # fmt: skip
    return {name: value for name, value in record.items() if value}


def lost_words(lost: Mapping[str, int]) -> list[str]:
    """Return a line for each reason why something could not be read, with the number of times."""
    return [f"could not be read: {why}" + (f", {times} times" if times > 1 else "") for why, times in lost.items()]


def repeated_words(blocks: int) -> str:
    """Return a line saying that blocks were read again."""
    return f"{blocks} {'block was' if blocks == 1 else 'blocks were'} on record already: not recorded again"
