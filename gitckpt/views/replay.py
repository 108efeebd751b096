"""Steps of a saved transcript, as text for the user."""

from __future__ import annotations

from gitckpt.views.show import value_lines
from gitckpt.views.text import PLAIN, Style, escape, labelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.protocol.replay import Checkpoint

FIELDS = ("phase", "done", "next", "state_ref", "rollback_hint")


def step_lines(steps: Sequence[Checkpoint], *, whole: bool, style: Style = PLAIN) -> list[str]:
    """Return one line per step, or with `whole` each step in full."""
    if not steps:
        return ["no checkpoint in this text"]
    if not whole:
        return [
            f"{style.bold(escape(step.step_id))}  {escape(step.phase)}  {escape('; '.join(step.done))}"
            for step in steps
        ]
    lines = []
    for step in steps:
        entries = [(name, value_lines(getattr(step, name))) for name in FIELDS]
        lines += [style.bold(escape(step.step_id)), *labelled(entries, 15, style), ""]
    return lines[:-1]
