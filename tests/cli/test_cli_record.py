"""`record`, `save` and `retry`: what goes on record, and what is told."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint, retry, stable

FINAL = "===FINAL===\ncheckpoints: [C1]\nsummaries: []\nresult: done\n===END===\n"


def until(seen: str, place: Place) -> None:
    """Wait until a ref of ours is there."""
    end = time.monotonic() + HANG
    while seen not in place.git("for-each-ref", "--format=%(refname)", "refs/gitckpt"):
        assert time.monotonic() < end, f"{seen} never came"
        time.sleep(0.01)


# -- record


def test_blocks_of_a_pipe_are_recorded_in_order_and_listed(place: Place) -> None:
    text = f"thinking…\n{checkpoint('1', 'read a.txt', phase='探索')}\nmore prose\n{checkpoint('2')}{FINAL}"
    assert place.ok("record", stdin=text) == (0, b"", "")
    assert stable(place.ok("log").out) == (
        "session SESSION  DATE  4 events on main\n"
        "TIME   ▷     start\n"
        "TIME   ● C1  explore    read a.txt  → go on, tool: edit_file\n"
        "TIME   ● C2  implement  changed a.txt  → go on, tool: edit_file\n"
        "TIME   ✓     final      done\n"
    )


def test_a_file_is_read_as_a_pipe_is(place: Place, tmp_path: Path) -> None:
    saved = tmp_path / "agent.log"
    saved.write_text(checkpoint("1") + checkpoint("2"))
    place.ok("record", str(saved))
    place.ok("record", "-", stdin=checkpoint("3"))
    assert place.ids() == ["start", "C1", "C2", "C3"]


def test_each_block_is_recorded_as_it_arrives_with_the_work_tree_of_that_moment(place: Place) -> None:
    command = [sys.executable, "-m", "gitckpt", "record", "--session", "live"]
    with subprocess.Popen(command, cwd=place.path, env=place.env, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for number in (1, 2):
            place.write("a.txt", f"a at C{number}\n")
            process.stdin.write(checkpoint(str(number)).encode())
            process.stdin.flush()
            until(f"refs/gitckpt/live/tags/C{number}", place)
        process.stdin.close()
        assert process.wait(HANG) == 0
    assert [place.ok("show", f"C{number}", "--path", "a.txt").out for number in (1, 2)] == ["a at C1\n", "a at C2\n"]


def test_recording_goes_on_in_an_open_session_and_opens_another_after_final(place: Place) -> None:
    place.ok("record", stdin=checkpoint("1"))
    place.ok("record", stdin=FINAL)
    place.ok("record", stdin=checkpoint("1"))
    place.ok("save", "-m", "by hand")
    listed = place.json("sessions")["sessions"]
    assert [(row["events"], row["checkpoints"], row["open"]) for row in listed] == [(3, 1, False), (3, 2, True)]


def test_a_named_session_is_gone_on_with(place: Place) -> None:
    place.ok("record", "--session", "one", stdin=checkpoint("1"))
    place.ok("record", "--session", "two", stdin=checkpoint("1"))
    place.ok("record", "--session", "one", stdin=checkpoint("2"))
    assert place.json("status")["session"] == "one"
    assert [row["checkpoints"] for row in place.json("sessions")["sessions"]] == [2, 1]


def test_a_name_that_git_could_misread_is_refused_and_nothing_is_recorded(place: Place) -> None:
    for name in ("../x", "a/b", "-x", "a..b", "x.lock", "", "a b", "名", "x" * 65):
        answer = place.run("record", "--session", name, stdin=checkpoint("1"))
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith(f"gitckpt: {name!r} is no name for a session\n")
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_a_retry_puts_the_files_back_and_opens_a_line(recorded: Place) -> None:
    recorded.write("a.txt", "failed attempt\n")
    recorded.ok("record", stdin=retry("CHECKPOINT 2") + checkpoint("4"))
    assert recorded.read("a.txt") == "a at C2\n"
    assert not (recorded.path / "new3.txt").exists()
    assert recorded.ok("show", "R1", "--path", "a.txt").out == "failed attempt\n"
    assert stable(recorded.ok("log", "--graph").out) == (
        "session run  DATE  6 events on 2 lines, current retry-2\n"
        "TIME   ▷       start\n"
        "TIME   ●   C1  implement  step 1  → go on, tool: edit_file\n"
        "TIME   ●   C2  implement  step 2  → go on, tool: edit_file\n"
        "           ├─╮\n"
        "TIME   │ ● C3  implement  step 3  → go on, tool: edit_file\n"
        "TIME   │ ✗ R1  retry      (main) from C2: it broke → try b.txt\n"
        "TIME   ●   C4  implement  changed a.txt  → go on, tool: edit_file\n"
        "           @   retry-2 goes on here, after C4\n"
    )


def test_a_retry_with_fork_leaves_the_files(recorded: Place) -> None:
    recorded.write("a.txt", "failed attempt\n")
    before = recorded.bytes()
    recorded.ok("record", "--on-retry", "fork", stdin=retry("C2"))
    assert recorded.bytes() == before
    assert recorded.json("status")["line"] == "retry-2"


def test_a_retry_from_a_step_that_never_reported_stands_for_it(recorded: Place) -> None:
    before = recorded.bytes()
    recorded.ok("record", stdin=retry("CHECKPOINT 7"))
    event = recorded.json("show", "C7")
    assert (event["id"], event["answers_to"], event["opens"]["line"]) == ("R1", ["C7"], "retry-2")
    assert event["opens"]["at"] == recorded.json("show", "C3")["commit"]
    assert recorded.bytes() == before


def test_text_without_blocks_records_nothing(place: Place) -> None:
    echo = checkpoint("{{step_id}}") + "".join(f"+{line}\n" for line in checkpoint("1").splitlines())
    noise = bytes(range(256)) * 4096 + b"\n===\n" + echo.encode()
    assert place.run("record", stdin=noise) == (0, b"", "")
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_what_is_no_whole_block_is_told_and_the_others_are_on_record(place: Place) -> None:
    text = checkpoint("1") + "===CHECKPOINT 2===\nphase: implement\n" + checkpoint("3") + "===END===\n"
    assert place.run("record", stdin=text) == (
        1,
        b"",
        "gitckpt: line 8: P003 the block CHECKPOINT 2 is not terminated, and lacks done, next, state_ref, "
        "rollback_hint; it is not recorded: end it with ===END===\n"
        "gitckpt: line 17: P003 ===END=== ends no block: write its header, such as ===CHECKPOINT 7===, before it\n",
    )
    assert place.ids() == ["start", "C1", "C3"]


def test_an_id_that_git_could_misread_is_kept_under_another_and_told(place: Place) -> None:
    ids = ["../../x", "-f", "$(touch owned)", "a..b", "HEAD.lock", "x" * 300, "--all"]
    answer = place.ok("record", "--session", "s", stdin="".join(checkpoint(id, f"step {id}") for id in ids))
    kept = place.ids()[1:]
    assert len(set(kept)) == len(ids) and all(id is not None and id.startswith("x") and id.isalnum() for id in kept)
    tags = place.git("for-each-ref", "--format=%(refname)", "refs/gitckpt/s/tags").splitlines()
    assert tags == sorted(f"refs/gitckpt/s/tags/{id}" for id in kept)
    assert not (place.path / "owned").exists()
    told = answer.err.splitlines()
    assert len(told) == len(ids) and all("P004" in line for line in told)


def test_recording_changes_nothing_of_the_users(recorded: Place) -> None:
    recorded.write("a.txt", "staged\n")
    recorded.git("add", "a.txt")
    recorded.write("a.txt", "on disk\n")
    before, files = recorded.users(), recorded.bytes()
    recorded.ok("record", "--on-retry", "fork", stdin=checkpoint("4") + retry("C1") + checkpoint("5"))
    recorded.ok("save", "-m", "by hand")
    assert (recorded.users(), recorded.bytes()) == (before, files)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--channel", "telepathy"], "'telepathy' is no channel that gitckpt can read"),
        (["--on-retry", "maybe"], "'maybe' is none of fork, restore"),
        (["no-such-file"], "'no-such-file' cannot be read: No such file or directory\n"),
        (
            ["src"],
            "'src' cannot be read: Is a directory\ngitckpt:   → give the path of a file, or - for standard input: gitckpt record -\n",
        ),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(place: Place, options: list[str], said: str) -> None:
    answer = place.run("record", *options, stdin=checkpoint("1"))
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_on_a_terminal_the_sum_is_told(place: Place, tmp_path: Path) -> None:
    (tmp_path / "one").write_text(checkpoint("1"))
    (tmp_path / "none").write_text("prose\n")
    assert place.typed("record", "--session", "s", str(tmp_path / "one")).out == (
        "gitckpt: 1 block recorded in the new session s; gitckpt log shows what\n"
    )
    assert place.typed("record", str(tmp_path / "none")).out == (
        "gitckpt: no block was found in the output; gitckpt prompt prints what teaches an agent to write them\n"
    )


# -- save


def test_save_names_the_checkpoint_that_it_made(recorded: Place) -> None:
    assert recorded.ok("save", "-m", "a good place") == (0, b"C4 saved (run/C4)\n", "")
    assert recorded.ok("save") == (0, b"C5 saved (run/C5)\n", "")
    assert stable(recorded.ok("log").out).splitlines()[-3:] == [
        "TIME   ● C4  checkpoint  a good place",
        "TIME   ● C5  checkpoint  saved by hand",
        "           @ main goes on here, after C5",
    ]


def test_save_says_what_the_snapshot_does_not_hold(place: Place) -> None:
    place.git("config", "gitckpt.maxFileSize", "1K")
    place.write("big.bin", b"x" * 2000)
    answer = place.ok("save", "--session", "s")
    new, missing = "session s is new; gitckpt sessions lists all", "larger than max_file_size (2000 of 1024 bytes)"
    assert answer.err == f"gitckpt: {new}\ngitckpt: not covered: big.bin: {missing}\n"
    assert place.ok("record", stdin=checkpoint("2")).err == f"gitckpt: not covered: big.bin: {missing}\n"
    assert "new" not in place.ok("save", "--session", "s").err
    assert place.json("show", "C1")["coverage"] == {
        "complete": False,
        "missing": [{"path": "big.bin", "reason": "larger than max_file_size (2000 of 1024 bytes)"}],
    }
    assert "▷     start       (1 path not covered)\n" in place.ok("log").out


@pytest.mark.parametrize(
    "message", ["改了 a.txt，很好", "a\tb", "'\"\\ $HOME `x`", "a\nb", "\x1b[31mred\x1b[0m", "- x: y"]
)
def test_any_message_reads_back_and_none_reaches_the_terminal_raw(place: Place, message: str) -> None:
    place.ok("save", "-m", message)
    assert place.json("show", "C1")["fields"]["done"] == [message]
    assert "\x1b" not in place.ok("log").out + place.ok("show", "C1").out


# -- retry


def test_retry_forks_and_puts_the_files_back(recorded: Place) -> None:
    recorded.write("a.txt", "failed attempt\n")
    answer = recorded.ok("retry", "C1", "--reason", "it broke", "--strategy", "try b.txt")
    assert answer.out == "R1 forks at C1: line retry-2, files as at C1, verified\n"
    assert answer.err.endswith("gitckpt: to take it back: gitckpt undo\n")
    assert recorded.read("a.txt") == "a at C1\n"
    event = recorded.json("show", "R1")
    assert event["fields"] == {"from": "C1", "reason": "it broke", "new_strategy": "try b.txt"}
    recorded.ok("undo")
    assert recorded.read("a.txt") == "failed attempt\n"


def test_retry_from_the_start(recorded: Place) -> None:
    recorded.ok("retry", "start", "--reason", "all wrong", "--strategy", "begin again")
    assert recorded.read("a.txt") == "a at C1\n"
    assert recorded.json("show", "R1")["opens"]["at"] == recorded.json("show", "start")["commit"]


def test_retry_from_an_earlier_step_of_the_same_id(recorded: Place) -> None:
    recorded.write("a.txt", "a at the second C3\n")
    recorded.ok("record", stdin=checkpoint("3", "again"))
    recorded.ok("retry", "C3~1", "--reason", "r", "--strategy", "s")
    assert recorded.read("a.txt") == "a at C3\n"


def test_retry_from_a_step_of_another_line(recorded: Place) -> None:
    recorded.ok("record", stdin=retry("C1"))
    recorded.write("a.txt", "a at C2 of the second line\n")
    recorded.ok("record", stdin=checkpoint("2"))
    recorded.ok("retry", "C2@main", "--reason", "r", "--strategy", "s")
    assert recorded.read("a.txt") == "a at C2\n"


def test_retry_from_a_step_of_another_session(recorded: Place) -> None:
    recorded.write("a.txt", "a in the second session\n")
    recorded.ok("record", "--session", "second", stdin=checkpoint("1"))
    recorded.ok("retry", "run/C2", "--reason", "r", "--strategy", "s")
    assert recorded.read("a.txt") == "a at C2\n"


def test_retry_from_nowhere_changes_nothing(recorded: Place) -> None:
    before = recorded.bytes()
    answer = recorded.run("retry", "C9", "--reason", "r", "--strategy", "s")
    what = "gitckpt: no checkpoint 'C9' here; the nearest are C3, C2, C1\n"
    assert answer == (3, b"", what + "gitckpt:   → gitckpt log lists them all\n")
    assert (recorded.bytes(), recorded.ids()) == (before, ["start", "C1", "C2", "C3"])


def test_a_moment_without_room_costs_no_more_than_the_block_of_that_moment(place: Place, tmp_path: Path) -> None:
    """By our own hand, where git does not come to say it: the lock, the index that is copied."""
    blocks = "".join(checkpoint(number) for number in "123")
    fault = {"how": "no room", "below": f"{place.path}/", "count": str(tmp_path / "count")}
    place.ok("record", stdin=checkpoint("9"))
    place.run("record", stdin=blocks, fault=fault | {"at": 0})
    lost = []
    for at in range(1, int((tmp_path / "count").read_text()) + 1):
        before = len(place.ids())
        answer = place.run("record", stdin=blocks, fault=fault | {"at": at})
        missing = [number for number in "123" if f"C{number}" not in place.ids()[before:]]
        if len(missing) == 3:  # before anything was read
            assert answer.status in (3, 4) and "No space left" in answer.err, (at, answer)
            continue
        assert [number for number in "123" if f"checkpoint {number} in line" in answer.err] == missing, (at, answer)
        assert answer.status == 4 or not missing, (at, answer)
        lost.append(missing)
    assert [one for one in lost if one] == [["1"], ["2"], ["3"]]
    assert place.json("verify")["whole"]
