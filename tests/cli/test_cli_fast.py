"""The commands that answer without typer: the same command line, and none of the dear imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint
from declared_commands import commands

from gitckpt.cli.fast import OPTIONS, WORDS

#: Each costs more than the commands that must do without it.
DEAR = {"typer", "click", "rich", "pydantic", "git", "importlib.metadata"}

#: How a value of such a type is read.
READ_AS = {bool: "flag", int: "number", str: "text"}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_options_are_those_of_typer(name: str) -> None:
    assert OPTIONS[name] == {
        option: (parameter.name, READ_AS[parameter.kind])
        for parameter in commands()[name]
        for option in parameter.options
    }


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_words_are_those_of_typer(name: str) -> None:
    assert len([parameter for parameter in commands()[name] if not parameter.options]) == WORDS.get(name, 0)


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ("log -n 2", "log -n2"),
        ("log --count 2 --graph", "log --count=2 --graph"),
        ("log --session run --stat", "log --session=run --stat"),
        ("status", "status --"),
        ("log --json --all", "log --json --all --"),
        ("log --session nope", "log --session=nope"),
    ],
)
def test_both_ways_give_the_same_answer(recorded: Place, fast: str, slow: str) -> None:
    assert recorded.run(*fast.split()) == recorded.run(*slow.split())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("log --bogus", "No such option: --bogus"),
        ("log --session", "Option '--session' requires an argument"),
        ("log -n", "Option '-n' requires an argument"),
        ("log -n x", "Invalid value for '-n' / '--count'"),
        ("log -n -1", "Invalid value for '-n' / '--count'"),
        ("status --graph", "No such option: --graph"),
        ("record a b", "unexpected extra argument"),
        ("record --channel", "Option '--channel' requires an argument"),
    ],
)
def test_mistakes_are_told_as_those_of_other_commands_are(recorded: Place, command: str, said: str) -> None:
    answer = recorded.run(*command.split())
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_help_is_typers(recorded: Place, name: str) -> None:
    answer = recorded.ok(name, "--help")
    assert answer == recorded.ok(name, "-h")
    assert f"Usage: gitckpt {name} [OPTIONS]" in answer.out
    assert all(option in answer.out for option in OPTIONS[name])


@pytest.mark.parametrize(
    "command", ["--version", "-V", "log", "log --graph --stat", "log --json", "status", "", "record"]
)
def test_nothing_dear_is_imported(recorded: Place, command: str) -> None:
    told = Path(recorded.env["HOME"]) / "modules.json"
    site = Path(recorded.env["HOME"]) / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(
        "import atexit, json, sys\n"
        f"atexit.register(lambda: open({str(told)!r}, 'w').write(json.dumps(sorted(sys.modules))))\n"
    )
    args = [sys.executable, "-m", "gitckpt", *command.split()]
    block = checkpoint("4").encode() if command == "record" else b""
    env = recorded.env | {"PYTHONPATH": str(site)}
    done = subprocess.run(args, cwd=recorded.path, env=env, input=block, capture_output=True, timeout=HANG)
    assert (done.returncode, done.stderr) == (0, b"")
    modules = set(json.loads(told.read_text()))
    assert "gitckpt" in modules and DEAR & modules == set()
