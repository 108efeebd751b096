"""`init --hooks`: git checks blocks before a commit and binds it to the checkpoint that led to it; and goes away again."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import HANG, Answer, Place, checkpoint

BAD = "===CHECKPOINT 1===\nphase: implement\n===END===\n"


def hooks(place: Place, directory: str = ".git/hooks") -> dict[str, tuple[bytes, int]]:
    where = place.path / directory
    if not where.exists():
        return {}
    return {p.name: (p.read_bytes(), stat.S_IMODE(p.stat().st_mode)) for p in where.iterdir()}


def commit(place: Place, *options: str, name: str = "fine.txt", content: str = "fine\n") -> Answer:
    """Commit a file as a person does: with his hooks."""
    place.write(name, content)
    place.git("add", name)
    command = ["git", "commit", "-q", *(options or ("-m", "a commit"))]
    done = subprocess.run(command, cwd=place.path, env=place.env, capture_output=True, check=False)
    return Answer(done.returncode, done.stdout, done.stderr.decode())


def message(place: Place, name: str = "HEAD") -> str:
    return place.git("log", "-1", "--format=%B", name).rstrip("\n")


@pytest.fixture
def hooked(place: Place) -> Place:
    place.ok("init", "--hooks")
    return place


def test_a_malformed_block_is_not_committed(hooked: Place) -> None:
    head = hooked.git("rev-parse", "HEAD")
    answer = commit(hooked, name="run.md", content=BAD)
    assert answer.status == 1
    assert "run.md:1:1: P001 CHECKPOINT C1 has no `done`" in answer.err
    assert hooked.git("rev-parse", "HEAD") == head
    hooked.git("rm", "-qf", "run.md")
    assert commit(hooked).status == 0
    assert commit(hooked, "-m", BAD, name="other.txt").status == 1


def test_commits_of_a_session_are_bound_to_the_checkpoint_before_them(hooked: Place) -> None:
    assert commit(hooked).status == 0
    assert message(hooked) == "a commit"
    hooked.ok("record", "--session", "run", stdin=checkpoint("1") + checkpoint("2"))
    assert commit(hooked, "-m", "a commit\n\nSigned-off-by: me", name="b").status == 0
    assert message(hooked) == "a commit\n\nSigned-off-by: me\nGitckpt-Checkpoint: run/C2"
    assert commit(hooked, "--amend", "--no-edit", name="c").status == 0
    assert message(hooked).count("Gitckpt-Checkpoint:") == 1
    hooked.ok(
        "record", "--session", "run", stdin="===FINAL===\ncheckpoints: [C1, C2]\nsummaries: []\nresult: x\n===END===\n"
    )
    assert commit(hooked, name="d").status == 0
    assert message(hooked) == "a commit"


def test_the_log_of_a_commit_is_what_led_to_it(hooked: Place) -> None:
    hooked.ok("record", "--session", "run", stdin=checkpoint("1"))
    commit(hooked, name="one")
    hooked.ok("record", "--session", "run", stdin=checkpoint("2") + checkpoint("3"))
    commit(hooked, name="two")
    hooked.ok("record", "--session", "run", stdin=checkpoint("4"))
    assert [e["id"] for e in hooked.json("log", "HEAD~1", "--json")["events"]] == [None, "C1"]
    assert [e["id"] for e in hooked.json("log", "HEAD", "--json")["events"]] == ["C2", "C3"]
    assert [line.split()[2] for line in hooked.ok("log", "HEAD").out.splitlines() if " ● " in line] == ["C2", "C3"]
    for name, why in (("HEAD~2", "names no checkpoint"), ("nope", "there is no commit"), ("--", "")):
        answer = hooked.run("log", name)
        assert (answer.status, why in answer.err) == (3 if why else 0, True)


def test_a_rebase_binds_nothing_anew(hooked: Place) -> None:
    commit(hooked, name="one")
    hooked.ok("record", "--session", "run", stdin=checkpoint("1"))
    hooked.git("rebase", "-q", "--force-rebase", "--no-ff", "HEAD~1")
    assert message(hooked) == "a commit"


def test_an_earlier_hook_goes_on_running_and_is_given_back(place: Place) -> None:
    hook = place.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "mine: $0"\n[ ! -e stop ]\n')
    hook.chmod(0o750)
    before = hooks(place)
    shown = place.ok("init", "--hooks", "--print").out
    assert hooks(place) == before
    place.ok("init", "--hooks")
    place.ok("init", "--hooks")
    assert hooks(place)["pre-commit"][0].decode() in shown
    assert "mine: " in commit(place).err
    assert commit(place, name="run.md", content=BAD).status == 1
    place.git("rm", "-qf", "run.md")
    assert commit(place, name="stop").status == 1
    place.ok("init", "--remove")
    assert hooks(place) == before
    assert place.ok("init", "--remove").out == "there is nothing of gitckpt's to take out\n"


def test_an_earlier_hook_that_is_not_executable_is_not_said_to_run(place: Place) -> None:
    hook = place.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o644)
    assert (
        "; the one that was there is not executable and runs no more than before, as pre-commit."
        in place.ok("init", "--hooks").out
    )
    assert commit(place).status == 0


def test_where_the_user_has_put_his_hooks(place: Place) -> None:
    place.git("config", "core.hooksPath", ".husky")
    place.ok("init", "--hooks")
    assert set(hooks(place, ".husky")) == {"pre-commit", "commit-msg"}
    assert commit(place, name="run.md", content=BAD).status == 1


def test_hooks_of_all_repositories_are_not_written_to(place: Place, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    place.git("config", "--global", "core.hooksPath", str(shared))
    answer = place.run("init", "--hooks")
    assert answer.status == 3
    assert "core.hooksPath is set for all your repositories" in answer.err
    assert list(shared.iterdir()) == []
    place.git("config", "--global", "--unset", "core.hooksPath")


def test_a_hook_whose_gitckpt_is_gone_says_so_and_lets_nothing_through(hooked: Place) -> None:
    for path in (hooked.path / ".git/hooks").iterdir():
        if path.read_bytes().startswith(b"#!/bin/sh\n# Put here"):
            path.write_text(path.read_text().replace("gitckpt=", "gitckpt=/nowhere"))
    hooked.env["PATH"] = "/usr/bin:/bin"
    answer = commit(hooked)
    assert answer.status == 1
    assert "gitckpt is not installed any more, so pre-commit cannot check this commit." in answer.err
    assert commit(hooked, "-m", "x", "--no-verify").status == 0


def test_a_fault_while_binding_does_not_stop_the_commit(hooked: Place) -> None:
    hooked.ok("record", "--session", "run", stdin=checkpoint("1"))
    refs = hooked.path / ".git/refs/gitckpt/run/heads/main"
    refs.write_text("0" * 39 + "1\n")
    answer = commit(hooked)
    assert answer.status == 0
    assert "the commit names no checkpoint: " in answer.err
    assert message(hooked) == "a commit"


@pytest.mark.skipif(os.geteuid() == 0, reason="mode bits do not bind root")
def test_a_directory_that_cannot_be_written(place: Place) -> None:
    where = place.path / ".git/hooks"
    where.mkdir(exist_ok=True)
    where.chmod(0o500)
    assert place.run("init", "--hooks").status == 3
    where.chmod(0o700)


def test_hooks_that_are_switched_off(place: Place) -> None:
    place.git("config", "core.hooksPath", "/dev/null")
    answer = place.run("init", "--hooks")
    assert answer.status == 3
    assert "core.hooksPath is /dev/null, which is no directory: it switches hooks off" in answer.err


def test_a_command_without_what_it_needs_is_a_usage_error(place: Place) -> None:
    assert place.run("init").status == 2
    assert place.run("hook", "nope").status == 2
    assert place.run("hook", "commit-msg").status == 2


@pytest.mark.parametrize("words", [("--hooks",), ("--agent", "claude-code")])
def test_hooks_that_could_call_no_command_are_refused(place: Place, tmp_path: Path, words: tuple[str, ...]) -> None:
    """They would stop every commit."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    (python.parent / "git").symlink_to(str(shutil.which("git")))
    env = place.env | {"PATH": str(python.parent), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    before = place.users(), sorted((place.path / ".git").rglob("*"))
    answer = subprocess.run(
        [python, "-m", "gitckpt", "init", *words], cwd=place.path, env=env, capture_output=True, timeout=HANG
    )
    assert (answer.returncode, b"no command gitckpt" in answer.stderr) == (3, True)
    assert (place.users(), sorted((place.path / ".git").rglob("*"))) == before
