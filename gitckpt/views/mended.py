"""Explain to the author of a checkpoint what was wrong with its state, and how it was fixed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.protocol.blocks import Block
    from gitckpt.trajectory.events import Event


def mended(event: Event, block: Block | None = None) -> list[str]:
    """Return lines for a checkpoint as recorded; `block` is the block that it was read from, if any."""
    lines = [found.message for found in (block.diagnostics if block else ()) if found.code == "P015"]
    if event.document.get("moved_to_open"):
        lines.append(f"Without a source, and so moved to open: {'; '.join(event.document['moved_to_open'])}")
    if event.document.get("dropped"):
        left_out = "; ".join(event.document["dropped"])
        lines.append(f"Over 2,000 characters; left out of the state, and still in git: {left_out}")
    return lines
