"""`gitckpt doctor`: what is wrong around gitckpt, and the command that mends it."""

from __future__ import annotations

from gitckpt.cli import render
from gitckpt.errors import Negative


def doctor(*, json: bool = False) -> int:
    """Print what every check has to say. 0: nothing is wrong; 1: something needs mending."""
    from gitckpt.doctor.checks import examine
    from gitckpt.doctor.patient import Patient
    from gitckpt.views.doctor import doctor_document, doctor_lines

    rows = [(name, remark.level, remark.message, remark.help) for name, remark in examine(Patient())]
    if json:
        render.json(doctor_document(rows))
    else:
        render.out(doctor_lines(rows, render.style()))
    return Negative.exit_status if any(level == "mend" for _, level, _, _ in rows) else 0
