"""What a checkpoint costs and what it says follows what changed, and not what is there."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from commandline import Place, checkpoint

MANY = 150

#: Writes down every call of git, and what it is given to read.
LOGGED = (
    'echo "$*" >>"$LOG/calls"; case " $* " in *" update-index "*) cat >"$LOG/$$"; "$GIT" "$@" <"$LOG/$$"; exit;; esac'
)


def touched(place: Place) -> Place:
    """The place with the times that files have: one that was put back a moment ago is a reason to read a file again."""
    for name in ("a.txt", "src/b.txt", ".gitignore"):
        os.utime(place.path / name)
    return place


@pytest.fixture
def crowded(place: Place) -> Place:
    """Many files: one half tracked, the other half not, and many more that are ignored."""
    touched(place)
    for number in range(MANY):
        place.write(f"{'tracked' if number % 2 else 'loose'}/{number % 7}/{number}", f"{number}\n")
        place.write(f"logs/{number}.log", "x")
    place.git("add", "tracked")
    place.git("commit", "-q", "-m", "many")
    return place


def logged(place: Place, *args: str, stdin: str = "") -> tuple[int, bytes]:
    """How many calls of git a command makes, and what those that read files are told to read."""
    log = place.path.parent / "log"
    log.mkdir()
    answer = place.run(*args, stdin=stdin, env=place.before_git(LOGGED) | {"LOG": str(log)})
    assert answer.status == 0, answer
    calls = len((log / "calls").read_text().splitlines())
    read = b"".join(file.read_bytes() for file in sorted(log.iterdir()) if file.name != "calls")
    for file in log.iterdir():
        file.unlink()
    log.rmdir()
    return calls, read


def objects(place: Place) -> set[str]:
    return set(place.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)").split("\n"))


def test_the_first_reads_what_git_does_not_know_and_each_after_it_what_changed(crowded: Place) -> None:
    _, read = logged(crowded, "save")
    assert (b"tracked/" in read, b"logs/" in read, read.count(b"loose/")) == (False, False, MANY // 2)
    crowded.write("a.txt", "changed\n")
    _, read = logged(crowded, "save")
    assert read == b"a.txt\0"
    assert logged(crowded, "save")[1] == b""


def test_git_is_called_as_often_in_a_large_tree_as_in_a_small_one(
    crowded: Place, template_place: Place, tmp_path: Path
) -> None:
    calls = []
    places = crowded, touched(template_place.copy(tmp_path / "small" / "work"))
    time.sleep(2.5)  # a HEAD that moved a moment ago is looked up again, and the crowd has just been committed
    for place in places:
        place.ok("save")
        place.write("a.txt", "changed\n")
        calls.append(logged(place, "save")[0])
    assert calls[0] == calls[1]


def test_a_burst_of_blocks_costs_each_a_few_calls(crowded: Place) -> None:
    crowded.ok("save")
    calls, _ = logged(crowded, "record", stdin="".join(checkpoint(str(number)) for number in range(101, 121)))
    assert crowded.ids()[-20:] == [f"C{number}" for number in range(101, 121)]
    assert calls < 20 * 8


def test_a_checkpoint_without_a_change_is_one_commit_and_its_record_does_not_grow_with_the_tree(
    crowded: Place, template_place: Place, tmp_path: Path
) -> None:
    sizes = []
    for place in (crowded, touched(template_place.copy(tmp_path / "small" / "work"))):
        place.ok("record", stdin=checkpoint("1"))
        before = objects(place)
        place.ok("record", stdin=checkpoint("2"))
        assert [row.split()[0] for row in objects(place) - before] == ["commit"]
        sizes.append(len(place.git("cat-file", "commit", place.json("show", "C2")["commit"])))
    assert abs(sizes[0] - sizes[1]) < 100


def test_nothing_is_said_of_what_is_ignored_and_what_is_not_covered_is_said_once(crowded: Place) -> None:
    blocks = checkpoint("1") + checkpoint("2") + checkpoint("3")
    words = ("sh", "-c", 'while read -r line; do echo "$line"; done')
    quiet = crowded.run("wrap", "--freeze", "on", "--", *words, stdin=blocks)
    assert (quiet.status, quiet.out) == (0, blocks)
    assert "not covered" not in quiet.err and "logs" not in quiet.err
    crowded.git("config", "gitckpt.maxFileSize", "1000")
    crowded.write("large", "x" * 1001)
    told = crowded.run("record", stdin=blocks)
    assert (told.status, (told.out + told.err).count("larger than max_file_size")) == (0, 1)


@pytest.mark.parametrize(
    "command", ["log", "log --graph", "status", "sessions", "show C1", "diff C1", "save", "verify"]
)
def test_without_a_terminal_there_is_no_colour_and_no_progress(crowded: Place, command: str) -> None:
    crowded.ok("record", stdin=checkpoint("1"))
    crowded.write("a.txt", "changed\n")
    answer = crowded.run(*command.split(), env={"TERM": "xterm-256color", "CLICOLOR_FORCE": "", "FORCE_COLOR": ""})
    assert answer.status == 0
    assert not {"\x1b", "\r"} & set(answer.out + answer.err)
