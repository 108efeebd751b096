"""The commands about the protocol, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import DEFAULT_LANGUAGE, Format, Json, Language, RollbackTarget, Task, Transcript
from gitckpt.cli.usage import end

PANEL = "Protocol"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(validate)
    app.command(rich_help_panel=PANEL)(prompt)
    app.command(rich_help_panel=PANEL)(context)
    app.command(rich_help_panel=PANEL)(replay)


def validate(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="Transcripts; - for standard input.")
    ] = None,
    staged: Annotated[bool, typer.Option("--staged", help="Every staged file that holds blocks.")] = False,
    commit_msg: Annotated[
        str | None, typer.Option("--commit-msg", metavar="FILE", help="A commit message in this file.")
    ] = None,
    format: Format = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Prose outside of blocks is a finding too.")] = False,
    finished: Annotated[bool, typer.Option("--finished", help="The run is over: FINAL must be there.")] = False,
    select: Annotated[str, typer.Option("--select", metavar="RULES", help="Only these rules: P001,P006.")] = "",
    ignore: Annotated[str, typer.Option("--ignore", metavar="RULES", help="Not these rules.")] = "",
) -> None:
    """Check protocol blocks against the rules P001 to P018."""
    from gitckpt.cli.validate import validate as command

    end(
        lambda: command(
            files or [], staged=staged, commit_msg=commit_msg, format=format, strict=strict, finished=finished,
            select=select, ignore=ignore,
        )
    )  # fmt: skip


def prompt(
    task: Task = "",
    language: Language = DEFAULT_LANGUAGE,
    resume: Annotated[bool, typer.Option("--resume", help="With what has been done so far.")] = False,
) -> None:
    """Print the prompt that teaches an agent the protocol."""
    from gitckpt.cli.prompt import prompt as command

    end(lambda: command(task=task, language=language, resume=resume))


def context(
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", min=0, help="Characters at most.")] = None,
    json: Json = False,
) -> None:
    """Print what an agent needs to go on: summaries, the checkpoints after the last one, the latest state."""
    from gitckpt.cli.context import context as command

    end(lambda: command(budget=budget, json=json), json=json)


def replay(
    file: Transcript,
    to: Annotated[str | None, typer.Option("--to", metavar="ID", help="The state at this step.")] = None,
    rollback_target: RollbackTarget = None,
    json: Json = False,
) -> None:
    """Show the state at any step of a saved transcript. Needs no repository."""
    from gitckpt.cli.replay import replay as command

    end(lambda: command(file, to=to, rollback_target=rollback_target, json=json), json=json)
