"""The typer application: all commands, and how usage errors are reported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gitckpt.cli import (
    agent_commands,
    back_commands,
    eval_command,
    fork_commands,
    health,
    look_commands,
    protocol_commands,
    prune_command,
    record_commands,
    remote_commands,
    render,
    use_commands,
)
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
    """Run a command line and return its exit status."""
    try:
        status = app(args=list(arguments), prog_name="gitckpt", standalone_mode=False)
    except typer.Exit as error:
        return error.exit_code
    except typer.Abort:
        return 130
    except SystemExit as ended:  # typer ends this way after answering a shell's completion request
        return ended.code if isinstance(ended.code, int) else 0
    except Exception as error:
        # click's usage errors can print themselves; typer may bundle its own copy of click
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
        look_commands.status()


for part in (
    record_commands, back_commands, fork_commands, look_commands, use_commands, protocol_commands, remote_commands,
    prune_command, health, agent_commands, eval_command,
):  # fmt: skip
    part.add_to(app)
