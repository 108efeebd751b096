"""The commands that share sessions, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli import completion
from gitckpt.cli.options import Json
from gitckpt.cli.usage import end

PANEL = "Share"

DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would be done, change nothing.")]
RemoteName = Annotated[
    str | None,
    typer.Argument(
        metavar="[REMOTE]",
        help="A remote of this repository; the one that git itself would use if not given.",
        autocompletion=completion.remotes,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(push)
    app.command(rich_help_panel=PANEL)(fetch)


def push(
    remote: RemoteName = None,
    session: Annotated[
        list[str] | None,
        typer.Option(
            "--session",
            metavar="NAME",
            help="This session; may be given again. If not given, the one of this work tree.",
            autocompletion=completion.sessions,
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="All sessions that were recorded in this repository.")] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow", metavar="PATH", help="Send this although it looks as if it should not leave; may be given again."
        ),
    ] = None,
    allow_all: Annotated[bool, typer.Option("--allow-all", help="Send whatever it looks like.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Send sessions to a remote, all or nothing. Refuses to send keys, tokens, and what a filter or an ignore rule
    keeps out of commits, and overwrites nothing there."""
    from gitckpt.cli.push import push as command

    work = lambda: command(  # noqa: E731
        remote, sessions=session or (), all=all, allow=allow or (), allow_all=allow_all, dry_run=dry_run, json=json
    )
    end(work, json=json)


def fetch(
    remote: RemoteName = None,
    session: Annotated[
        list[str] | None,
        typer.Option("--session", metavar="NAME", help="This session; may be given again. All if not given."),
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Fetch sessions from a remote, to look at and to roll back to. What was recorded here is never touched."""
    from gitckpt.cli.fetch import fetch as command

    end(lambda: command(remote, sessions=session or (), dry_run=dry_run, json=json), json=json)
