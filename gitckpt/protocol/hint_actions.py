"""What a rollback hint can ask for: a small closed set of typed actions, none of which is a command.

All paths are relative to the root of the work tree, with `/` between the parts, and have passed `hint_paths.refusal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How far `git reset` would go besides moving the branch; the work tree stays as it is in all of them.
ResetMode = Literal["soft", "mixed", "keep", "merge"]


@dataclass(frozen=True, slots=True)
class RestorePaths:
    """Make `paths` as they are in the target. `ref` is the revision that the hint names, for the record."""

    paths: tuple[str, ...]
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreAll:
    """Make the whole work tree as it is in the target. `ref` is the revision that the hint names, for the record."""

    ref: str | None = None


@dataclass(frozen=True, slots=True)
class MoveBranch:
    """Move the branch to `ref` (None: where HEAD is), files as they are."""

    mode: ResetMode
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class CleanNew:
    """Remove what is new since the target under `paths`; no paths means everywhere."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchBranch:
    """Switch HEAD back to the branch `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class RemovePaths:
    """Remove `paths`, which a snapshot must hold."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevertCommit:
    """Apply the inverse of commit `rev` to the files; no commit is made."""

    rev: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """The step changed nothing; there is nothing to undo."""


Action = RestorePaths | RestoreAll | MoveBranch | CleanNew | SwitchBranch | RemovePaths | RevertCommit | Nothing
