"""The commands that go back, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import ChosenId, From, Json, OnlyPaths, Scope, SessionName
from gitckpt.cli.usage import end

PANEL = "Go back"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(retry)
    app.command(rich_help_panel=PANEL)(rollback)
    app.command(rich_help_panel=PANEL)(undo)
    app.command(rich_help_panel=PANEL)(redo)


def retry(
    id: From,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What went wrong; needed.")],
    strategy: Annotated[str, typer.Option("--strategy", metavar="TEXT", help="What is done differently; needed.")],
    session: SessionName = None,
) -> None:
    """Fork at a checkpoint and put the work tree back to it, as a RETRY block asks."""
    from gitckpt.cli.rollback import retry as command

    end(lambda: command(id, reason=reason, strategy=strategy, session=session))


def rollback(
    id: ChosenId = None,
    hint: Annotated[bool, typer.Option("--hint", help="Step ID went wrong: do what its rollback_hint says.")] = False,
    scope: Scope = "staged",
    path: OnlyPaths = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show the plan, change nothing.")] = False,
    json: Json = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave paths that the safety snapshot cannot hold.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; without a terminal nothing is asked.")] = False,
    resume: Annotated[bool, typer.Option("--continue", help="Finish a rollback that was interrupted.")] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Take back a rollback that was interrupted.")] = False,
    last_green: Annotated[
        bool,
        typer.Option("--last-green", help="To the newest checkpoint at which the command of gitckpt.verify succeeds."),
    ] = False,
) -> None:
    """Make the work tree what it was at a checkpoint, exactly. The present state is recorded first; `undo` brings it
    back."""
    from gitckpt.cli.rollback import rollback as command

    end(
        lambda: command(
            id, hint=hint, scope=scope, paths=path, dry_run=dry_run, json=json, keep=keep, yes=yes, resume=resume,
            abort=abort, last_green=last_green,
        ),
        json=json,
    )  # fmt: skip


def undo(json: Json = False) -> None:
    """Take back the last rollback, exactly, also after new work."""
    from gitckpt.cli.rollback import undo as command

    end(lambda: command(json=json), json=json)


def redo(json: Json = False) -> None:
    """Take back the last undo."""
    from gitckpt.cli.rollback import undo as command

    end(lambda: command(json=json, again=True), json=json)
