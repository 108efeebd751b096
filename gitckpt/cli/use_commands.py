"""The commands that use recorded history, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli import completion
from gitckpt.cli.options import NAMES, Json
from gitckpt.cli.usage import end

PANEL = "Use"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(blame)
    app.command(rich_help_panel=PANEL)(bisect)
    app.command(rich_help_panel=PANEL)(promote)


def blame(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of the work tree.")],
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="ID", help="As it was at this checkpoint.", autocompletion=completion.ids),
    ] = None,
    lines: Annotated[str, typer.Option("--lines", "-L", metavar="FROM,TO", help="These lines alone.")] = "",
    json: Json = False,
) -> None:
    """Show which checkpoint wrote each line of a file, as it is now."""
    from gitckpt.cli.blame import blame as command

    end(lambda: command(file, at=at, lines=lines, json=json), json=json)


def bisect(
    good: Annotated[
        str, typer.Argument(metavar="GOOD", help="A checkpoint where it worked.", autocompletion=completion.ids)
    ],
    bad: Annotated[
        str, typer.Argument(metavar="BAD", help="A later one where it does not.", autocompletion=completion.ids)
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- CMD...]", help="What tells; if not given, that of gitckpt.verify."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="One scratch directory for all: what CMD installs or builds there stays.")
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Run it again where it was run on the same files before.")
    ] = False,
    json: Json = False,
) -> None:
    """Find the checkpoint that broke a command: it is run on the files of each, in a scratch directory. CMD exits with
    0 for good, 125 if it cannot tell, anything else up to 124 for bad."""
    from gitckpt.cli.bisect import bisect as work

    end(lambda: work(good, bad, command or [], keep=keep, anew=anew, json=json), json=json)


def promote(
    span: Annotated[
        str,
        typer.Argument(
            metavar="[[A..]B]", help=f"The checkpoints after A up to B. {NAMES}", autocompletion=completion.ids
        ),
    ] = "last",
    squash: Annotated[bool, typer.Option("--squash", help="One commit for all, not one for each checkpoint.")] = False,
    branch: Annotated[
        str | None, typer.Option("--branch", metavar="NAME", help="The new branch; promoted/SESSION-B if not given.")
    ] = None,
    onto: Annotated[str, typer.Option("--onto", metavar="REV", help="The commit to put them on.")] = "HEAD",
    message: Annotated[
        str, typer.Option("--message", "-m", metavar="TEXT", help="The message of the one commit.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show the commits, make no branch.")] = False,
    json: Json = False,
) -> None:
    """Turn checkpoints into ordinary commits on a new branch. Nothing else moves: no file, no HEAD, no branch."""
    from gitckpt.cli.promote import promote as command

    end(
        lambda: command(span, squash=squash, branch=branch, onto=onto, message=message, dry_run=dry_run, json=json),
        json=json,
    )
