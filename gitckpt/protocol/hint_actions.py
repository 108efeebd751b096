"""The actions a rollback hint can ask for: a small closed set of types, none of which is a shell command.

All paths are relative to the root of the work tree, use `/` as the separator, and have passed `hint_paths.refusal`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What `git reset` would change besides moving the branch; none of these modes touches the work tree.
ResetMode = Literal["soft", "mixed", "keep", "merge"]


@dataclass(frozen=True, slots=True)
class RestorePaths:
    """Restore `paths` from the target. `ref` is the revision that the hint names, for the record."""

    paths: tuple[str, ...]
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreAll:
    """Restore the whole work tree from the target. `ref` is the revision that the hint names, for the record."""

    ref: str | None = None


@dataclass(frozen=True, slots=True)
class MoveBranch:
    """Move the branch to `ref` (None: HEAD), leaving the files as they are."""

    mode: ResetMode
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class CleanNew:
    """Remove what was created under `paths` since the target; no paths means everywhere."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchBranch:
    """Switch HEAD back to the branch `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class RemovePaths:
    """Remove `paths`, which must be in a snapshot."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RevertCommit:
    """Apply the inverse of commit `rev` to the files, without committing."""

    rev: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """The step changed nothing; there is nothing to undo."""


Action = RestorePaths | RestoreAll | MoveBranch | CleanNew | SwitchBranch | RemovePaths | RevertCommit | Nothing
