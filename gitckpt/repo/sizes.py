"""The disk usage of sessions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.gateway import Git
    from gitckpt.trajectory.session import Session


def session_sizes(git: Git, sessions: Sequence[Session]) -> dict[str, int]:
    """Return, for each session, the bytes on disk of the objects that only it keeps: what dropping it would free after
    a gc."""
    sizes: dict[str, int] = {}
    known = git.run("for-each-ref", "--format=^%(objectname)", "refs/heads", "refs/tags", "refs/remotes", "refs/stash")
    for session in sessions:
        others = [tip for other in sessions if other is not session for tip in other.lines.values()]
        wanted = [*session.lines.values(), *(f"^{tip}" for tip in others)]
        data = "\n".join(wanted).encode() + b"\n" + known
        call = git.start("rev-list", "--objects", "--disk-usage", "--ignore-missing", "--stdin", data=data, ok=(0, 128))
        output = call.wait().strip()
        if call.status == 0 and output.isdigit():
            sizes[session.id] = int(output)
    return sizes
