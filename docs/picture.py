"""Makes docs/demo.svg: what a terminal shows of the demo's repository. Run it when the output changes.

python docs/picture.py
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from gitckpt.demo import agent

COLUMNS = 112
COMMANDS = (
    "gitckpt log --graph",
    "gitckpt rollback C6 --yes",
    "gitckpt undo",
)


def on_a_terminal(words: list[str], where: str) -> str:
    """What a command prints on a terminal, colours and all."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "TZ": "UTC"}
    process = subprocess.Popen(words, cwd=where, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    while piece := _read(ours):
        output += piece
    process.wait()
    return output.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def _without_places(output: str, room: str) -> str:
    """The output without what only this machine has."""
    interpreter = re.compile(re.escape(os.path.dirname(sys.executable)) + r"/python[\d.]*")
    return interpreter.sub("python", output.replace(room, "/tmp")).replace(os.path.dirname(agent.__file__) + os.sep, "")


def main() -> None:
    """Run the demo, then the commands, and write the picture."""
    program = str(Path(sys.executable).with_name("gitckpt"))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory(prefix="gitckpt-picture-") as room:
        where = os.path.join(room, "project")
        subprocess.run([program, "demo", where, "--lang", "en"], check=True, stdout=subprocess.DEVNULL)
        for command in COMMANDS:
            output = on_a_terminal([program, *command.split()[1:]], where)
            console.print(Text.from_ansi(f"\x1b[1m$ {command}\x1b[0m\n" + _without_places(output, room)))
    svg = console.export_svg(title="gitckpt")
    # no font is fetched from anywhere
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace(
        "Fira Code", "ui-monospace, Menlo, Consolas"
    )
    Path(__file__).with_name("demo.svg").write_text(svg)


if __name__ == "__main__":
    main()
