"""What is examined: the machine, and the repository if there is one. Nothing is changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from gitckpt.errors import GitckptError
from gitckpt.repo.gateway import Git
from gitckpt.repo.repository import Repository, discover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: `mend`: something is wrong, and `help` fixes it; `note`: not wrong, but worth knowing.
Level = Literal["ok", "note", "mend"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark of a check."""

    level: Level
    message: str
    help: str = ""


if TYPE_CHECKING:
    Check = Callable[["Patient"], Iterator[Remark]]


class Patient:
    """What the checks examine. `repository` is None outside a repository, and in one where gitckpt does not work;
    `refusal` then says why."""

    def __init__(self) -> None:
        self.refusal: GitckptError | None = None
        self.repository: Repository | None = None
        try:
            self.repository = discover()
        except GitckptError as error:
            self.refusal = error

    @property
    def git(self) -> Git:
        """git as the user has configured it, in this directory."""
        return self.repository.user_git() if self.repository else Git(os.fsencode(os.curdir))

    @cached_property
    def config(self) -> dict[str, str]:
        """The user's git configuration: the last value of each key, without the settings of our own calls."""
        fields = self.git.run("config", "--list", "--show-scope", "-z", "--includes").split(b"\0")
        found = {}
        for scope, entry in zip(fields[::2], fields[1::2], strict=False):
            name, _, value = entry.partition(b"\n")
            if scope != b"command":
                found[os.fsdecode(name)] = os.fsdecode(value)
        return found


def in_repository(check: Callable[[Repository, Patient], Iterator[Remark]]) -> Check:
    """Wrap a check so that it makes no remarks outside a repository."""

    def run(patient: Patient) -> Iterator[Remark]:
        return check(patient.repository, patient) if patient.repository else iter(())

    return run


def shown(path: bytes) -> str:
    """Return a path for a message, shell-quoted if necessary."""
    import shlex

    return shlex.quote(os.fsdecode(path))
