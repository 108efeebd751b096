"""The demo from end to end: the real agent as a process of its own, recorded and rolled back by real command lines."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Zygote

from gitckpt.demo.picture import Picture, in_checkpoint, on_disk
from gitckpt.demo.story import PAUSE, run_demo
from gitckpt.repo.gateway import Git


@pytest.fixture
def run(zygote: Zygote) -> Callable[[list[str], str], int]:
    """Runs a command line of gitckpt as a process of its own."""

    def run(argv: list[str], cwd: str) -> int:
        answer = zygote.run(argv, cwd=Path(cwd), env=os.environ)
        print(answer.err)
        return answer.status

    return run


def test_every_check_holds_and_what_is_recommended_works(
    tmp_path: Path, run: Callable[[list[str], str], int], capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    directory = tmp_path / "demo"
    assert run_demo(directory, run, said.append, pause=0) == 0, "\n".join([*said, *capfd.readouterr()])
    assert len([line for text in said for line in text.splitlines() if line.startswith("Checked: ")]) == 6

    commands = [line.partition("  ")[0] for line in said[-1].replace("\n  ", "\n").splitlines()]
    recommended = [shlex.split(command)[1:] for command in commands if command.startswith("gitckpt ")]
    assert recommended == [["show", "C8"], ["diff", "C6", "C8"], ["rollback", "C9"], ["undo"]]
    recommended[-2].append("--yes")
    assert [run(command, str(directory)) for command in recommended] == [0, 0, 0, 0]


@pytest.mark.slow
def test_each_checkpoint_holds_the_files_as_they_were_when_it_was_reported(
    project: Path, tmp_path: Path, watched: type, run: Callable[[list[str], str], int]
) -> None:
    directory = tmp_path / "demo"
    assert run_demo(directory, run, lambda text: None, pause=PAUSE) == 0

    pictures: dict[str, Picture] = {}

    def observe(key: str, text: str) -> None:
        if text.startswith("===CHECKPOINT"):
            pictures[key] = on_disk(str(project))
            del pictures[key][b".env"]

    watched(project, observe).migrate()
    git = Git(os.fsencode(directory))
    tags = git.text("for-each-ref", "--format=%(refname)", "refs/gitckpt/*/tags/*").split()
    recorded = {ref.rpartition("/")[2]: in_checkpoint(git, ref) for ref in tags}
    assert recorded == pictures


def test_the_commands_recommended_are_those_that_work_here(tmp_path: Path) -> None:
    gitckpt = Path(sys.executable).with_name("gitckpt")
    bare = os.environ | {"PATH": os.defpath}
    told = {}
    for name, environment in (("bare", bare), ("found", bare | {"PATH": f"{gitckpt.parent}:{os.defpath}"})):
        command = [gitckpt, "demo", "--pause", "0.1", str(tmp_path / name)]
        told[name] = subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    assert f"\n  {gitckpt} show C8  " in told["bare"]
    assert "\n  gitckpt show C8  " in told["found"]


@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg"])
def test_a_hook_that_finds_no_gitckpt_fails_and_says_so(tmp_path: Path, hook: str) -> None:
    script = Path(__file__).parents[2] / "hooks" / hook
    (tmp_path / "sh").symlink_to("/bin/sh")
    done = subprocess.run([script, "message"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr.startswith(f"{hook}: gitckpt is not on PATH, so nothing was checked")) == (
        1,
        True,
    )
