"""The report on a fault of ours: what is in it, who can read it, and that nothing of the user's ever is."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from commandline import Answer, Place, broken_python, checkpoint

from gitckpt.cli.fault import fault

SECRET = "hunter2"

#: Command lines, and the function of Python that is broken while they run.
FAULTS = {
    f"diff run/C1 {SECRET}-2 --stat": "unicodedata.east_asian_width",
    f"log --session {SECRET}": "time.localtime",
    f"save --message {SECRET}": "os.ftruncate",
    f"rollback C1 --path {SECRET}.txt --scope files -n": "hashlib.sha256",
    f"verify --session={SECRET}": "hashlib.sha1",
}  # fmt: skip


@pytest.fixture
def secretive(recorded: Place, tmp_path: Path) -> Place:
    """A repository with a secret in its place, its names, its files, its history, its configuration."""
    place = recorded.copy(tmp_path / f"{SECRET}-place")
    place.write(f"{SECRET}.txt", f"{SECRET}\n")
    place.write(f"{SECRET}-名.txt", f"{SECRET}\n")
    place.git("config", "user.name", SECRET)
    place.git("config", "user.email", f"{SECRET}@example.org")
    place.git("checkout", "-q", "-b", f"{SECRET}-branch")
    place.ok("record", "--session", SECRET, stdin=checkpoint("1", SECRET, phase="verify") + checkpoint(f"{SECRET}-2"))
    return place


def reported(answer: Answer) -> Path:
    assert answer.status == 70, answer
    text = answer.out + answer.err
    [path] = re.findall(r"a report is in (\S+gitckpt-fault-\w+\.txt) and holds versions, the command", text)
    assert "please send it to https://github.com/" in text and "Traceback" not in text
    return Path(path)


@pytest.mark.parametrize("command", FAULTS)
def test_nothing_of_the_users_is_in_a_report(secretive: Place, command: str) -> None:
    env = broken_python(secretive, FAULTS[command])
    env |= {"TOKEN": SECRET, "GIT_AUTHOR_NAME": SECRET, "LANG": "C.UTF-8"}
    report = reported(secretive.process(*command.split(), env=env))
    text = report.read_text()
    report.unlink()
    assert SECRET not in text and "place" not in text and "example" not in text and str(Path.home()) not in text
    first, second, kind, *frames = text.splitlines()
    assert re.fullmatch(r"gitckpt \d\S+, Python \d\S+, git version \d\S+, \w+ \S+ \w+", first)
    words = command.split()
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    assert second == " ".join(["command:", words[0], *options])
    assert re.fullmatch(r"[a-z_.]+\.[A-Za-z]+", kind)
    assert any(re.fullmatch(r"  gitckpt/\w+/\w+\.py:\d+ in \w+", frame) for frame in frames)


def test_only_its_owner_can_read_a_report(secretive: Place) -> None:
    os.umask(0)
    try:
        report = reported(secretive.process("log", env=broken_python(secretive, "time.localtime")))
    finally:
        os.umask(0o022)
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_where_no_report_can_be_written_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    told = str(fault(ValueError("what happened"), ["show", "--path", SECRET]))
    assert "ValueError: what happened\ngitckpt 0." in told and "; command: show --path; builtins.ValueError" in told


def test_a_fault_before_any_command_is_reported_too(place: Place, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "typer.py").write_text(f"raise RuntimeError('{SECRET}')\n")
    answer = place.process("blame", SECRET, env=place.env | {"PYTHONPATH": str(broken)})
    text = reported(answer).read_text()
    assert SECRET not in text and "builtins.RuntimeError\n" in text
    shutil.rmtree(broken)
