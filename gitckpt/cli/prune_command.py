"""`gitckpt prune` as typer declares it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gitckpt.cli.options import Json
from gitckpt.cli.usage import end


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Keep")(prune)


def prune(
    keep_last: Annotated[
        int | None, typer.Option("--keep-last", min=0, metavar="N", help="Keep the newest N sessions.")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="AGE", help="Nothing recorded for so long: 12h, 30d, 2w, 6m.")
    ] = None,
    session: Annotated[list[str] | None, typer.Option("--session", help="This session; may be given again.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Sessions of all work trees, not of this one alone.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show what would go, change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Drop whole sessions for good: those that match every given criterion and are not in use. Says how much space that
    frees."""
    from gitckpt.cli.prune import prune as command

    asked = partial(
        command, keep_last=keep_last, older_than=older_than, sessions=session, all=all, dry_run=dry_run, yes=yes,
        json=json,
    )  # fmt: skip
    end(asked, json=json)
