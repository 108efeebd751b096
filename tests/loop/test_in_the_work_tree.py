"""What a model can do in the work tree: inside of it, for a while, and nothing of git's."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from project import Project

from gitckpt.errors import GitckptError, Refused
from gitckpt.loop.actions import MOST_ANSWERED, Action, bounded, carry_out
from gitckpt.loop.files import Files
from gitckpt.loop.remote import remote_actions
from gitckpt.loop.shell import shell_action
from gitckpt.loop.stream import Call
from gitckpt.process.tree import command_line, process_table


@pytest.fixture
def act(project: Project) -> Any:
    actions = {one.name: one for one in [*Files(project.repository()).actions(), shell_action(project.repository())]}
    return lambda name, **given: actions[name].run(given)


def test_reading_and_writing(project: Project, act: Any) -> None:
    assert act("write_file", path="new/deep/é.txt", content="one\r\ntwo\n") == "new/deep/é.txt is written: 9 bytes."
    assert project.read("new/deep/é.txt") == b"one\r\ntwo\n"
    assert act("edit_file", path="new/deep/é.txt", old="two", new="2") == "new/deep/é.txt is changed."
    assert act("read_file", path="./new/deep/é.txt") == "    1  one\n    2  2"
    act("write_file", path="long.txt", content="".join(f"line {n}\n" for n in range(1, 501)))
    assert act("read_file", path="long.txt", first=499).splitlines() == ["  499  line 499", "  500  line 500"]
    assert act("read_file", path="long.txt", count=2).splitlines()[-1] == "(498 more lines)"
    assert act("read_file", path="long.txt", first=501) == "(500 lines; none of those)"


def test_what_is_replaced_keeps_its_bits_and_bytes_that_are_no_text(project: Project, act: Any) -> None:
    project.write("run.sh", b"#!/bin/sh\necho \xff old\n", 0o750)
    act("edit_file", path="run.sh", old="old", new="new")
    assert project.read("run.sh") == b"#!/bin/sh\necho \xff new\n"
    assert (project.root / "run.sh").stat().st_mode & 0o777 == 0o750
    act("write_file", path="plain", content="x")
    assert (project.root / "plain").stat().st_mode & 0o777 == 0o644
    assert not list((project.root / ".git/gitckpt").glob("write-*"))


def test_an_edit_that_could_mean_two_places_or_none_changes_nothing(project: Project, act: Any) -> None:
    project.write("twice", "same\nsame\n")
    for old, times in (("same", 2), ("other", 0)):
        with pytest.raises(Refused, match=f"nothing was changed: `old` stands {times} times"):
            act("edit_file", path="twice", old=old, new="x")
    assert project.read("twice") == b"same\nsame\n"


FORBIDDEN = [
    "../outside", "/etc/passwd", "src/../../outside", "out", "out/x", "loop", ".git/config", ".GIT/config", "src/../.git/x",
    "gitlink/config", "sub/.git/config", ".git", ".", "src", "", "nul\0", "pipe", "x" * 5000, "\udcff/../../x",
]  # fmt: skip


@pytest.mark.parametrize("path", FORBIDDEN, ids=range(len(FORBIDDEN)))
def test_what_is_not_the_models(project: Project, act: Any, tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("theirs")
    (project.root / "out").symlink_to(outside)
    (project.root / "loop").symlink_to("loop")
    (project.root / "gitlink").symlink_to(".git")
    (project.root / "sub/.git").mkdir(parents=True)
    os.mkfifo(project.root / "pipe")
    before, config = project.disk(), project.read(".git/config")
    for name, more in (("read_file", {}), ("write_file", {"content": "mine"}), ("edit_file", {"old": "t", "new": "m"})):
        with pytest.raises((GitckptError, OSError)) as error:
            act(name, path=path, **more)
        assert str(error.value)
    assert (project.disk(), project.read(".git/config")) == (before, config)
    assert (outside / "x").read_text() == "theirs"


def test_a_link_within_the_project_leads_where_it_leads(project: Project, act: Any) -> None:
    (project.root / "link").symlink_to("README.md")
    act("write_file", path="link", content="through it\n")
    assert project.read("README.md") == b"through it\n"
    assert (project.root / "link").is_symlink()


def test_a_command_and_its_status(project: Project, act: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("API_KEY", "secret")
    assert act("shell", command="ls; echo wrong >&2; exit 3") == "README.md\nsrc\ntests\nwrong\n(exit status 3)"
    assert act("shell", command="cat; env | grep -c secret") == "0\n(exit status 1)"
    assert act("shell", command="kill -9 $$") == "(exit status 137)"


def test_a_command_from_below_does_not_import_from_the_work_tree(project: Project, act: Any) -> None:
    project.write("ctypes.py", "raise SystemExit('mine')\n")
    project.write("gitckpt/__init__.py", "raise SystemExit('mine')\n")
    assert act("shell", command="echo fine") == "fine\n(exit status 0)"


@pytest.mark.parametrize("command", ["a\0b", "x" * 300_000])
def test_a_command_that_cannot_be_started_is_told(project: Project, command: str) -> None:
    actions = {"shell": shell_action(project.repository())}
    answer, ok = carry_out(Call("1", "shell", json.dumps({"command": command})), actions)
    assert (answer.startswith("error: "), ok) == (True, False)


def test_long_output_is_cut_in_the_middle(act: Any) -> None:
    answer = act("shell", command="echo begin; yes | head -c 300000; echo end")
    assert len(answer) < MOST_ANSWERED + 100
    assert answer.startswith("begin\n") and answer.endswith("end\n(exit status 0)")
    assert "bytes left out" in answer
    assert bounded("x" * 100, 10) == "xxxxx\n… 90 characters left out …\nxxxxx"


#: How long the sleepers of this process sleep: what tells them from others.
SECONDS = f"71171.{os.getpid()}"


def sleepers() -> list[str]:
    return [line for pid in process_table() if (line := command_line(pid)) == f"sleep {SECONDS}"]


@pytest.mark.parametrize(
    "command", ["sleep {}", "sleep {0} & sleep {0}", "(setsid sleep {0} &) ; trap '' TERM; sleep {0}"]
)
def test_at_its_limit_all_that_a_command_has_started_is_killed(act: Any, command: str) -> None:
    assert (
        act("shell", command=command.format(SECONDS), seconds=1) == "(killed after 1 s, with all that it had started)"
    )
    assert sleepers() == []


def test_what_a_command_leaves_behind_ends_with_it(act: Any) -> None:
    assert act("shell", command=f"(setsid sleep {SECONDS} >/dev/null 2>&1 &) ; echo ok") == "ok\n(exit status 0)"
    assert sleepers() == []


def test_nothing_goes_on_when_gitckpt_is_killed(project: Project) -> None:
    pid = os.fork()
    if pid == 0:
        shell_action(project.repository()).run({"command": f"(setsid sleep {SECONDS} &) ; sleep {SECONDS}"})
        os._exit(0)
    until(lambda: len(sleepers()) == 2)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    until(lambda: sleepers() == [])


def until(holds: Any) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_tools_of_an_mcp_server(project: Project) -> None:
    with remote_actions(f"{sys.executable} -m gitckpt mcp", str(project.root)) as actions:
        found: dict[str, Action] = {action.name: action for action in actions}
        assert found["log"].run({}) == "Nothing is on record yet."
        assert found["checkpoint"].schema["required"] == ["goal", "facts", "done", "todo"]
        with pytest.raises(Refused, match="reset is refused: no checkpoint yet"):
            found["reset"].run({})


@pytest.mark.parametrize("command", ["", "'", "no-such-program-anywhere", "true", "echo hello"])
def test_a_server_that_is_none(project: Project, command: str) -> None:
    with pytest.raises(GitckptError) as error, remote_actions(command, str(project.root)):
        pass
    assert error.value.exit_status == 2
    assert error.value.hint
