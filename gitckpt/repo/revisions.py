"""Find the object that a revision names."""

from __future__ import annotations

from gitckpt.repo.answers import object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.gateway import Git


def object_named(git: Git, revision: str) -> str | None:
    """Return the id of the object; None if the revision names none."""
    call = git.start("rev-parse", "-q", "--verify", "--end-of-options", revision, ok=(0, 1, 128))
    answer = call.wait()
    return object_id(answer, call.words) if answer and call.status == 0 else None
