"""Row `stream`: bytes through an agent's pipe and terminal, side by side with `cat | cat` and `script -qfc`.

    python tests/bench/bench_stream.py [--quick]

Each candidate runs in turn, round after round, so that a busy machine slows all alike; a ratio is that of the medians.
CPU time, of all processes of a run, is the steadier figure there: an agent runs in a session of its own, which a system
that shares the processor out by session makes wait for us, and us for it.
"bytes" passes them on and looks for a marker; "scanned" also cuts out the blocks, one in every 3 KB.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MEGABYTE = 1 << 20

#: Passes an agent's output on; `argv[1]` is the mode, `argv[2]` is "bytes" or "scanned", the rest is the command.
OURS = """
import sys
from gitckpt.process import run_agent
feed = lambda chunk: chunk.find(b"===")
if sys.argv[2] == "scanned":
    from gitckpt.protocol.scanner import Scanner
    feed = Scanner().feed
sys.exit(run_agent(sys.argv[3:], mode=sys.argv[1], on_output=lambda chunk, stream, agent: feed(chunk)).status)
"""

BLOCK = """===CHECKPOINT %d===
phase: implement
done: [moved the date arithmetic to the new library]
next: [run the tests]
state_ref: [branch=main]
rollback_hint: [back to the step before]
===END===
"""


class Run:
    """One run: wall seconds, CPU seconds of all its processes, and the peak memory of the first in megabytes."""

    def __init__(self, argv: list[str], *, reader: list[str] | None = None) -> None:
        began, spent = time.perf_counter(), children_seconds()
        behind = subprocess.Popen(reader, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) if reader else None
        stdout = behind.stdin if behind else subprocess.DEVNULL
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.wall, self.peak = time.perf_counter() - began, usage.ru_maxrss / 1024
        if behind:
            behind.communicate()
        self.cpu = children_seconds() - spent
        if process.returncode:
            raise SystemExit(f"{argv[0]} ended with status {process.returncode}")


def children_seconds() -> float:
    """Return the CPU seconds of all child processes that have ended and been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def piped(argv: list[str]) -> Run:
    """Do the same with a reader behind it."""
    return Run(argv, reader=["cat"])


def write_text(path: Path, size: int) -> None:
    """Write agent output with one block per 3 KB."""
    prose = "".join(f"{line:4} an agent's prose, as it comes, about what it reads and does\n" for line in range(44))
    with path.open("w") as file:
        number = 0
        while file.tell() < size:
            number += 1
            file.write(prose + BLOCK % number)


class Result(NamedTuple):
    """Medians of the seconds, and the highest peak."""

    wall: float
    cpu: float
    peak: float


def measure(candidates: dict[str, Callable[[], Run]], rounds: int) -> dict[str, Result]:
    """Return what each candidate took, run in turn."""
    runs: dict[str, list[Run]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, candidate in candidates.items():
            runs[name].append(candidate())
    return {
        name: Result(
            statistics.median(run.wall for run in done),
            statistics.median(run.cpu for run in done),
            max(run.peak for run in done),
        )
        for name, done in runs.items()
    }


def measure_pipe(text: Path, copies: int, rounds: int) -> None:
    """Print the rows of the pipe: our throughput over that of `cat | cat`, bar 0.25."""
    command = ["sh", "-c", f"cat {' '.join([str(text)] * copies)}"]
    ours = {
        f"pipe, {work}": lambda work=work: piped([sys.executable, "-c", OURS, "pipe", work, *command])
        for work in ("bytes", "scanned")
    }
    results = measure({"cat | cat": lambda: piped(command), **ours}, rounds)
    floor = results["cat | cat"]
    for name, took in results.items():
        ratios = floor.wall / took.wall, floor.cpu / took.cpu
        print_row(name, copies * text.stat().st_size, took, ratios, "≥ 0.25" if name in ours else "")


def measure_terminal(text: Path, copies: int, rounds: int) -> None:
    """Print the rows of the terminal: our time over that of `script -qfc`, bar 1.25."""
    command = f"cat {' '.join([str(text)] * copies)}"
    ours = {
        f"terminal, {work}": lambda work=work: Run([sys.executable, "-c", OURS, "pty", work, "sh", "-c", command])
        for work in ("bytes", "scanned")
    }
    results = measure({"script -qfc": lambda: Run(["script", "-qfc", command, os.devnull]), **ours}, rounds)
    peer = results["script -qfc"]
    for name, took in results.items():
        ratios = took.wall / peer.wall, took.cpu / peer.cpu
        print_row(name, copies * text.stat().st_size, took, ratios, "≤ 1.25" if name in ours else "")


def print_row(name: str, size: int, took: Result, ratios: tuple[float, float], bar: str) -> None:
    """Print one candidate with the ratios of wall and CPU time; only ours have a bar, and show the peak."""
    columns = (
        f"{name:17}", f"{size / MEGABYTE:5.0f}", f"{took.wall:7.2f}", f"{size / MEGABYTE / took.wall:6.0f}",
        f"{f'{took.peak:.0f}' if bar else '':>4}", f"{ratios[0]:5.2f}", f"{bar:6}", f"{took.cpu:5.2f}", f"{ratios[1]:9.2f}",
    )  # fmt: skip
    print("|", " | ".join(columns), "|", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a quarter of the bytes, three rounds")
    quick = parser.parse_args().quick
    copies, rounds = (4, 3) if quick else (16, 7)
    print("| stream            |    MB | seconds |   MB/s | peak | ratio | bar    |   CPU | CPU ratio |")
    print("| ----------------- | ----: | ------: | -----: | ---: | ----: | ------ | ----: | --------: |")
    with tempfile.TemporaryDirectory() as directory:
        text = Path(directory, "text")
        write_text(text, 64 * MEGABYTE)
        measure_pipe(text, copies, rounds)
        measure_terminal(text, max(1, copies // 4), rounds)
    print("peak: megabytes of memory at most, bar 64")


if __name__ == "__main__":
    main()
