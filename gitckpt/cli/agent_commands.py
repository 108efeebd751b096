"""The commands that agent integrations call, as typer declares them."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import DEFAULT_LANGUAGE, AgentLanguage, HookLanguage
from gitckpt.cli.usage import end

PANEL = "Set up"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel="Record", context_settings={"allow_interspersed_args": False})(resume)
    app.command(rich_help_panel=PANEL)(init)
    app.command(rich_help_panel=PANEL)(mcp)
    app.command(rich_help_panel=PANEL, context_settings={"ignore_unknown_options": True})(hook)


def resume(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- CMD...]", help="The agent's command line; that of the session if not given."),
    ] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task for {prompt} in CMD; that of the session if not given.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages of gitckpt's own.")] = False,
) -> None:
    """Start the agent again where it stopped or died, with what it needs to know in place of {prompt}."""
    from gitckpt.cli.resume import resume as resumed

    end(lambda: resumed(command or [], task=task, default_language=DEFAULT_LANGUAGE, quiet=quiet))


def init(
    hooks: Annotated[
        bool, typer.Option("--hooks", help="Git's hooks: check staged blocks, bind commits to checkpoints.")
    ] = False,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="NAME", help="Hooks and tools of an agent client; may be given again."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take out what init put in.")] = False,
    show: Annotated[bool, typer.Option("--print", help="Show what would be written; write nothing.")] = False,
    lang: AgentLanguage = DEFAULT_LANGUAGE,
) -> None:
    """Let other programs call gitckpt: git, and agents. Optional; recording and going back work without it."""
    from gitckpt.cli.init import init as command

    end(lambda: command(hooks=hooks, agents=agents or [], remove=remove, show=show, lang=lang))


def hook(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Which hook is calling: commit-msg, or an agent client such as claude-code."
        ),
    ],
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="What the caller gives it.")] = None,
    auto: Annotated[
        str, typer.Option("--auto", metavar="WHEN", help="Record changes after each tool, turn, or off.")
    ] = "",
    lang: HookLanguage = "zh",
) -> None:
    """Answer a hook. For the hooks that `init` writes, not for people."""
    from gitckpt.cli.hook import hook as command

    end(lambda: command(name, *(words or []), auto=auto, lang=lang))


def mcp() -> None:
    """Serve checkpoint, reset, summary, retry, rollback, log, diff and context to an agent over MCP (stdio)."""
    from gitckpt.cli.mcp import mcp as command

    end(command)
