"""Ways to interrupt a command, and what must hold afterwards."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

from commandline import Answer, Bytes, Place

#: Counts the calls of git with files that only one call can create, and applies $HOW to call number $AT. If the
#: directory of these files is gone, the test is over.
SHIM = r"""
set -C
n=1
until true 2>/dev/null >"$CALLS/$n"; do [ -d "$CALLS" ] || exit 1; n=$((n + 1)); done
[ "$n" = "$AT" ] || exec "$GIT" "$@"
lock() { mkdir -p "$(dirname "$1")"; true 2>/dev/null >"$1.lock"; }
case $HOW in
before) kill -9 $PPID; exit 1;;
after) "$GIT" "$@"; kill -9 $PPID; exit 1;;
during) "$GIT" "$@" <&0 & sleep 0.00$((n % 5)); kill -9 $! $PPID; exit 1;;
outlived) kill -9 $PPID; sleep 0.3; exec "$GIT" "$@";;
locked)
    case " $* " in
    *" update-index "* | *" read-tree "*) lock "${GIT_INDEX_FILE:-$GIT_DIR/index}";;
    *" symbolic-ref refs/worktree"*) lock "$GIT_DIR/refs/worktree/gitckpt/current";;
    *" update-ref "*" --stdin "*)
        for ref in $(tr '\0' '\n' | sed -n 's/^update //p; s/^delete .*/packed-refs/p'); do lock "$GIT_DIR/$ref"; done;;
    *" update-ref "*) for ref; do case $ref in refs/*) lock "$GIT_DIR/$ref";; esac; done;;
    *" pack-refs "*) lock "$(readlink -f "$GIT_DIR/packed-refs")";;
    esac
    kill -9 $PPID; exit 1;;
killed) kill -9 $$;;
done) "$GIT" "$@"; kill -9 $$;;
full) echo 'fatal: cannot write: No space left on device' >&2; exit 128;;
esac
"""

#: What happens at a call of git. gitckpt is killed before it, after it, or together with it half-way through; git
#: outlives a killed gitckpt; both die and git leaves its lock; git is killed before it did anything, or after it did
#: everything; it finds no disk space.
WAYS = ("before", "after", "during", "outlived", "locked", "killed", "done", "full")

#: The ways after which gitckpt still runs and can report what happened.
SURVIVED = ("killed", "done", "full")

#: Names of unfinished files: locks, copies being written, a scratch directory.
UNFINISHED = re.compile(r"\.lock$|\.\d+$|\.gitckpt-new$|/write-|/rules$|/moving$|/sharedindex_|/index\.lock$")


class Picture(NamedTuple):
    """Everything that belongs to the user at one moment."""

    files: Bytes
    staged: str
    head: str
    refs: str
    status: str


def picture(place: Place) -> Picture:
    return Picture(
        place.bytes(),
        place.git("ls-files", "--stage", "-t"),
        (place.path / ".git" / "HEAD").read_text(),
        place.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
        place.git("--no-optional-locks", "status", "--porcelain=v2", "--branch"),
    )


def interrupted(place: Place, at: int, how: str, *args: str, stdin: str = "") -> tuple[Answer, int]:
    """Return the answer of a command interrupted at its n-th call of git, and how many calls there were."""
    calls = place.path.parent / "calls"
    calls.mkdir()
    answer = place.run(
        *args, stdin=stdin, env=place.before_git(SHIM) | {"CALLS": str(calls), "AT": str(at), "HOW": how}
    )
    count = len(list(calls.iterdir()))
    clear_away(calls)
    return answer, count


def clear_away(directory: Path) -> None:
    """Remove a directory into which a git that outlived its gitckpt may still write."""
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)


def events(place: Place) -> list[dict[str, Any]]:
    """Return all events on record; each must be fully readable."""
    place.git("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    found: list[dict[str, Any]] = place.json("log", "--all")["events"]
    assert all(event["kind"] != "unreadable" for event in found)
    return found


def unfinished(place: Place) -> list[str]:
    """Return what an interrupted command has left in the git directory, and processes still running there."""
    inside = [path for path in (place.path / ".git").rglob("*") if "objects" not in path.parts]
    left = [str(path) for path in inside if UNFINISHED.search(str(path))]
    return left + _processes(place)


def _processes(place: Place) -> list[str]:
    """Return the processes in the work tree, after giving them time to end."""
    deadline = time.monotonic() + 5
    while (found := _now_in(place.path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _now_in(directory: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd").startswith(str(directory)):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
