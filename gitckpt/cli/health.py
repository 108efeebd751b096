"""The commands that check the record and the setup, as typer declares them."""

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
    """Check that the record is intact: refs, lines, messages, tags, and every object by its content.

    Exits with 5 if history is damaged, with 1 if there are only notices."""
    from gitckpt.cli.verify import verify as command

    end(lambda: command(session=session, json=json), json=json)


def doctor(json: Json = False) -> None:
    """Check what is installed, unsafe, slow or left behind, and name the command that fixes each problem.

    Also works outside a repository. Exits with 1 if something needs fixing."""
    from gitckpt.cli.doctor import doctor as command

    end(lambda: command(json=json), json=json)
