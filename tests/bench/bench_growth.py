"""What is left behind by many checkpoints: the size of the store, the speed of git, and recorders that meet.

    python tests/bench/bench_growth.py                  every row; exit status 1 if a bar is missed
    python tests/bench/bench_growth.py growth           this one
    python tests/bench/bench_growth.py --quick          fewer rounds and events, for a look

The table is that of bench_core.py. Rows of sizes have the same number in both columns."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import bench_core
from bench_core import GITCKPT, Editor, Row, Setting, compare, git, project, recorder, wait_for_packing

from gitckpt.repo import upkeep


def store_size(where: Path) -> int:
    """Return the total size in bytes of all files in the object store."""
    return sum(path.stat().st_size for path in (where / ".git" / "objects").rglob("*") if path.is_file())


def growth(room: Path, setting: Setting) -> list[Row]:
    """Measure a thousand checkpoints of two small edits: the final size of the store, and how long recording was
    paused.
    """
    where = project(room / "growth", 200, setting)
    tree, running = recorder(where)
    editor, pauses, start = Editor(where), [], upkeep.pack_if_due

    def timed(*arguments: object, **options: object) -> None:
        began = time.perf_counter()
        start(*arguments, **options)  # type: ignore[arg-type]
        pauses.append(time.perf_counter() - began)

    upkeep.pack_if_due = timed
    try:
        for number in range(min(setting.events, 1000)):
            editor.edit(2)
            running.save(f"step {number}")
        ended = time.time()
        tree.close()
    finally:
        upkeep.pack_if_due = start
    wait_for_packing(where, ended)
    twin = room / "growth-twin"
    shutil.copytree(where, twin)
    git(twin, "repack", "-qad")
    ratio, pause = store_size(where) / store_size(twin), max(pauses) / 0.05
    return [
        Row("growth", "the store at the end", ratio, ratio, 2.0, "git repack -ad"),
        Row("growth", "longest pause for packing", pause, pause, 1.0, "50 ms"),
    ]


def refs(room: Path, setting: Setting) -> list[Row]:
    """Compare git's own commands with many checkpoints present and without gitckpt."""
    where = project(room / "refs", 200, setting)
    twin = room / "refs-twin"
    shutil.copytree(where, twin)
    tree, running = recorder(where)
    for number in range(setting.events):
        running.save(f"step {number}")
    ended = time.time()
    tree.close()
    wait_for_packing(where, ended)
    rows = []
    for command in (["status"], ["log", "-1", "--decorate"], ["branch"]):
        pair = compare(
            setting.rounds * 3,
            lambda command=command: git(where, *command),
            lambda command=command: git(twin, *command),
        )
        rows.append(Row("refs", f"git {' '.join(command)}", *pair, 1.2, "without gitckpt"))
    return rows


def parallel(room: Path, setting: Setting) -> list[Row]:
    """Compare sixteen recorders at once with sixteen one after the other."""
    where = project(room / "parallel", 200, setting)
    recorder(where)
    command = [GITCKPT, "save", "--session", "many"]
    subprocess.run(command, cwd=where, check=True, capture_output=True)

    def recorded() -> int:
        return len(git(where, "rev-list", "--first-parent", "refs/gitckpt/many/heads/main").split())

    def at_once() -> None:
        before = recorded()
        processes = [subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL) for _ in range(16)]
        assert [process.wait() for process in processes] == [0] * 16
        assert recorded() == before + 16

    def in_a_row() -> None:
        for _ in range(16):
            subprocess.run(command, cwd=where, check=True, capture_output=True)

    pair = compare(max(setting.rounds // 3, 3), at_once, in_a_row)
    return [Row("parallel", "16 recorders at once", *pair, 2.0, "16 in a row")]


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    bench_core.ROWS = {"growth": growth, "refs": refs, "parallel": parallel}
    sys.exit(bench_core.main())
