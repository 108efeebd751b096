"""The page of a session with a thousand checkpoints: how long it takes to be written, and to be usable.

    python tests/bench/bench_report.py                  every row; exit status 1 if a bar is missed
    python tests/bench/bench_report.py --quick          fewer rounds and events, for a look

The table is that of bench_core.py. The row of the browser, which wants Chromium and playwright, has the seconds from the
call for the page until its keys work in the first column, and those of the page's own work in the second."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from pathlib import Path

import bench_core
from bench_core import GITCKPT, Editor, Row, Setting, compare, git, project, recorder, run

PHASES = ("explore", "implement", "verify", "finish")


def session(where: Path, setting: Setting) -> None:
    """Record checkpoints with two small edits and a state each, as an agent writes them."""
    tree, running = recorder(where)
    editor = Editor(where)
    for number in range(min(setting.events, 1000)):
        editor.edit(2)
        running.checkpoint({
            "phase": PHASES[number // 50 % 4],
            "done": [f"edited 2 files in turn {number}", "looked at what else is to be done"],
            "next": f"go on with turn {number + 1}; tool: edit_file",
            "state_ref": {"turn": str(number), "left": str(setting.events - number)},
            "rollback_hint": f"back to C{number}: git checkout .",
            "facts": [{"text": f"what {number // 20} is about", "source": f"d0/s0/f{number // 20}.txt:3"}],
            "todo": [f"turn {number + 1}", f"turn {number + 2}"],
        })  # fmt: skip
    tree.close()


def report(room: Path, setting: Setting) -> list[Row]:
    """Compare writing the page with git printing the same commits and their changes."""
    where = project(room / "report", 200, setting)
    session(where, setting)
    page = room / "report.html"
    pair = compare(
        setting.rounds,
        lambda: run(GITCKPT, "report", "-o", str(page), where=where),
        lambda: git(where, "log", "-p", "--first-parent", "--glob=refs/gitckpt/*/heads/*"),
    )
    return [Row("report", "a page of all checkpoints", *pair, 10.0, "git log -p"), *in_browser(page, setting)]


def in_browser(page: Path, setting: Setting) -> list[Row]:
    """Measure the time until the page can be used; no rows if there is no browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        shown = browser.new_page()
        client = shown.context.new_cdp_session(shown)
        client.send("Performance.enable", {"timeDomain": "threadTicks"})
        wall, work = [], []
        for _ in range(setting.rounds):
            shown.goto("about:blank")
            shown.goto(page.as_uri(), wait_until="commit")
            shown.wait_for_selector("html[data-ready]", state="attached")
            wall.append(float(shown.evaluate("performance.getEntriesByName('ready')[0].startTime")) / 1000)
            metrics = {row["name"]: row["value"] for row in client.send("Performance.getMetrics")["metrics"]}
            work.append(float(metrics["TaskDuration"]))
        browser.close()
    return [Row("report", "usable in Chromium", statistics.median(wall), statistics.median(work), 1.0, "1 s")]


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    bench_core.ROWS = {"report": report}
    sys.exit(bench_core.main())
