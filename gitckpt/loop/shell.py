"""Shell commands for a model: in the work tree, with a time limit, ended together with everything they start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitckpt.errors import UsageError
from gitckpt.loop.actions import MOST_ANSWERED, Action, action_of
from gitckpt.loop.arguments import ShellArguments
from gitckpt.process.command import agent_environment
from gitckpt.process.kept import run_kept

if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: Environment variables that a model's commands must not see.
SECRETS = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "API_KEY")


def shell_action(repository: Repository) -> Action:
    """Return the shell action of one work tree."""

    def run(call: ShellArguments) -> str:
        if "\0" in call.command:
            raise UsageError("a command line has no NUL", "write it without")
        environment = {k: v for k, v in agent_environment(os.environ).items() if k not in SECRETS}
        ended = run_kept(
            call.command, cwd=repository.work_tree, env=environment, seconds=call.seconds, most=MOST_ANSWERED
        )
        output = ended.output.decode("utf-8", "replace").rstrip("\n")
        if ended.timed_out:
            return f"{output}\n(killed after {call.seconds} s, with all that it had started)".lstrip("\n")
        return f"{output}\n(exit status {ended.status})".lstrip("\n")

    description = (
        "Run a command line in the project's directory. Output and errors come back together, without "
        "their middle if long. What it leaves running in the background is killed when it ends."
    )
    return action_of(ShellArguments, "shell", description, run, changes_files=True)
