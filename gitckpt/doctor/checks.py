"""The checks, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitckpt.doctor import agents, installed, leftovers, safety, speed
from gitckpt.doctor.patient import Patient, Remark
from gitckpt.errors import GitckptError
from gitckpt.repo.answers import TO_OPEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.doctor.patient import Check

#: Name → the function that checks it, in the order of the output.
CHECKS: Final[dict[str, Check]] = {
    "python": installed.python,
    "libraries": installed.libraries,
    "git": installed.git,
    "path": installed.odd_git,
    "repository": installed.repository,
    "closed": safety.closed,
    "staging area": safety.staging_area,
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

#: The checks that report files without access. Git fails on such files, and once they are reported its failures need
#: not be.
WHAT_IS_CLOSED: Final = (safety.closed, safety.staging_area)


def examine(patient: Patient) -> Iterator[tuple[str, Remark]]:
    """Yield the remarks of every check, with its name; each only once, even if the same cause stops several checks."""
    told: set[str] = set()
    for name, check in CHECKS.items():
        for remark in _carried_out(name, check, patient, told):
            if remark.message not in told:
                told |= {remark.message, remark.help, TO_OPEN if check in WHAT_IS_CLOSED else remark.help} - {""}
                yield name, remark


def _carried_out(name: str, check: Check, patient: Patient, told: set[str]) -> Iterator[Remark]:
    """Yield the remarks of a check. A check that fails says so, unless its hint was `told` already."""
    try:
        yield from check(patient)
    except GitckptError as error:
        if error.hint not in told:
            yield Remark("mend", str(error), error.hint)
    except OSError as error:
        yield Remark("mend", f"{name} could not be looked at: {error.strerror}", "gitckpt doctor looks again")
