"""The commands that try things side by side, as typer declares them. The work is in `fork.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli import completion
from gitckpt.cli.options import NAMES, Json
from gitckpt.cli.usage import end

PANEL = "Try"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(fork)
    app.command(rich_help_panel=PANEL)(pick)


def fork(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help=f"Where all begin. {NAMES}", autocompletion=completion.ids)
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- CMD...]", help="The command line; {n} in it is the attempt's number."),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", metavar="N", help="How many attempts.")] = 2,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="TEXT", help="Fill {prompt} in CMD with the protocol prompt for this."),
    ] = None,
    test: Annotated[
        str, typer.Option("--test", metavar="LINE", help="A line for the shell, run after each attempt where that was.")
    ] = "",
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the work trees; else they go, and stay on record.")
    ] = False,
    list: Annotated[bool, typer.Option("--list", help="The attempts on record; makes none.")] = False,
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Put on record what a fork that died has left, and clear it away; as each does."),
    ] = False,
    json: Json = False,
) -> None:
    """Run a command several times side by side, each in its own work tree that starts from the checkpoint. Nothing of
    yours is touched."""
    from gitckpt.cli.fork import fork as forked

    work = lambda: forked(  # noqa: E731
        id, command or [], count=count, task=task, test=test, keep=keep, list=list, clean=clean, json=json
    )
    end(work, json=json)


def pick(
    attempt: Annotated[
        str,
        typer.Argument(
            metavar="ATTEMPT", help="Its session, or its number in the newest fork.", autocompletion=completion.attempts
        ),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show the plan, change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; without a terminal nothing is asked.")] = False,
    json: Json = False,
) -> None:
    """Make the files match the result of an attempt. The present state is recorded first; `undo` brings it back."""
    from gitckpt.cli.fork import pick as command

    end(lambda: command(attempt, dry_run=dry_run, json=json, yes=yes), json=json)
