"""`wrap`: an agent's bytes and status untouched, its blocks on record, and the agent run whatever becomes of these."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commandline import SESSION_ID, Place, broken_python, checkpoint, retry, stable

UNRECORDED = "gitckpt: this run, or the end of it, was NOT recorded\n"

#: Shell functions of an agent: `await` a ref of ours, or go on after a minute so that no test hangs.
AGENT = """
await() {
    tries=0
    until git for-each-ref --format='%(refname)' refs/gitckpt | grep -q "$1" || [ $tries -gt 600 ]; do
        sleep 0.1; tries=$((tries + 1))
    done
}
"""


def agent(place: Place, script: str) -> list[str]:
    """The command that runs a shell script as an agent; blocks for it stand in files C1, C2 and R1 beside the place."""
    where = place.path.parent / "agent"
    where.mkdir(exist_ok=True)
    for number in (1, 2, 3):
        (where / f"C{number}").write_text(checkpoint(str(number), f"step {number}"))
    (where / "R1").write_text(retry("C1"))
    (where / "script").write_text(AGENT + script)
    return ["--", "sh", str(where / "script")]


def wrapped(place: Place, script: str, *options: str) -> list[str]:
    return ["wrap", *options, *agent(place, script)]


# -- what goes through


def test_every_byte_goes_through_and_nothing_is_added(place: Place) -> None:
    noise = os.urandom(300_000) + b"\r\n\x1b[31m===CHECK\xffPOINT 1===\n"
    (place.path.parent / "out").write_bytes(noise + checkpoint("1").encode())
    (place.path.parent / "err").write_bytes(b"\x00warning\r" + bytes(range(256)))
    command = ["sh", "-c", "cat; cat ../out; cat ../err >&2"]
    answer = place.run("wrap", "--", *command, stdin=noise)
    assert (answer.status, answer.raw == noise + (place.path.parent / "out").read_bytes()) == (0, True)
    assert answer.err.encode("utf-8", "surrogateescape") == (place.path.parent / "err").read_bytes()


def test_options_after_the_command_are_the_commands(place: Place) -> None:
    assert place.ok("wrap", "echo", "--quiet", "--task", "-x") == (0, b"--quiet --task -x\n", "")
    assert place.ok("wrap", "--", "echo", "--", "-h") == (0, b"-- -h\n", "")


@pytest.mark.parametrize(("end", "status"), [("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)])
def test_the_status_is_the_agents_and_on_record(place: Place, end: str, status: int) -> None:
    assert place.run("wrap", "--", "sh", "-c", end) == (status, b"", "")
    [start, last] = place.json("log")["events"]
    assert (start["kind"], start["agent"]["command"]) == ("start", ["sh", "-c", end])
    signal = {"signal": status - 128} if status > 128 else {}
    assert (last["kind"], last["agent"]) == ("end", {"exit": status, **signal})


def test_an_agent_that_cannot_run_has_the_shells_status_and_no_session(place: Place) -> None:
    place.write("no-program", "hello")
    missing = place.run("wrap", "--", "no-such-agent")
    assert missing.status == 127
    assert missing.err.startswith("gitckpt: no-such-agent: command not found\ngitckpt:   → ")
    barred = place.run("wrap", "--", "./no-program")
    assert (barred.status, barred.err.splitlines()[0]) == (126, "gitckpt: ./no-program: permission denied")
    assert place.git("for-each-ref", "refs/gitckpt") == ""


# -- what is recorded


def test_a_run_is_recorded_from_start_to_end(place: Place) -> None:
    script = """
        cat ../agent/C1; await tags/C1
        echo changed >a.txt; cat ../agent/C2 >&2; await tags/C2
        printf '%s' "$(cat ../agent/C3)"
        exit 3
    """
    answer = place.run(*wrapped(place, script))
    assert (answer.status, answer.out, answer.err) == (
        3, checkpoint("1", "step 1") + checkpoint("3", "step 3").rstrip("\n"), checkpoint("2", "step 2"),
    )  # fmt: skip
    script_path = place.path.parent / "agent" / "script"
    assert stable(place.ok("log").out) == (
        "session SESSION  DATE  5 events on main\n"
        f"TIME   ▷     start      sh {script_path}\n"
        "TIME   ● C1  implement  step 1  → go on, tool: edit_file\n"
        "TIME   ● C2  implement  step 2  → go on, tool: edit_file\n"
        "TIME   ● C3  implement  step 3  → go on, tool: edit_file\n"
        "TIME   ■     end        exit status 3\n"
        "The run ended without FINAL.\n"
    )
    assert place.ok("show", "C1", "--path", "a.txt").out == "a as committed\n"
    assert place.ok("show", "C2", "--path", "a.txt").out == "changed\n"


def test_nothing_of_the_users_is_changed(recorded: Place) -> None:
    before, files = recorded.users(), recorded.bytes()
    recorded.ok(*wrapped(recorded, "cat ../agent/C1 ../agent/C2"))
    assert (recorded.users(), recorded.bytes()) == (before, files)


def test_each_run_is_a_session_of_its_own_and_may_be_named(recorded: Place) -> None:
    recorded.ok("wrap", "--session", "mine", "--", "true")
    recorded.ok("wrap", "--", "true")
    ids = [row["id"] for row in recorded.json("sessions")["sessions"]]
    assert (len(ids), ids[:2]) == (3, ["run", "mine"])


def test_after_a_run_within_a_run_names_are_those_of_the_outer_one_again(place: Place) -> None:
    blocks = place.path.parent / "agent"
    inner = f'"{sys.executable}" -m gitckpt wrap --session inner -- cat "{blocks}/C2" > /dev/null'
    current = "git symbolic-ref refs/worktree/gitckpt/current >&2"
    answer = place.run(*wrapped(place, f'cat "{blocks}/C1"; {inner}; {current}', "--session", "outer"))
    assert "refs/gitckpt/outer/heads/main\n" in answer.err
    assert place.ids() == ["start", "C1", "end"]


def test_a_retry_forks_and_leaves_the_files_unless_told_otherwise(place: Place) -> None:
    script = """
        cat ../agent/C1; await $NAME/tags/C1
        echo failed >a.txt; cat ../agent/R1; await $NAME/heads/retry-2
        cat a.txt; cat ../agent/C2
    """
    command = ["--session", "fork", *agent(place, f"NAME=fork\n{script}")]
    assert "failed\n" in place.ok("wrap", *command).out
    assert place.json("show", "fork/C2")["parent_id"] == "C1"
    place.git("checkout", "-q", "a.txt")
    command = ["--session", "back", "--on-retry", "restore", *agent(place, f"NAME=back\n{script}")]
    answer = place.ok("wrap", *command)
    assert "a as committed\n" in answer.out and "failed" not in answer.out
    assert place.json("show", "back/R1")["rollback"]["operation"] == "retry"


@pytest.mark.parametrize("freeze", ["auto", "on", "off"])
def test_a_run_is_recorded_with_and_without_stopping_the_agent(place: Place, freeze: str) -> None:
    answer = place.ok(*wrapped(place, "cat ../agent/C1 ../agent/C2", "--freeze", freeze))
    assert answer.out == checkpoint("1", "step 1") + checkpoint("2", "step 2")
    assert place.ids() == ["start", "C1", "C2", "end"]


def test_the_task_fills_in_the_prompt_and_its_echo_is_no_checkpoint(place: Place) -> None:
    prompt = place.ok("prompt", "--task", "tidy up", "--lang", "en").out
    answer = place.ok("wrap", "--task", "tidy up", "--lang", "en", "--", "printf", "<%s>", "say: {prompt}")
    assert answer.out.rstrip("\n>") == f"<say: {prompt}".rstrip("\n")
    assert place.ids() == ["start", "end"]


def test_blocks_without_an_end_are_told_at_the_end(place: Place) -> None:
    answer = place.ok("wrap", "--", "printf", "%s", "===CHECKPOINT 9===\nphase: implement\n")
    assert answer.err == (
        "gitckpt: line 1 of the output: the block CHECKPOINT 9 is not terminated, and lacks done, next, state_ref, "
        "rollback_hint; it is not recorded: end it with ===END===\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--freeze", "maybe"], "--freeze: 'maybe' is none of auto, on, off"),
        (["--on-retry", "maybe"], "--on-retry: 'maybe' is none of fork, restore"),
        (["--channel", "telepathy"], "'telepathy' is no channel that gitckpt can read"),
        (["--task", "t"], "--task needs a place for the prompt in the command"),
        (["--bogus"], "No such option: --bogus"),
    ],
)
def test_a_mistake_in_the_command_line_is_told_before_the_agent_starts(
    place: Place, options: list[str], said: str
) -> None:
    answer = place.run("wrap", *options, "--", "touch", "ran")
    assert (answer.status, answer.out, said in answer.err) == (2, "", True)
    assert not (place.path / "ran").exists()


def test_without_a_command_there_is_nothing_to_wrap(place: Place) -> None:
    for command in (["wrap"], ["wrap", "--"], ["wrap", "--quiet"]):
        assert place.run(*command).status == 2


# -- when recording is impossible

HELLO = ["--", "sh", "-c", "echo hello; echo warning >&2; exit 5"]


def assert_runs_unrecorded(place: Place, why: str, unprivileged: bool = False, **env: str) -> None:
    """The agent runs and keeps its status; one plain warning at the start, one at the end; with --quiet none."""
    for options in ([], ["--quiet"]):
        command = ["wrap", *options, *HELLO]
        answer = place.bound(*command) if unprivileged else place.run(*command, env=env)
        assert (answer.status, answer.out) == (5, "hello\n")
        if options:
            assert answer.err == "warning\n"
        else:
            first, rest = answer.err.split("warning\n")
            assert first.startswith(f"gitckpt: this run is NOT recorded: {why}") and rest == UNRECORDED


def test_outside_of_a_repository_the_agent_runs(place: Place, tmp_path: Path) -> None:
    nowhere = Place(tmp_path, place.env, place.zygote)
    assert_runs_unrecorded(nowhere, f"this is not a git repository ({tmp_path})\n")


def test_without_git_the_agent_runs(place: Place, tmp_path: Path) -> None:
    shutil.copy("/bin/sh", tmp_path / "sh")
    assert_runs_unrecorded(place, "git was not found on PATH\n", PATH=str(tmp_path))


def test_with_a_wrong_configuration_the_agent_runs(place: Place) -> None:
    place.write(".gitckpt.yaml", "max_file_size: 1M\nbogus: 1\n")
    assert_runs_unrecorded(place, ".gitckpt.yaml:2: bogus: ")


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    paths = [path for path in (directory, *directory.rglob("*")) if not path.is_symlink()]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(modes[path] & ~0o222)
    yield
    for path in paths:
        path.chmod(modes[path])


def test_in_a_repository_that_cannot_be_written_the_agent_runs(place: Place) -> None:
    with read_only(place.path / ".git"):
        assert_runs_unrecorded(place, f"cannot write into '{place.path}/.git/gitckpt': ", unprivileged=True)


def test_in_a_repository_that_can_no_longer_be_written_the_agent_runs(recorded: Place) -> None:
    with read_only(recorded.path / ".git"):
        assert_runs_unrecorded(recorded, "", unprivileged=True)


def odd_git(place: Place, question: str, answer: str) -> dict[str, str]:
    """A git that does this on one question, once a file `odd` stands in the work tree."""
    script = f'case " $* " in *" {question} "*) if [ -e "$ODD" ]; then {answer}; fi;; esac'
    return place.before_git(script) | {"ODD": str(place.path / "odd")}


def test_a_fault_of_ours_at_the_start_does_not_stop_the_agent(place: Place) -> None:
    answer = place.process("wrap", *HELLO, env=broken_python(place, "time.gmtime"))
    assert (answer.status, answer.out) == (5, "hello\n")
    first, rest = answer.err.split("warning\n")
    assert "this run is NOT recorded" in first and "Traceback" not in first and rest == UNRECORDED


def test_a_fault_of_ours_in_the_middle_does_not_stop_the_agent(place: Place) -> None:
    script = """
        cat ../agent/C1; await tags/C1
        head -c 9000000 /dev/zero >large; cat ../agent/C2 ../agent/C3; echo done; echo warning >&2; exit 5
    """
    answer = place.process(*wrapped(place, script), env=broken_python(place, "zlib.compress"))
    blocks = "".join(checkpoint(number, f"step {number}") for number in "123")
    assert (answer.status, answer.out) == (5, blocks + "done\n")
    assert answer.err.count("from here on this run is NOT recorded\n") == 1 and answer.err.endswith(UNRECORDED)
    assert "warning\n" in answer.err and "Traceback" not in answer.err
    assert place.ids() == ["start", "C1"]


def test_a_block_that_git_does_not_take_is_named_and_the_others_are_on_record(place: Place) -> None:
    script = """
        cat ../agent/C1; await tags/C1
        touch odd; cat ../agent/C2; sleep 1; rm odd; cat ../agent/C3; exit 5
    """
    answer = place.run(*wrapped(place, script), env=odd_git(place, "write-tree", "exit 128"))
    assert answer.status == 5
    assert answer.err.startswith("gitckpt: checkpoint 2 is NOT recorded: ")
    assert answer.err.endswith("gitckpt: NOT recorded of this run: 1 event: checkpoint 2\n")
    assert place.ids() == ["start", "C1", "C3", "end"]


def test_what_an_agent_takes_off_the_record_is_told_at_the_end(place: Place) -> None:
    script = """
        cat ../agent/C1; await tags/C1
        git for-each-ref --format='delete %(refname)' refs/gitckpt | git update-ref --no-deref --stdin
        cat ../agent/C2; await tags/C2
    """
    answer = place.run(*wrapped(place, script))
    assert answer.status == 0
    assert answer.err.startswith("gitckpt: no longer on record: 2 events from before: somebody deleted or moved a ref")
    assert place.run("log").status == place.run("verify").status == 5


# -- at a terminal

NO_BLOCK = "no block was found in the output; gitckpt prompt prints what teaches an agent to write them"


def test_at_a_terminal_the_agent_has_one_of_the_same_size(place: Place) -> None:
    script = "test -t 0 && test -t 1 && test -t 2 && stty size; printf '\\033[31mred\\033[0m\\a\\r\\n'; exit 4"
    answer = place.typed("wrap", "--", "sh", "-c", script)
    assert (answer.status, answer.out) == (4, f"40 100\n\x1b[31mred\x1b[0m\x07\r\ngitckpt: {NO_BLOCK}\n")
    assert place.ids() == ["start", "end"]


def test_at_a_terminal_blocks_are_recorded_too(place: Place) -> None:
    answer = place.typed(*wrapped(place, "cat ../agent/C1; await tags/C1; echo changed >a.txt; cat ../agent/C2"))
    said = SESSION_ID.sub("SESSION", answer.out.removeprefix(checkpoint("1", "step 1") + checkpoint("2", "step 2")))
    assert (answer.status, said) == (
        0,
        "gitckpt: 2 blocks recorded in the new session SESSION; gitckpt log shows what\n",
    )
    assert [place.ok("show", id, "--path", "a.txt").out for id in ("C1", "C2")] == ["a as committed\n", "changed\n"]


def test_at_a_terminal_resume_is_named_where_the_agent_has_failed(place: Place) -> None:
    answer = place.typed(*wrapped(place, "cat ../agent/C1; exit 3"))
    assert answer.out.endswith("; gitckpt log shows what, gitckpt resume goes on from there\n")
    final = "printf '===FINAL===\\ncheckpoints: [C1]\\nsummaries: []\\nresult: done\\n===END===\\n'; exit 3"
    assert place.typed(*wrapped(place, final)).out.endswith("; gitckpt log shows what\n")


def test_at_a_terminal_an_agent_is_run_unrecorded_too(place: Place, tmp_path: Path) -> None:
    nowhere = Place(tmp_path, place.env, place.zygote)
    answer = nowhere.typed("wrap", "--", "sh", "-c", "echo hello; exit 5")
    assert answer.status == 5
    assert answer.out.startswith("gitckpt: this run is NOT recorded: ")
    assert answer.out.endswith(f"hello\n{UNRECORDED}")
    assert nowhere.typed("wrap", "-q", "--", "sh", "-c", "echo hello; exit 5") == (5, b"hello\n", "")
