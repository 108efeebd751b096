"""A git that answers with rubbish and says that all is well: it is told, and nothing is made of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from commandline import Bytes, Place, checkpoint


class Command(NamedTuple):
    """A command, what precedes it, and what holds when it succeeded."""

    args: tuple[str, ...]
    stdin: str
    before: Callable[[Place], object]
    done: Callable[[Place, Bytes], None]


def recorded_as(id: str) -> Callable[[Place, Bytes], None]:
    """The checkpoint is on record with the work tree as it is, which was not touched."""

    def check(place: Place, before: Bytes) -> None:
        assert place.bytes() == before
        assert place.ok("diff", id) == (0, b"", "")

    return check


def at_c1(place: Place, before: Bytes) -> None:
    assert (place.read("a.txt"), sorted(place.path.glob("new*"))) == ("a at C1\n", [place.path / "new1.txt"])


def at_work(place: Place, before: Bytes) -> None:
    assert (place.read("a.txt"), place.read("mine.txt")) == ("by hand\n", "mine\n")


COMMANDS = {
    "record": Command(("record",), checkpoint("4"), lambda place: None, recorded_as("C4")),
    "rollback": Command(("rollback", "C1"), "", lambda place: None, at_c1),
    "undo": Command(("undo",), "", lambda place: place.ok("rollback", "C1"), at_work),
}  # fmt: skip


@pytest.fixture(scope="module")
def worked(recorded_template: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """After C3 a person has edited a file and added one."""
    place = recorded_template.copy(tmp_path_factory.mktemp("worked") / "work")
    place.write("a.txt", "by hand\n")
    place.write("mine.txt", "mine\n")
    return place


def users(place: Place) -> dict[str, str]:
    return {**place.users(), "index": place.git("ls-files", "--stage")}


#: Prints rubbish, and says that all is well.
RUBBISH = """
[ -d "$CALLS" ] || exit 1
case " $* " in $PATTERN) : >"$CALLS/met"; printf "$RUBBISH"; exit 0;; esac
"""

#: What git may print that is none of its answers.
TEXTS = {"text": "some words\\nand a\\tline", "bytes": "x\\0y\\0\\377\\376\\0", "nothing": ""}

#: For each command, the kinds of call whose answer cannot be taken for another, and what cannot be taken for it.
ANSWERS = {
    "record": ("rev-parse text", "rev-parse nothing", "diff-files text", "cat-file bytes", "cat-file nothing",
               "write-tree text", "hash-object bytes", "for-each-ref text", "update-ref nothing", "config text"),
    "rollback": ("rev-parse bytes", "log text", "diff-tree text", "ls-tree bytes", "write-tree nothing"),
    "undo": ("diff-tree bytes", "hash-object text"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "answer"), [(name, answer) for name, kinds in ANSWERS.items() for answer in kinds])
def test_rubbish_from_git_is_told_and_nothing_is_made_of_it(
    worked: Place, tmp_path: Path, name: str, answer: str
) -> None:
    place, command = worked.copy(tmp_path / "here" / "work"), COMMANDS[name]
    kind, _, form = answer.partition(" ")
    command.before(place)
    before, theirs, ids = place.bytes(), users(place), place.ids()
    shim = place.before_git(RUBBISH) | {"CALLS": str(tmp_path), "PATTERN": f"* {kind} *", "RUBBISH": TEXTS[form]}
    told = place.run(*command.args, stdin=command.stdin, env=shim)
    assert (tmp_path / "met").exists()
    assert (told.status, told.out) == (4, "") and "answered in an unknown form" in told.err
    assert (place.bytes(), users(place), place.ids()) == (before, theirs, ids)
    assert place.ok(*command.args, stdin=command.stdin).err.count("unknown form") == 0
    command.done(place, before)


#: Fails where untracked files are asked for, and takes its time where files are compared.
LINGERING = """
case " $* " in
*" -o "*) exit 1;;
*" diff-files "*) sleep 2; : >"$CALLS/outlived";;
esac
"""


def test_no_git_outlives_a_command_that_failed(worked: Place, tmp_path: Path) -> None:
    place = worked.copy(tmp_path / "here" / "work")
    place.write("another.txt", "new\n")
    calls = tmp_path / "calls"
    calls.mkdir()
    told = place.run("save", env=place.before_git(LINGERING) | {"CALLS": str(calls)})
    assert told.status == 4 and "ls-files" in told.err
    time.sleep(2.5)
    assert not (calls / "outlived").exists()
    assert place.ok("save").err == ""
