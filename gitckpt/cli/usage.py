"""The layout of help: commands by purpose, arguments and options as typed, and an example for each command.

It is plain text, suitable for a pager, a pipe and a screen reader, and the same under every version of typer. An
argument's `metavar` appears in the usage line as is, including brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from gitckpt.cli import edge

#: Command → an example command line.
EXAMPLES = {
    "demo": "gitckpt demo --lang en",
    "wrap": 'gitckpt wrap --task "move the dates to dayjs" -- my-agent "{prompt}"',
    "record": "my-agent | gitckpt record",
    "save": 'gitckpt save -m "before I try this"',
    "retry": 'gitckpt retry C6 --reason "tests fail" --strategy "keep moment.duration"',
    "rollback": "gitckpt rollback C6 --dry-run",
    "undo": "gitckpt undo",
    "redo": "gitckpt redo",
    "status": "gitckpt status --json",
    "log": "gitckpt log --graph",
    "show": "gitckpt show C6 --path src/app.py",
    "diff": "gitckpt diff C2 C6 --stat",
    "sessions": "gitckpt sessions",
    "blame": "gitckpt blame src/app.py",
    "bisect": "gitckpt bisect C2 C6 -- npm test",
    "promote": "gitckpt promote C2..C6 --branch dates-to-dayjs",
    "report": "gitckpt report -o report.html",
    "validate": "gitckpt validate --staged",
    "prompt": 'gitckpt prompt --task "move the dates to dayjs" --lang en',
    "context": "gitckpt context --budget 4000",
    "replay": "gitckpt replay transcript.txt --to C6",
    "run": 'gitckpt run --task "move the dates to dayjs" --model qwen3-8b',
    "resume": 'gitckpt resume -- my-agent "{prompt}"',
    "init": "gitckpt init --agent claude-code --print",
    "mcp": "gitckpt mcp",
    "hook": "gitckpt hook commit-msg .git/COMMIT_EDITMSG",
    "fork": 'gitckpt fork C4 -n 3 --test "make test" -- my-agent --seed {n}',
    "pick": "gitckpt pick 2 --dry-run",
    "push": "gitckpt push origin --dry-run",
    "fetch": "gitckpt fetch origin",
    "prune": "gitckpt prune --keep-last 20 --dry-run",
    "verify": "gitckpt verify",
    "doctor": "gitckpt doctor",
    "eval": "gitckpt eval --model qwen3-8b --repeat 3 -o results",
}

Row = tuple[str, str]


def end(command: Callable[[], int], *, json: bool = False) -> None:
    """Run a command's work and exit with its status."""
    raise typer.Exit(edge.run(command, json=json))


def arguments(command: Any) -> list[Row]:
    """Return the arguments of a command as shown in the usage line, each with its meaning."""
    return [(_written(parameter), parameter.help or "") for parameter in _parameters(command, "argument")]


def options(command: Any) -> list[Row]:
    """Return the options of a command except `--help`, each with its value and its default."""
    return [(_spelled(parameter), _meaning(parameter)) for parameter in _parameters(command, "option")]


def panels(group: Any) -> dict[str, list[tuple[str, Any]]]:
    """Return the commands by purpose, in declaration order."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for name, command in group.commands.items():
        found.setdefault(command.rich_help_panel, []).append((name, command))
    return found


def summary(command: Any) -> str:
    """Return what a command does, in one line: the first sentence of its help."""
    return " ".join((command.help or "").split()).partition(". ")[0].rstrip(".") + "."


def _parameters(command: Any, kind: str) -> Iterator[Any]:
    return (parameter for parameter in command.params if parameter.param_type_name == kind)


def _written(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _spelled(option: Any) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {_written(option)}"


def _meaning(option: Any) -> str:
    is_told = option.show_default and not option.is_flag and option.default not in (None, "")
    return f"{option.help or ''}{f'  [default: {option.default}]' if is_told else ''}"


class Command(TyperCommand):
    """A command whose help consists of usage, meaning, arguments, options, example."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.options_metavar or "", *(name for name, _ in arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, rows in (("Arguments", arguments(self)), ("Options", [*options(self), HELP])):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Example"):
            formatter.write_text(EXAMPLES[str(self.name)])


class Group(TyperGroup):
    """The whole command line: its help lists the commands by purpose."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Options"):
            formatter.write_dl([*options(self), HELP])
        for title, commands in panels(self).items():
            with formatter.section(title):
                formatter.write_dl([(name, summary(command)) for name, command in commands])


HELP: Row = ("-h, --help", "Show this message and exit.")


class CommandLine(typer.Typer):
    """A typer application with this help layout."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=Group, rich_markup_mode=None, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, cls=Command, **settings)
