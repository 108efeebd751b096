"""Move HEAD and a branch, for `--scope all`. Every move is a compare-and-swap and goes into the user's reflog."""

from __future__ import annotations

import os

from gitckpt.errors import Damaged, Refused
from gitckpt.repo.lock import break_lock
from gitckpt.repo.private import clear, is_plain_file, write_file
from gitckpt.repo.revisions import object_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.head import Head
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.plan import Move

#: Name of the note, in the private directory, that some of the user's refs are being moved.
MOVING = b"moving"

#: Seconds after the note is written within which the locks of that move are taken.
SPAN = 5.0


def tip_of(repository: Repository, branch: str | None) -> str | None:
    """Return the commit at the tip of a branch, or None if there is no such branch."""
    return None if branch is None else object_named(repository.git, f"refs/heads/{branch}^{{commit}}")


def moves_to(repository: Repository, wanted: Mapping[str, str | None]) -> tuple[Move, ...]:
    """Return the moves that put each of these branches at its commit, omitting branches that are already there."""
    from gitckpt.trajectory.plan import Move  # slow to import, and hooks import this module

    moves = (Move(name, tip_of(repository, name), commit) for name, commit in wanted.items())
    return tuple(move for move in moves if move.before != move.after)


def check_move(repository: Repository, now: Head, then: dict[str, Any]) -> None:
    """Raise Refused or Damaged if HEAD cannot be moved to where the record `then` has it."""
    commit, branch = then.get("head"), then.get("branch")
    if branch is not None and branch != now.branch:
        output = repository.git.text("worktree", "list", "--porcelain")
        if f"branch refs/heads/{branch}" in output.split("\n"):
            raise Refused(f"branch {branch} is checked out in another work tree", "roll back without --scope all")
    if commit and not repository.git.succeeds("cat-file", "-e", f"{commit}^{{commit}}"):
        raise Damaged(f"the commit {commit[:12]} that HEAD was at is gone", "roll back without --scope all")


def move_head(repository: Repository, now: Head, tip: str | None, then: dict[str, Any], why: str) -> None:
    """Move HEAD, and the branch that it was on, to where the record `then` has them.

    `tip` is where that branch was when the plan was made. Raise GitFailed if a ref has moved since, leaving that ref
    unmoved.
    """
    commit, branch = then.get("head"), then.get("branch")
    # our pinned settings disable reflogs for our own refs; this one belongs to the user
    git = repository.git.view("core.logAllRefUpdates=true")
    message = f"gitckpt: rollback to {why}"
    if branch is None:
        if now.branch is not None or now.commit != commit:
            null = repository.null_oid
            _move(repository, git, "update-ref", "--no-deref", "-m", message, "HEAD", commit or "", now.commit or null)
        return
    set_branch(repository, branch, commit, tip, message)
    if branch != now.branch:
        _move(repository, git, "symbolic-ref", "-m", message, "HEAD", f"refs/heads/{branch}")


def _move(repository: Repository, git: Git, *command: str, branch: str = "") -> None:
    """Run a command that moves HEAD or a branch."""
    while_noted(repository, lambda: git.run(*command), branch)


def while_noted(repository: Repository, move: Callable[[], object], branch: str = "", note: bytes = b"") -> None:
    """Call `move`, which makes git lock some of the user's refs: HEAD, packed refs, or the branch `refs/heads/…`.

    A note says so in the meantime. If gitckpt and git are killed during the move, the next gitckpt to take the work
    tree lock, which the caller holds, removes the locks that git left. A caller that does not hold that lock gives a
    `note` of its own."""
    note = note or os.path.join(repository.private_dir, MOVING)
    try:
        write_file(note, os.fsencode(branch))
    except OSError:
        pass  # if the disk is full, git's own message has to do
    try:
        move()
    finally:
        clear(note)


def free_moved(repository: Repository, note: bytes = b"", below: bytes = b"") -> None:
    """Remove the locks that git left when it was killed together with the gitckpt that started it; with `below`, also
    those on refs in this directory. A lock from another time than the note belongs to another process, and stays."""
    note = note or os.path.join(repository.private_dir, MOVING)
    if not is_plain_file(note):
        return
    with open(note, "rb") as file:
        reference, since = file.read(4096), os.fstat(file.fileno()).st_mtime
    places = [os.path.join(repository.git_dir, b"HEAD"), os.path.join(repository.common_dir, b"packed-refs")]
    if reference.startswith(b"refs/heads/") and b".." not in reference:
        places.append(os.path.join(repository.common_dir, reference))
    found = [os.path.join(directory, name) for directory, _, names in os.walk(below) for name in names]
    # git does not write packed refs while this file exists, whoever left it
    locks = [os.path.join(repository.common_dir, b"packed-refs.new"), *(place + b".lock" for place in places)]
    for lock in [*locks, *(path for path in found if path.endswith(b".lock"))]:
        if is_plain_file(lock) and 0 <= os.lstat(lock).st_mtime - since < SPAN:
            break_lock(lock)
    clear(note)


def set_branch(repository: Repository, branch: str, commit: str | None, before: str | None, message: str) -> None:
    """Move a branch from `before` to a commit, or delete it if the commit is None. Raise GitFailed if it is not at
    `before`."""
    if commit == before:
        return
    git = repository.git.view("core.logAllRefUpdates=true")
    reference = f"refs/heads/{branch}"
    if commit is None:
        _move(repository, git, "update-ref", "-d", reference, before or "", branch=reference)
    else:
        null = repository.null_oid
        _move(repository, git, "update-ref", "-m", message, reference, commit, before or null, branch=reference)


def left_behind(repository: Repository, now: Head, then: str | None, moves: Sequence[Move]) -> tuple[str, ...]:
    """Return the commits, at most fifty, that no branch will contain after these moves and once HEAD is at the commit
    `then`. They come from the branches that move and from a detached HEAD. Call this before anything moves."""
    tips = [move.before for move in moves if move.before]
    if now.branch is None and now.commit and now.commit != then:
        tips.append(now.commit)
    if not tips:
        return ()
    held = [f"^{oid}" for oid in dict.fromkeys([then, *(move.after for move in moves)]) if oid]
    others = ["--not", *(f"--exclude={move.branch}" for move in moves), "--branches", "--not"]
    output = repository.git.text("log", "--format=%h %s", "-n50", *others, "--end-of-options", *tips, *held, "--")
    return tuple(output.split("\n")) if output else ()
