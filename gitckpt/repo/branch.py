"""Moving HEAD and a branch, as `--scope all` asks. Compare-and-swap, and the user's reflog tells it."""

from __future__ import annotations

from gitckpt.errors import Damaged, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitckpt.repo.head import Head
    from gitckpt.repo.repository import Repository


def move_head(repository: Repository, now: Head, then: dict[str, Any], why: str) -> tuple[str, ...]:
    """Put HEAD, and the branch it was on, where the record `then` has them; the commits that this leaves behind, newest
    first."""
    commit, branch = then.get("head"), then.get("branch")
    if (now.commit, now.branch) == (commit, branch):
        return ()
    _refuse_checked_out_elsewhere(repository, now, branch)
    if commit and not repository.git.succeeds("cat-file", "-e", f"{commit}^{{commit}}"):
        raise Damaged(f"the commit {commit[:12]} that HEAD was at is gone", "roll back without --scope all")
    left = _left_behind(repository, now.commit, commit)
    # our pinned settings keep reflogs off for our own refs; this one is the user's
    git = repository.git.view("core.logAllRefUpdates=true")
    message = f"gitckpt: rollback to {why}"
    if branch is None:
        git.run("update-ref", "--no-deref", "-m", message, "HEAD", commit or "", now.commit or repository.null_oid)
        return left
    reference = f"refs/heads/{branch}"
    if commit:
        git.run("update-ref", "-m", message, reference, commit)
    elif now.branch == branch and now.commit:
        git.run("update-ref", "-d", reference, now.commit)
    git.run("symbolic-ref", "-m", message, "HEAD", reference)
    return left


def _left_behind(repository: Repository, now: str | None, then: str | None) -> tuple[str, ...]:
    if not now or now == then:
        return ()
    exclude = [f"^{then}"] if then else []
    output = repository.git.text("log", "--format=%h %s", "-n50", now, *exclude, "--")
    return tuple(output.split("\n")) if output else ()


def _refuse_checked_out_elsewhere(repository: Repository, now: Head, branch: str | None) -> None:
    if branch is None or branch == now.branch:
        return
    output = repository.git.text("worktree", "list", "--porcelain")
    if f"branch refs/heads/{branch}" in output.split("\n"):
        raise Refused(f"branch {branch} is checked out in another work tree", "roll back without --scope all")
