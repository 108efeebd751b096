"""`gitckpt doctor`: what is wrong with the setup, and the command that fixes it."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.errors import Negative


def doctor(*, json: bool = False) -> int:
    """Print the result of every check. Returns 0 if nothing is wrong, 1 if something needs fixing."""
    from gitckpt.doctor.checks import examine
    from gitckpt.doctor.patient import Patient
    from gitckpt.views.doctor import doctor_document, doctor_lines

    rows = [(name, remark.level, remark.message, remark.help) for name, remark in examine(Patient())]
    if json:
        render.json(doctor_document(rows))
    else:
        render.out(doctor_lines(rows, render.style()))
    return Negative.exit_status if any(level == "mend" for _, level, _, _ in rows) else 0
