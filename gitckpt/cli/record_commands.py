"""The commands that record, as typer declares them. The work is in one file per command."""

from __future__ import annotations

from typing import Annotated

import typer

from gitckpt.cli.options import (
    DEFAULT_LANGUAGE,
    Auto,
    BaseUrl,
    Channel,
    Directory,
    Freeze,
    Inject,
    Input,
    Json,
    Language,
    Model,
    RecordRetry,
    ReplyLimit,
    SessionName,
    TokenLimit,
    WrapChannel,
    WrapRetry,
    WrapTask,
)
from gitckpt.cli.usage import end

PANEL = "Record"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(rich_help_panel=PANEL)(demo)
    app.command(
        rich_help_panel=PANEL, context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False}
    )(wrap)
    app.command(rich_help_panel=PANEL)(record)
    app.command(rich_help_panel=PANEL)(save)
    app.command(rich_help_panel=PANEL)(run)


def demo(
    directory: Directory = None,
    language: Language = DEFAULT_LANGUAGE,
    pause: Annotated[
        float, typer.Option("--pause", metavar="SECONDS", min=0.1, help="Between the agent's steps, to watch it.")
    ] = 0.3,
) -> None:
    """Show the whole story in a throw-away repository: an agent works, fails, retries; then a rollback and its undo."""
    from gitckpt.cli.demo import demo as command

    end(lambda: command(directory, language=language, pause=pause))


def wrap(
    command: Annotated[list[str], typer.Argument(help="The agent's command line, after `--`.", metavar="-- CMD...")],
    task: WrapTask = None,
    language: Language = DEFAULT_LANGUAGE,
    freeze: Freeze = "",
    on_retry: WrapRetry = "",
    channel: WrapChannel = "",
    auto: Auto = "",
    session: SessionName = None,
    inject: Inject = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages of gitckpt's own.")] = False,
) -> None:
    """Run any agent, pass its bytes through untouched, and record each of its CHECKPOINT blocks as a commit."""
    from gitckpt.cli.wrap import wrap as wrapped

    end(
        lambda: wrapped(
            command, task=task, language=language, freeze=freeze, on_retry=on_retry, channel=channel, auto=auto,
            session=session, inject=inject, quiet=quiet,
        )
    )  # fmt: skip


def record(
    file: Input = "-",
    channel: Channel = "plain",
    session: SessionName = None,
    on_retry: RecordRetry = None,
) -> None:
    """Record blocks from a file or a pipe (`agent | gitckpt record`), each with the work tree as it is then."""
    from gitckpt.cli.record import record as command

    end(lambda: command(file, channel=channel, session=session, on_retry=on_retry))


def save(
    message: Annotated[str, typer.Option("--message", "-m", metavar="TEXT", help="What was done.")] = "",
    session: SessionName = None,
) -> None:
    """Record a checkpoint by hand."""
    from gitckpt.cli.save import save as command

    end(lambda: command(message=message, session=session))


def run(
    task: Annotated[str, typer.Option("--task", metavar="TEXT", help="What the agent is to do.")],
    model: Model = None,
    base_url: BaseUrl = None,
    char_limit: Annotated[
        int, typer.Option("--char-limit", metavar="N", min=1, help="Characters of context over which it is cleared.")
    ] = 24_000,
    token_limit: TokenLimit = None,
    reply_limit: ReplyLimit = None,
    max_turns: Annotated[int, typer.Option("--max-turns", metavar="N", min=1, help="Replies of the model.")] = 40,
    mcp: Annotated[
        list[str] | None,
        typer.Option("--mcp", metavar="CMD", help="Tools of an MCP server, started by CMD; may be given again."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages.")] = False,
    json: Json = False,
) -> None:
    """Run an agent on an OpenAI-compatible endpoint that saves its state as checkpoints and forgets the rest."""
    from gitckpt.cli.run import run as command

    end(
        lambda: command(
            task, model=model, base_url=base_url, char_limit=char_limit, token_limit=token_limit,
            reply_limit=reply_limit, max_turns=max_turns, mcp=mcp, quiet=quiet, json=json,
        ),
        json=json,
    )  # fmt: skip
