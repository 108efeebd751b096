"""What recording, going back and looking cost, each as a ratio to a floor measured in the same run, in turn with it.

    python tests/bench/bench_core.py                    every row; exit status 1 if a bar is missed
    python tests/bench/bench_core.py snap-small log     these rows
    python tests/bench/bench_core.py --quick            fewer rounds and files, for a look
    python tests/bench/bench_core.py --durable          with fsync on our side too

Ratios are medians of the rounds' own ratios, of wall time and (in brackets) of CPU time, children included. CPU
time is the steadier of the two on a busy machine; a bar holds if either does."""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from gitckpt.recorder import Recorder
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Restorer, Wish

GITCKPT = str(Path(sys.executable).with_name("gitckpt"))
IDENTITY = {
    "GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@example.com", "GIT_COMMITTER_NAME": "b",
    "GIT_COMMITTER_EMAIL": "b@example.com", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip


class Cost(NamedTuple):
    """The cost of one run in seconds: wall time and CPU time."""

    wall: float
    cpu: float


class Row(NamedTuple):
    """One line of the table. `most` is the bar."""

    name: str
    what: str
    wall: float
    cpu: float
    most: float
    floor: str

    @property
    def holds(self) -> bool:
        return min(self.wall, self.cpu) <= self.most


class Setting(NamedTuple):
    """How much to measure."""

    rounds: int
    files: int
    many: int
    events: int
    durable: bool


def cost(work: Callable[[], object]) -> Cost:
    """Return what a piece of work takes; if it returns a moment, until then."""
    start = _now()
    end = work()
    end = end if isinstance(end, Cost) else _now()
    return Cost(end.wall - start.wall, end.cpu - start.cpu)


def _now() -> Cost:
    """Return the current time and the CPU time used so far."""
    return Cost(time.perf_counter(), _cpu())


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def compare(
    rounds: int, ours: Callable[[], object], floor: Callable[[], object], before: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """Return the median ratios of ours to the floor (wall, CPU). Each round runs both, alternating which comes
    first. What was written before is on disk by then: a file system that is still at it slows those down that write."""
    ratios: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        before()
        first, second = (ours, floor) if number % 2 else (floor, ours)
        os.sync()
        pair = [cost(first)]
        os.sync()
        pair.append(cost(second))
        if first is floor:
            pair.reverse()
        if number:
            ratios.append((pair[0].wall / pair[1].wall, pair[0].cpu / max(pair[1].cpu, 1e-4)))
    return statistics.median(r[0] for r in ratios), statistics.median(r[1] for r in ratios)


def git(where: Path, *arguments: str, **variables: str) -> bytes:
    """Run git as the user would."""
    environment = os.environ | IDENTITY | variables
    return subprocess.run(["git", *arguments], cwd=where, env=environment, check=True, capture_output=True).stdout


def run(*argv: str, where: Path) -> None:
    """Run a command and discard its output."""
    subprocess.run(
        argv, cwd=where, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def project(where: Path, files: int, setting: Setting) -> Path:
    """Create a repository with this many committed files, twenty per directory."""
    for number in range(files):
        path = where / f"d{number // 400}" / f"s{number // 20 % 20}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * 20)
    git(where, "init", "-q")
    git(where, "config", "gc.auto", "0")  # otherwise the commit starts one, which continues during the measurement
    git(where, "add", "-A")
    git(where, "commit", "-qm", "all")
    git(where, "gc", "-q")  # packed, as a clone is
    git(where, "config", "gitckpt.durable", "true" if setting.durable else "false")
    git(where, "status")
    return where


class Editor:
    """Changes files of a project, never to the same content twice."""

    def __init__(self, where: Path) -> None:
        self.where, self.files, self.turn = where, sorted(where.glob("d*/s*/f*.txt")), 0

    def edit(self, count: int, step: int = 1) -> None:
        """Append to `count` files, using every `step`-th."""
        self.turn += 1
        for path in self.files[: count * step : step]:
            with path.open("a") as file:
                file.write(f"turn {self.turn}\n")


def recorder(where: Path) -> tuple[WorkTree, Recorder]:
    """Return a running recorder, as `wrap` and `record` have it."""
    tree = WorkTree(discover(os.fsencode(where)))
    running = Recorder(tree)
    running.save("warm")
    return tree, running


def wait_for_packing(where: Path, since: float) -> None:
    """Wait until a packing that began after `since` has written its result."""
    state = where / ".git" / "gitckpt" / "packing.json"
    while not state.exists() or state.stat().st_mtime < since:
        time.sleep(0.05)


def until_published(running: Recorder) -> Callable[[], Cost]:
    """Return a function that makes a checkpoint and measures it until its ref is published. The check that its objects
    still exist comes after that.
    """
    publish, moment = running.tree.writer.publish, _now()

    def published(*arguments: Any) -> None:
        nonlocal moment
        publish(*arguments)
        moment = _now()

    running.tree.writer.publish = published  # type: ignore[method-assign]

    def checkpoint() -> Cost:
        running.save("x")
        return moment

    return checkpoint


def shadow(where: Path) -> Callable[[], object]:
    """Return what tools with a shadow repository do: `add .` and `commit` in a separate git directory."""
    directory = where.with_name(where.name + "-shadow.git")
    variables = {"GIT_DIR": str(directory), "GIT_WORK_TREE": str(where)}
    git(where, "init", "-q", "--bare", str(directory))
    git(where, "config", "core.bare", "false", **variables)
    git(where, "config", "gc.auto", "0", **variables)  # it would continue during the next measurement

    def snapshot() -> None:
        git(where, "add", ".", **variables)
        git(where, "commit", "-q", "--no-verify", "--allow-empty", "-m", "x", **variables)

    snapshot()
    return snapshot


def snap_small(room: Path, setting: Setting) -> list[Row]:
    """Measure one checkpoint by a running recorder: 0, 1 or 10 changed files."""
    where = project(room / "small", setting.files, setting)
    editor, other = Editor(where), shadow(where)
    rows = []
    cases = [("0 changed", 0, 1), ("1 changed", 1, 1), ("10 changed in one directory", 10, 1)]
    for what, count, step in [*cases, ("10 changed in ten directories", 10, 20)]:
        # a new recorder for each, so that none reaches the point where old checkpoints are packed: bench_growth.py
        # measures that
        ours = until_published(recorder(where)[1])

        def change(count: int = count, step: int = step) -> None:
            editor.edit(count, step)

        rows.append(
            Row(
                "snap-small",
                what,
                *compare(setting.rounds, ours, lambda: git(where, "status"), change),
                1.5,
                "git status",
            )
        )
        rows.append(Row("snap-small", what, *compare(setting.rounds, ours, other, change), 0.8, "shadow add + commit"))
    return rows


def snap_large(room: Path, setting: Setting) -> list[Row]:
    """Measure the same in a large project."""
    where = project(room / "large", setting.many, setting)
    ours = until_published(recorder(where)[1])
    editor = Editor(where)
    rows = []
    for count in (0, 1, 10):
        pair = compare(
            setting.rounds,
            ours,
            lambda: git(where, "status"),
            lambda count=count: editor.edit(count),
        )
        rows.append(Row("snap-large", f"{setting.many:,} files, {count} changed", *pair, 1.4, "git status"))
    return rows


def snap_first(room: Path, setting: Setting) -> list[Row]:
    """Measure the very first checkpoint in a clean clone: the state before an agent, as `wrap` records it, and the
    first manual checkpoint, as `save` makes it."""
    rows = []
    for files in (setting.files, setting.many):
        origin = project(room / f"origin{files}", files, setting)
        clone = room / f"clone{files}"

        def fresh(origin: Path = origin, clone: Path = clone) -> None:
            shutil.rmtree(clone, ignore_errors=True)
            git(room, "clone", "-q", str(origin), str(clone))
            git(clone, "config", "gitckpt.durable", "true" if setting.durable else "false")
            git(clone, "status")

        def fresh_recorder(clone: Path = clone) -> Recorder:
            return Recorder(WorkTree(discover(os.fsencode(clone))))

        ways = {"wrap": lambda: fresh_recorder().open(), "save": lambda: fresh_recorder().save("first")}
        for way, first in ways.items():
            pair = compare(setting.rounds, first, lambda clone=clone: git(clone, "status"), fresh)
            rows.append(Row("snap-first", f"{files:,} files, {way}", *pair, 3.0, "git status"))
    return rows


def snap_bulk(room: Path, setting: Setting) -> list[Row]:
    """Measure a thousand changed files."""
    where = project(room / "bulk", setting.files, setting)
    twin = room / "twin"
    shutil.copytree(where, twin)
    _, running = recorder(where)
    mine, theirs = Editor(where), Editor(twin)

    def change() -> None:
        mine.edit(1000)
        theirs.edit(1000)

    def plain() -> None:
        git(twin, "add", "-A")
        git(twin, "write-tree")

    pair = compare(setting.rounds, lambda: running.save("x"), plain, change)
    return [Row("snap-bulk", "1,000 changed", *pair, 1.2, "git add -A + write-tree")]


def snap_huge(room: Path, setting: Setting) -> list[Row]:
    """Measure a new file of 100 MB that does not compress."""
    where = project(room / "huge", 200, setting)
    twin = room / "huge-twin"
    shutil.copytree(where, twin)
    _, running = recorder(where)

    def change() -> None:
        content = os.urandom(100_000_000)
        (where / "huge.bin").write_bytes(content)
        (twin / "huge.bin").write_bytes(content)

    pair = compare(max(setting.rounds // 2, 3), lambda: running.save("x"), lambda: git(twin, "add", "huge.bin"), change)
    return [Row("snap-huge", "one new file of 100 MB", *pair, 0.5, "git add")]


def back(room: Path, setting: Setting) -> list[Row]:
    """Measure a whole rollback: safety snapshot, writing, verification."""
    where = project(room / "back", setting.files, setting)
    tree, running = recorder(where)
    target = running.save("target")
    editor, restorer = Editor(where), Restorer(tree)

    def roll_back() -> None:
        with tree.lock:
            restorer.apply(restorer.prepare(Wish(target)))

    small = compare(setting.rounds, roll_back, lambda: git(where, "status"), lambda: editor.edit(10))

    twin = room / "back-twin"
    shutil.copytree(where, twin)
    other = Editor(twin)

    def change() -> None:
        editor.edit(1000)
        other.edit(1000)

    def stash() -> None:
        git(twin, "stash", "-q", "-u")
        git(twin, "stash", "pop", "-q")

    bulk = compare(setting.rounds, roll_back, stash, change)
    return [
        Row("back-small", "10 changed paths", *small, 4.0, "git status"),
        Row("back-bulk", "1,000 changed paths", *bulk, 2.0, "git stash -u + pop"),
    ]


def log(room: Path, setting: Setting) -> list[Row]:
    """Measure a log of many events, and of the last 20."""
    rows = []
    places = {}
    for events in (20, setting.events):
        where = places[events] = project(room / f"log{events}", 20, setting)
        tree, running = recorder(where)
        for number in range(events - 2):
            running.save(f"step {number}")
        ended = time.time()
        tree.close()
        if events > 20:
            wait_for_packing(where, ended)
        git(where, "pack-refs", "--all")
        git(where, "repack", "-qad")
    where = places[setting.events]
    session = git(where, "for-each-ref", "--format=%(refname)", "refs/gitckpt/**/heads/main").decode().split()[0]
    floor = lambda: git(where, "log", "--format=%B", "--first-parent", session)  # noqa: E731
    pair = compare(setting.rounds, lambda: run(GITCKPT, "log", where=where), floor)
    rows.append(Row("log", f"all {setting.events:,} events", *pair, 4.0, "git log --format=%B"))
    pair = compare(
        setting.rounds,
        lambda: run(GITCKPT, "log", "-n", "20", where=where),
        lambda: run(GITCKPT, "log", "-n", "20", where=places[20]),
    )
    rows.append(Row("log", f"last 20 of {setting.events:,}", *pair, 1.5, "last 20 of 20"))
    return rows


def start(room: Path, setting: Setting) -> list[Row]:
    """Compare short commands with the start of the interpreter and of pre-commit."""
    where = project(room / "start", 20, setting)
    tree, running = recorder(where)
    for number in range(18):
        running.save(f"step {number}")
    tree.close()
    transcript = where / "transcript.md"
    transcript.write_text(
        "===CHECKPOINT 1===\nphase: explore\ndone: [a]\nnext: [b]\nstate_ref: [c=d]\nrollback_hint: [read-only]\n===END===\n"
    )
    python = lambda: run(sys.executable, "-c", "pass", where=where)  # noqa: E731
    rows = []
    for arguments, most in ((["--version"], 2.2), (["log", "-n", "20"], 3.0)):
        pair = compare(setting.rounds, lambda arguments=arguments: run(GITCKPT, *arguments, where=where), python)
        rows.append(Row("start", " ".join(arguments), *pair, most, "python -c pass"))
    peer = shutil.which("pre-commit", path=str(Path(sys.executable).parent)) or shutil.which("pre-commit")
    if peer is None:
        print("start: pre-commit is not installed (pip install pre-commit); its rows are left out", file=sys.stderr)
        return rows
    for arguments in (["validate", "transcript.md"], ["rollback", "C1", "--dry-run"]):
        pair = compare(
            setting.rounds,
            lambda arguments=arguments: run(GITCKPT, *arguments, where=where),
            lambda: run(peer, "--version", where=where),
        )
        rows.append(Row("start", " ".join(arguments), *pair, 2.0, "pre-commit --version"))
    return rows


def verify(room: Path, setting: Setting) -> list[Row]:
    """Compare the verification of many checkpoints of two edits each with git's own check of the same objects."""
    where = project(room / "verify", setting.files, setting)
    for number, path in enumerate(sorted(where.glob("d*/s*/f*.txt"))):
        # as large as source files, and as dissimilar
        path.write_bytes(random.Random(number).randbytes(4000).hex().encode())
    git(where, "commit", "-qam", "large")
    tree, running = recorder(where)
    editor = Editor(where)
    for number in range(setting.events // 10):
        editor.edit(2, step=1 + number % 50)
        running.save(f"step {number}")
    ended = time.time()
    tree.close()
    wait_for_packing(where, ended)  # git's own check fails if an object moves into a pack meanwhile
    rows = []
    for what in ("as left", "repacked"):
        if what == "repacked":
            git(where, "repack", "-qad")
        pair = compare(
            setting.rounds, lambda: run(GITCKPT, "verify", where=where), lambda: git(where, "fsck", "--no-dangling")
        )
        rows.append(Row("verify", f"{setting.events // 10:,} checkpoints, {what}", *pair, 2.0, "git fsck"))
    return rows


ROWS = {
    "snap-small": snap_small,
    "snap-large": snap_large,
    "snap-first": snap_first,
    "snap-bulk": snap_bulk,
    "snap-huge": snap_huge,
    "back": back,
    "log": log,
    "start": start,
    "verify": verify,
}


def main() -> int:
    """Measure, print the table, and report whether every bar holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--durable", action="store_true")
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    os.environ.update(IDENTITY)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users run compiled modules
    quick = arguments.quick
    setting = Setting(
        rounds=arguments.rounds or (3 if quick else 9), files=2_000 if quick else 10_000, many=5_000 if quick else 100_000,
        events=500 if quick else 10_000, durable=arguments.durable,
    )  # fmt: skip
    measured: list[Row] = []
    for name in arguments.rows or ROWS:
        with tempfile.TemporaryDirectory(prefix="gitckpt-bench-", dir=os.environ.get("BENCH_DIR", "/var/tmp")) as room:
            for row in ROWS[name](Path(room), setting):
                measured.append(row)
                mark = "holds" if row.holds else "MISSED"
                print(
                    f"{row.name:11} {row.what:32} {row.wall:6.2f} ({row.cpu:.2f}) × {row.floor:24} ≤ {row.most:<4} {mark}",
                    flush=True,
                )
    return 0 if all(row.holds for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
