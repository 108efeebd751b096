"""`gitckpt hook NAME`: the entry point of hooks. A hook never blocks because of a fault of ours."""

from __future__ import annotations

from gitckpt.agents.named import HOOKED
from gitckpt.cli import render
from gitckpt.errors import GitckptError, UsageError


def hook(name: str, *words: str, auto: str = "", lang: str = "zh") -> int:
    """Answer a hook of git, or of the client with this name."""
    if name in HOOKED:
        from gitckpt.cli.agent_hook import agent_hook

        return agent_hook(name, words, auto=auto, lang="en" if lang == "en" else "zh")
    if name != "commit-msg":
        raise UsageError(f"there is no hook {name!r}", f"the hooks are: commit-msg, {', '.join(HOOKED)}")
    if len(words) != 1:
        raise UsageError("commit-msg takes the file with the message", "git calls it so: gitckpt hook commit-msg FILE")
    return commit_msg(words[0])


def commit_msg(file: str) -> int:
    """Check the protocol blocks of a commit message; if they are valid, name the checkpoint that led to the commit."""
    from gitckpt.cli.validate import validate

    status = validate([], commit_msg=file)
    if status:
        return status
    try:
        _bind(file)
    except GitckptError as error:
        render.say(f"the commit names no checkpoint: {error}")
    return 0


def _bind(file: str) -> None:
    from gitckpt.repo.repository import discover
    from gitckpt.repo.trailers import add_trailer, last_checkpoint

    repository = discover()
    checkpoint = last_checkpoint(repository)
    if checkpoint:
        add_trailer(repository, file, checkpoint)
