"""The command line as typer reads it: every command with its options and help. The work is in a file per command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from gitckpt.cli import agent_commands, edge, health, render
from gitckpt.cli.options import (
    DEFAULT_LANGUAGE,
    All,
    AllWorkTrees,
    Auto,
    Channel,
    ChosenId,
    Directory,
    Format,
    Freeze,
    From,
    Id,
    Input,
    Json,
    Language,
    OnlyPaths,
    RecordRetry,
    RollbackTarget,
    Scope,
    SessionName,
    ShownSession,
    Sides,
    Task,
    Transcript,
    WrapChannel,
    WrapRetry,
    WrapTask,
)  # fmt: skip
from gitckpt.cli.prune_command import prune
from gitckpt.cli.usage import CommandLine

app = CommandLine(
    name="gitckpt",
    help="Git-native checkpoints for AI agents: every step a commit, every rollback exact and undoable.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run_app(arguments: Sequence[str]) -> int:
    """Run a command line; its exit status."""
    try:
        status = app(args=list(arguments), prog_name="gitckpt", standalone_mode=False)
    except typer.Exit as error:
        return error.exit_code
    except typer.Abort:
        return 130
    except SystemExit as ended:  # so typer answers a shell that asks what may follow
        return ended.code if isinstance(ended.code, int) else 0
    except Exception as error:
        # click's usage errors know how to show themselves; typer may bring its own copy of click
        if not (hasattr(error, "show") and hasattr(error, "exit_code")):
            raise
        return _usage_error(error, json="--json" in arguments)
    return status if isinstance(status, int) else 0


def _usage_error(error: Any, *, json: bool) -> int:
    if json:
        from gitckpt.errors import UsageError
        from gitckpt.views.event_json import error_document

        render.json(error_document(UsageError(error.format_message(), "gitckpt --help")))
    else:
        error.show(file=sys.stderr)
    return int(error.exit_code)


def _end(command: Callable[[], int], *, json: bool = False) -> None:
    raise typer.Exit(edge.run(command, json=json))


def _version(wanted: bool) -> None:
    if wanted:
        from gitckpt import __version__

        render.out([f"gitckpt {__version__}"])
        raise typer.Exit


@app.callback(invoke_without_command=True)
def bare(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Git-native checkpoints for AI agents: every step a commit, every rollback exact and undoable."""
    if context.invoked_subcommand is None:
        status()


@app.command(rich_help_panel="Record")
def demo(
    directory: Directory = None,
    language: Language = DEFAULT_LANGUAGE,
    pause: Annotated[
        float, typer.Option("--pause", metavar="SECONDS", min=0.1, help="Between the agent's steps, to watch it.")
    ] = 0.3,
) -> None:
    """The whole story in a throw-away repository: an agent works, fails, retries; then a rollback and its undo."""
    from gitckpt.cli.demo import demo as command

    _end(lambda: command(directory, language=language, pause=pause))


@app.command(
    rich_help_panel="Record", context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False}
)
def wrap(
    command: Annotated[list[str], typer.Argument(help="The agent's command line, after `--`.", metavar="-- CMD...")],
    task: WrapTask = None,
    language: Language = DEFAULT_LANGUAGE,
    freeze: Freeze = "",
    on_retry: WrapRetry = "",
    channel: WrapChannel = "",
    auto: Auto = "",
    session: SessionName = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages of gitckpt's own.")] = False,
) -> None:
    """Run any agent, pass its bytes through untouched, and record each of its CHECKPOINT blocks as a commit."""
    from gitckpt.cli.wrap import wrap as wrapped

    _end(
        lambda: wrapped(
            command, task=task, language=language, freeze=freeze, on_retry=on_retry, channel=channel, auto=auto,
            session=session, quiet=quiet,
        )
    )  # fmt: skip


@app.command(rich_help_panel="Record")
def record(
    file: Input = "-",
    channel: Channel = "plain",
    session: SessionName = None,
    on_retry: RecordRetry = None,
) -> None:
    """Record blocks from a file or a pipe (`agent | gitckpt record`), each with the work tree as it is then."""
    from gitckpt.cli.record import record as command

    _end(lambda: command(file, channel=channel, session=session, on_retry=on_retry))


@app.command(rich_help_panel="Record")
def save(
    message: Annotated[str, typer.Option("--message", "-m", metavar="TEXT", help="What was done.")] = "",
    session: SessionName = None,
) -> None:
    """Record a checkpoint by hand."""
    from gitckpt.cli.save import save as command

    _end(lambda: command(message=message, session=session))


@app.command(rich_help_panel="Go back")
def retry(
    id: From,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What went wrong; needed.")],
    strategy: Annotated[str, typer.Option("--strategy", metavar="TEXT", help="What is done differently; needed.")],
    session: SessionName = None,
) -> None:
    """Fork at a checkpoint and put the work tree back to it, as a RETRY block asks."""
    from gitckpt.cli.rollback import retry as command

    _end(lambda: command(id, reason=reason, strategy=strategy, session=session))


@app.command(rich_help_panel="Go back")
def rollback(
    id: ChosenId = None,
    hint: Annotated[bool, typer.Option("--hint", help="Step ID went wrong: do what its rollback_hint says.")] = False,
    scope: Scope = "staged",
    path: OnlyPaths = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Show the plan, change nothing.")] = False,
    json: Json = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave paths that the safety snapshot cannot hold.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    resume: Annotated[bool, typer.Option("--continue", help="Finish a rollback that was interrupted.")] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Take back a rollback that was interrupted.")] = False,
) -> None:
    """Make the work tree what it was at a checkpoint, exactly. The present state is recorded first; `undo` brings it
    back."""
    from gitckpt.cli.rollback import rollback as command

    _end(
        lambda: command(
            id, hint=hint, scope=scope, paths=path, dry_run=dry_run, json=json, keep=keep, yes=yes, resume=resume,
            abort=abort,
        ),
        json=json,
    )  # fmt: skip


@app.command(rich_help_panel="Go back")
def undo(json: Json = False) -> None:
    """Take back the last rollback, exactly, also after new work."""
    from gitckpt.cli.rollback import undo as command

    _end(lambda: command(json=json), json=json)


@app.command(rich_help_panel="Go back")
def redo(json: Json = False) -> None:
    """Take back the last undo."""
    from gitckpt.cli.rollback import undo as command

    _end(lambda: command(json=json, again=True), json=json)


@app.command(rich_help_panel="Look")
def status(json: Json = False) -> None:
    """Where recording stands: session, last checkpoint, what has changed since, what was interrupted or not covered."""
    from gitckpt.cli.status import status as command

    _end(lambda: command(json=json), json=json)


@app.command(rich_help_panel="Look")
def log(
    commit: Annotated[
        str | None, typer.Argument(metavar="[COMMIT]", help="The checkpoints that led to this commit of yours.")
    ] = None,
    session: ShownSession = None,
    all: All = False,
    graph: Annotated[bool, typer.Option("--graph", help="Draw the forks.")] = False,
    stat: Annotated[bool, typer.Option("--stat", help="The files that each event changed.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Each automatic checkpoint on a line of its own.")] = False,
    json: Json = False,
    count: Annotated[int | None, typer.Option("-n", "--count", metavar="N", min=0, help="The last N events.")] = None,
) -> None:
    """The audit: every event in order, with its phase, what was done and what comes next."""
    from gitckpt.cli.log import log as command

    _end(
        lambda: command(
            commit, session=session, all=all, graph=graph, stat=stat, events=events, json=json, count=count
        ),
        json=json,
    )


@app.command(rich_help_panel="Look")
def show(
    id: Id,
    json: Json = False,
    yaml: Annotated[bool, typer.Option("--yaml", help="The record as it is in the commit message.")] = False,
    path: Annotated[str | None, typer.Option("--path", metavar="FILE", help="Print this file as it was.")] = None,
    all: AllWorkTrees = False,
) -> None:
    """One event whole, or a file as it was."""
    from gitckpt.cli.show import show as command

    _end(lambda: command(id, json=json, yaml=yaml, path=path, all=all), json=json)


@app.command(rich_help_panel="Look", context_settings={"ignore_unknown_options": False})
def diff(
    names: Sides = None,
    stat: Annotated[bool, typer.Option("--stat", help="Only how much changed in which file.")] = False,
    json: Json = False,
) -> None:
    """What differs between two checkpoints, or one and the work tree."""
    from gitckpt.cli.diff import diff as command

    _end(lambda: command(names or [], stat=stat, json=json), json=json)


@app.command(rich_help_panel="Look")
def sessions(json: Json = False, all: AllWorkTrees = False) -> None:
    """List the sessions of this work tree."""
    from gitckpt.cli.sessions import sessions as command

    _end(lambda: command(json=json, all=all), json=json)


@app.command(rich_help_panel="Protocol")
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

    _end(
        lambda: command(
            files or [], staged=staged, commit_msg=commit_msg, format=format, strict=strict, finished=finished,
            select=select, ignore=ignore,
        )
    )  # fmt: skip


@app.command(rich_help_panel="Protocol")
def prompt(
    task: Task = "",
    language: Language = DEFAULT_LANGUAGE,
    resume: Annotated[bool, typer.Option("--resume", help="With what has been done so far.")] = False,
) -> None:
    """Print the prompt that teaches an agent the protocol."""
    from gitckpt.cli.prompt import prompt as command

    _end(lambda: command(task=task, language=language, resume=resume))


@app.command(rich_help_panel="Protocol")
def context(
    budget: Annotated[int | None, typer.Option("--budget", metavar="N", min=0, help="Characters at most.")] = None,
    json: Json = False,
) -> None:
    """Print what an agent needs to go on: summaries, the checkpoints after the last one, the latest state."""
    from gitckpt.cli.context import context as command

    _end(lambda: command(budget=budget, json=json), json=json)


@app.command(rich_help_panel="Protocol")
def replay(
    file: Transcript,
    to: Annotated[str | None, typer.Option("--to", metavar="ID", help="The state at this step.")] = None,
    rollback_target: RollbackTarget = None,
    json: Json = False,
) -> None:
    """The state at any step of a saved transcript. Needs no repository."""
    from gitckpt.cli.replay import replay as command

    _end(lambda: command(file, to=to, rollback_target=rollback_target, json=json), json=json)


agent_commands.add_to(app)
app.command(rich_help_panel="Keep")(prune)
health.register(app)
