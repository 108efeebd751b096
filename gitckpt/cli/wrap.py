"""`gitckpt wrap -- CMD…`: run an agent and record it."""

from __future__ import annotations

import sys

from gitckpt.cli import render
from gitckpt.cli.elapsed import while_telling
from gitckpt.cli.init import program
from gitckpt.config import choice
from gitckpt.errors import UsageError
from gitckpt.trajectory.naming import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.protocol.prompt import Language

#: The placeholder for the prompt in an agent's command.
PLACE = "{prompt}"


def wrap(
    command: list[str],
    *,
    task: str | None = None,
    language: Language = "zh",
    freeze: str = "",
    on_retry: str = "",
    channel: str = "",
    auto: str = "",
    session: str | None = None,
    inject: str = "auto",
    quiet: bool = False,
) -> int:
    """Run the agent, pass its bytes through, and record its blocks; return the agent's exit status."""
    from gitckpt.agents.table import channel_named
    from gitckpt.recorder import at_once
    from gitckpt.wrapping import Wrapping

    if not command:
        raise UsageError("wrap which command?", "gitckpt wrap -- my-agent --its-options")
    if session is not None:
        check_name(session)
    named = channel_named(channel) if channel else None
    if freeze:
        choice(freeze, ("auto", "on", "off"), "--freeze")
    if on_retry:
        choice(on_retry, ("fork", "restore"), "--on-retry")
    if auto:
        choice(auto, ("tool", "turn", "off"), "--auto")
    choice(inject, ("auto", "off"), "--inject")
    say = (lambda text: None) if quiet else render.say
    if task is None and any(PLACE in word for word in command):
        say("{prompt} stays in the command as it is; --task TEXT has it filled in")
    if task is not None and not any(PLACE in word for word in command):
        raise UsageError(
            "--task needs a place for the prompt in the command", "write {prompt} where the agent takes it"
        )
    # what a resumed run needs to build the command again
    origin = {} if task is None else {"task": task, "template": command, "language": language}
    filled = command if task is None else filled_in(command, task, "", language)
    wrapping = Wrapping(
        filled, say, choice=named, freeze=freeze, on_retry=on_retry, auto=auto, session=session, origin=origin,
        summarize=render.is_terminal(sys.stderr), before=at_once if quiet else while_telling,
        inject=program() if inject == "auto" else "",
    )  # fmt: skip
    return wrapping.run()


def filled_in(command: list[str], task: str, prior: str, language: Language) -> list[str]:
    """Return the command with `{prompt}` replaced by the protocol prompt for the task, with the prior context."""
    from gitckpt.protocol.prompt import protocol_prompt

    prompt = protocol_prompt(task, prior, lang=language)
    return [word.replace(PLACE, prompt) for word in command]
