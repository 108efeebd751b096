"""The commands that look whether all is well, as typer reads them."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import Json
from gitckpt.cli.usage import end


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (verify, doctor):
        app.command(rich_help_panel="Check")(command)


def verify(
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None, json: Json = False
) -> None:
    """Whether all that is on record is whole: refs, lines, messages, tags, and every object by its content.

    Exits with 5 where history is damaged, with 1 where there is only something to look at."""
    from gitckpt.cli.verify import verify as command

    end(lambda: command(session=session, json=json), json=json)


def doctor(json: Json = False) -> None:
    """What is installed, what is unsafe, what is slow, what was left behind; and the command that mends each.

    Works outside of a repository too. Exits with 1 where something needs mending."""
    from gitckpt.cli.doctor import doctor as command

    end(lambda: command(json=json), json=json)
