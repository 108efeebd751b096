"""The commands that show what is recorded, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import All, AllWorkTrees, Id, Json, ShownSession, Sides
from gitckpt.cli.usage import end

PANEL = "Look"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(status)
    app.command(rich_help_panel=PANEL)(log)
    app.command(rich_help_panel=PANEL)(show)
    app.command(rich_help_panel=PANEL, context_settings={"ignore_unknown_options": False})(diff)
    app.command(rich_help_panel=PANEL)(sessions)
    app.command(rich_help_panel=PANEL)(report)


def status(json: Json = False) -> None:
    """Show where recording stands: session, last checkpoint, what has changed since, what was interrupted or not
    covered.
    """
    from gitckpt.cli.status import status as command

    end(lambda: command(json=json), json=json)


def log(
    commit: Annotated[
        str | None, typer.Argument(metavar="[COMMIT]", help="The checkpoints that led to this commit of yours.")
    ] = None,
    session: ShownSession = None,
    all: All = False,
    graph: Annotated[bool, typer.Option("--graph", help="Draw the forks, and attempts of `fork`.")] = False,
    stat: Annotated[bool, typer.Option("--stat", help="What each event changed, and tests run on it.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Each automatic checkpoint on a line of its own.")] = False,
    json: Json = False,
    count: Annotated[int | None, typer.Option("-n", "--count", metavar="N", min=0, help="The last N events.")] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="TEXT", help="Each event like this: '{id} {phase:10} {done}'. {} lists what there is."
        ),
    ] = None,
) -> None:
    """The audit: every event in order, with its phase, what was done and what comes next."""
    from gitckpt.cli.log import log as command

    end(
        lambda: command(
            commit,
            session=session,
            all=all,
            graph=graph,
            stat=stat,
            events=events,
            json=json,
            count=count,
            format=format,
        ),
        json=json,
    )


def show(
    id: Id,
    json: Json = False,
    yaml: Annotated[bool, typer.Option("--yaml", help="The record as it is in the commit message.")] = False,
    path: Annotated[str | None, typer.Option("--path", metavar="FILE", help="Print this file as it was.")] = None,
    all: AllWorkTrees = False,
) -> None:
    """Show one event in full, or a file as it was."""
    from gitckpt.cli.show import show as command

    end(lambda: command(id, json=json, yaml=yaml, path=path, all=all), json=json)


def diff(
    names: Sides = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only how much changed in which file.")] = False,
    json: Json = False,
) -> None:
    """Show what differs between two checkpoints, or between one and the work tree."""
    from gitckpt.cli.diff import diff as command

    end(lambda: command(names or [], stat=stat, json=json), json=json)


def sessions(json: Json = False, all: AllWorkTrees = False) -> None:
    """List the sessions of this work tree."""
    from gitckpt.cli.sessions import sessions as command

    end(lambda: command(json=json, all=all), json=json)


def report(
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where it goes; - is standard output. In the git directory if not given.",
        ),
    ] = None,
    session: ShownSession = None,
    all: All = False,
) -> None:
    """Write a session as one self-contained HTML page: the forked timeline, each step's state and changes, facts and
    their sources, retries and why. It opens from disk and makes no network requests."""
    from gitckpt.cli.report import report as command

    end(lambda: command(output=output, session=session, all=all))
