"""What a call of a client's hook costs, as whole processes.

    python tests/bench/bench_hook.py            every row; exit status 1 if a bar is missed
    python tests/bench/bench_hook.py --quick    fewer rounds and files, for a look

The floor is an empty Python, and the questions that have to be put to git; where files are looked at, `git status`
stands for that. The table is that of bench_core.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bench_core
from bench_core import GITCKPT, Editor, Row, Setting, compare, git, project

CALL = "toolu_of_the_bench"


def payload(where: Path, event: str) -> bytes:
    told = {"session_id": "bench", "transcript_path": str(where.parent / "session.jsonl"), "cwd": str(where)}
    return json.dumps(told | {"hook_event_name": event, "tool_name": "Bash", "tool_use_id": CALL}).encode()


def caller(where: Path, event: str) -> Callable[[], object]:
    """Return a function that calls the hook as a client does."""
    data = payload(where, event)
    return lambda: subprocess.run([GITCKPT, "hook", "claude-code"], cwd=where, input=data, check=True)


def empty_python() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def before_floor(where: Path) -> None:
    """Find the repository, and how far the session has been read."""
    empty_python()
    git(where, "rev-parse", "--show-toplevel")
    git(where, "log", "-n1", "--format=%B", "--glob=refs/gitckpt/claude-code-bench/heads/*")


def after_floor(where: Path) -> None:
    """Find the repository, the settings, the last event, and the state of the files."""
    empty_python()
    git(where, "rev-parse", "--show-toplevel")
    git(where, "config", "--list", "-z")
    git(where, "for-each-ref", "--format=%(contents)", "refs/gitckpt/claude-code-bench")
    git(where, "status")


def changed_floor(where: Path) -> None:
    """Do the same, and record the event: a blob, trees, a diff, a commit, and a ref update."""
    after_floor(where)
    git(where, "hash-object", "-w", str(next(where.glob("d0/s0/*"))))
    git(where, "write-tree")
    git(where, "diff-tree", "-r", "HEAD", "HEAD^{tree}")
    git(where, "commit-tree", "-m", "x", "HEAD^{tree}")
    git(where, "update-ref", "refs/bench", "HEAD")


def hook(room: Path, setting: Setting) -> list[Row]:
    """Measure hooks before and after a tool that changed nothing, and after one that changed a file."""
    rows = []
    for files in (setting.files // 10, setting.files):
        where = project(room / f"hook{files}" / "work", files, setting)
        line = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": CALL, "name": "Bash"}]}}
        (where.parent / "session.jsonl").write_text(json.dumps(line) + "\n")
        before, after, editor = caller(where, "PreToolUse"), caller(where, "PostToolUse"), Editor(where)
        before()
        time.sleep(2.5)  # a file that was written a moment ago is examined twice
        cases: list[tuple[str, Callable[[], object], Callable[[Path], None], int]] = [
            ("before a tool", before, before_floor, 0),
            ("after, nothing changed", after, after_floor, 0),
            ("after, 1 changed", after, changed_floor, 1),
        ]
        for what, ours, floor, edits in cases:
            pair = compare(
                setting.rounds, ours, lambda floor=floor, where=where: floor(where),
                lambda editor=editor, edits=edits: editor.edit(edits),
            )  # fmt: skip
            rows.append(Row("hook", f"{files:,} files, {what}", *pair, 2.0, "python + its git calls"))
    return rows


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    bench_core.ROWS = {"hook": hook}
    sys.exit(bench_core.main())
