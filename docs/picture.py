"""Makes docs/demo.svg: what a terminal shows of the demo's repository, and docs/report-light.png and -dark.png: what a
browser shows of its report. Run it when the output changes. A browser is Chromium with playwright (the extra
`browser`).

python docs/picture.py
"""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright
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
    environment = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "TZ": "UTC", "GITCKPT_PAGER": "cat"}
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


def picture_report(browser: Browser, page: Path, scheme: Literal["light", "dark"], hash: str, keys: str = "") -> None:
    """Write what a browser shows of a report at a step, after these keys."""
    screen = {"width": 1280, "height": 860}
    shown = browser.new_page(viewport=screen, color_scheme=scheme, timezone_id="UTC")
    shown.goto(page.as_uri() + hash)
    shown.wait_for_selector("html[data-complete]", state="attached")
    for key in keys.split():
        shown.keyboard.press(key)
    shown.screenshot(path=Path(__file__).with_name(f"report-{scheme}.png"))


def picture_reports(program: str, where: str, room: str) -> None:
    """Write the report of the demo's session, and its pictures."""
    page = Path(room) / "report.html"
    subprocess.run([program, "report", "-o", str(page)], cwd=where, check=True, stdout=subprocess.DEVNULL)
    page.write_text(_without_places(page.read_text(), room))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        picture_report(browser, page, "light", "")
        picture_report(browser, page, "dark", "#R1", "Enter")
        browser.close()


def main() -> None:
    """Run the demo, then the commands, and write the pictures."""
    program = str(Path(sys.executable).with_name("gitckpt"))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory(prefix="gitckpt-picture-") as room:
        where = os.path.join(room, "project")
        subprocess.run([program, "demo", where, "--lang", "en"], check=True, stdout=subprocess.DEVNULL)
        picture_reports(program, where, room)
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
