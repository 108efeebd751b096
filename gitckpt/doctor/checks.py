"""The checks: one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitckpt.doctor import agents, installed, leftovers, safety, speed
from gitckpt.doctor.patient import Patient, Remark
from gitckpt.errors import GitckptError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.doctor.patient import Check

#: Name → what looks. In the order in which it is told.
CHECKS: Final[dict[str, Check]] = {
    "python": installed.python,
    "libraries": installed.libraries,
    "git": installed.git,
    "path": installed.odd_git,
    "repository": installed.repository,
    "private": safety.private_directory,
    "writers": safety.writers,
    "settings": safety.settings,
    "hooks": safety.hooks,
    "codex": agents.codex_trust,
    "untracked": speed.untracked,
    "size": speed.size,
    "loose": speed.loose_objects,
    "disk": speed.file_system,
    "locks": leftovers.locks,
    "interrupted": leftovers.interrupted,
    "sessions": leftovers.sessions,
    "attempts": leftovers.attempts,
    "hook faults": leftovers.hook_faults,
    "clock": leftovers.clock,
}


def examine(patient: Patient) -> Iterator[tuple[str, Remark]]:
    """What every check has to say, with its name; the same thing once."""
    told: set[str] = set()
    for name, check in CHECKS.items():
        for remark in _carried_out(name, check, patient):
            if remark.message not in told:
                told.add(remark.message)
                yield name, remark


def _carried_out(name: str, check: Check, patient: Patient) -> Iterator[Remark]:
    """The remarks of a check; one that cannot be carried out says so."""
    try:
        yield from check(patient)
    except GitckptError as error:
        yield Remark("mend", str(error), error.hint)
    except OSError as error:
        yield Remark("mend", f"{name} could not be looked at: {error.strerror}", "gitckpt doctor looks again")
