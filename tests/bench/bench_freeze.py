"""Row `freeze`: how long an agent is stopped for a snapshot, and whether a writer that never rests tears one.

    python tests/bench/bench_freeze.py            exit status 1 if a bar is missed
    python tests/bench/bench_freeze.py --quick    fewer tries, for a look

The agent is a shell with two writers below it. Each writer cycles through its files and writes the number of the round
into each. In a snapshot of a single moment, the files of a writer contain at most two numbers, which are consecutive,
and the smaller one only comes after the greater. A bar holds if wall or CPU time does: on a busy machine the agent
waits for a processor whether it is stopped or not."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench_core import Cost, cost

from gitckpt.process import RunningAgent, run_agent
from gitckpt.recorder import Recorder
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.trajectory.events import Event

#: The number of files of one writer, the number of writers, and the padding that makes reading a file take a while.
FILES, WRITERS, PADDING = 40, 2, "\n" * 50_000

#: How many milliseconds stopping and continuing may add to a snapshot.
MOST_ADDED = 20.0

WRITER = """
import os, sys
places = [os.open(f"w{sys.argv[1]}/{n:03}", os.O_WRONLY | os.O_CREAT, 0o644) for n in range(int(sys.argv[2]))]
number = 0
while True:
    number += 1
    for place in places:
        os.pwrite(place, b"%09d" % number, 0)
"""

AGENT = "".join(f"{sys.executable} -c '{WRITER}' {n} {FILES} & " for n in range(WRITERS))
AGENT += "while echo ready; do sleep 0.02; done"


class Tried(NamedTuple):
    """One try: the overhead of the stop, the cost of the snapshot, and whether it was held and torn."""

    added: Cost
    snapshot: Cost
    held: bool
    torn: bool


def is_torn(tree: WorkTree, commit: str) -> bool:
    """Return whether the files of a writer could not all have had this content at the same moment."""
    for writer in range(WRITERS):
        paths = tree.repository.git.text("ls-tree", "-r", "--format=%(objectname)", commit, f"w{writer}/").split()
        output = tree.repository.git.text("cat-file", "--batch=", data="\n".join(paths).encode() + b"\n")
        numbers = [int(number) for number in output.split()]
        if sorted(numbers, reverse=True) != numbers or numbers[0] - numbers[-1] > 1:
            return True
    return False


def measured(room: Path, tries: int, *, freeze: bool) -> list[Tried]:
    """Return tries with one agent that never rests."""
    os.chdir(room)
    tree = WorkTree(discover())
    recorder, found, events = Recorder(tree), list[Tried](), list[Event]()

    def record() -> None:
        events.append(recorder.note("auto", "a moment", {}))

    def on_output(chunk: bytes, stream: str, agent: RunningAgent) -> None:
        if len(found) == tries:
            raise StopIteration  # this hangs up the agent
        stop = agent.freeze()
        inner: list[Cost] = []

        def stopped() -> None:
            with stop:
                inner.append(cost(record))

        outer = cost(stopped if freeze else record)
        within = inner[0] if inner else outer
        added = Cost(outer.wall - within.wall, outer.cpu - within.cpu)
        found.append(Tried(added, within, stop.held, is_torn(tree, events[-1].commit)))

    shown, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        run_agent(["sh", "-c", AGENT], on_output=on_output, mode="pipe")
    except StopIteration:
        pass
    finally:
        os.dup2(shown, 1)
        tree.close()
    return found


def main() -> int:
    """Print the row; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    tries = 20 if parser.parse_args().quick else 200
    with tempfile.TemporaryDirectory() as directory:
        room = Path(directory)
        for writer in range(WRITERS):
            (room / f"w{writer}").mkdir()
            for number in range(FILES):
                (room / f"w{writer}" / f"{number:03}").write_text(f"{0:09}{PADDING}")
        subprocess.run(["git", "init", "-q", directory], check=True)
        subprocess.run(["git", "-C", directory, "config", "gitckpt.durable", "false"], check=True)
        running, frozen = measured(room, tries // 4, freeze=False), measured(room, tries, freeze=True)
        os.chdir("/")
    wall, cpu = (1000 * statistics.median(getattr(tried.added, kind) for tried in frozen) for kind in Cost._fields)
    snapshot = 1000 * statistics.median(tried.snapshot.wall for tried in frozen)
    torn, torn_running = sum(tried.torn for tried in frozen), sum(tried.torn for tried in running)
    holds = min(wall, cpu) <= MOST_ADDED and not torn and all(tried.held for tried in frozen)
    print(
        f"freeze  snapshot {snapshot:.1f} ms, agent stopped {wall:.1f} ms longer (CPU {cpu:.1f}; bar {MOST_ADDED:.0f}); "
        f"{torn} of {len(frozen)} torn (bar 0; without the stop {torn_running} of {len(running)})  "
        + ("holds" if holds else "MISSED")
    )
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
