"""Writes the part of docs/cli.md that follows from the commands' own help, and the manual page from all of it.

Run it when either changes.

python docs/commands.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from gitckpt.cli.app import app
from gitckpt.cli.usage import EXAMPLES, Row, arguments, options, panels

PAGE = Path(__file__).with_name("cli.md")
MARK = "<!-- From here on written by docs/commands.py. -->\n"


def page(written: str) -> str:
    """The page with what follows the mark made anew; what stands before it is written by hand."""
    return written.partition(MARK)[0] + MARK + "\n".join(_sections()) + "\n"


def _sections() -> Iterator[str]:
    for title, commands in panels(get_command(app)).items():
        yield f"\n## {title}"
        for name, command in commands:
            yield from _section(name, command)


def _section(name: str, command: Any) -> Iterator[str]:
    usage = " ".join(["gitckpt", name, "[OPTIONS]", *(argument for argument, _ in arguments(command))])
    yield f"\n### gitckpt {name}\n\n{' '.join(command.help.split())}\n\n```text\n{usage}\n```\n"
    yield from _table([*arguments(command), *options(command)])
    yield f"```sh\n{EXAMPLES[name]}\n```"


def _table(rows: list[Row]) -> Iterator[str]:
    if rows:
        yield "| | |\n| --- | --- |"
        yield from (f"| `{_cell(spelled)}` | {_cell(meaning)} |" for spelled, meaning in rows)
        yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    from manpage import MANUAL, manual

    written = page(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(written, encoding="utf-8")
    MANUAL.write_text(manual(written), encoding="ascii")
