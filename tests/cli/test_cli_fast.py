"""The commands that answer without typer: the same command line, and none of the dear imports."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from random import Random

import pytest
from commandline import HANG, Place, checkpoint
from declared_commands import commands

from gitckpt.cli.app import run_app
from gitckpt.cli.fast import ANY, OPTIONS, WORDS, run_fast

#: Each costs more than the commands that must do without it.
DEAR = {"typer", "click", "rich", "pydantic", "git", "importlib.metadata"}

#: How a value of such a type is read.
READ_AS = {bool: "flag", int: "number", str: "text", list[str]: "texts"}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_options_are_those_of_typer(name: str) -> None:
    assert OPTIONS[name] == {
        option: (parameter.name, READ_AS[parameter.kind])
        for parameter in commands()[name]
        for option in parameter.options
    }


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_words_are_those_of_typer(name: str) -> None:
    arguments = [parameter for parameter in commands()[name] if not parameter.options]
    least = sum(parameter.is_needed for parameter in arguments)
    most = ANY if any(parameter.kind == list[str] for parameter in arguments) else len(arguments)
    assert WORDS.get(name, (0, 0)) == (least, most)


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ("log -n 2", "log -n2"),
        ("log --count 2 --graph", "log --count=2 --graph"),
        ("log --session run --stat", "log --session=run --stat"),
        ("status", "status --"),
        ("log --json --all", "log --json --all --"),
        ("log --session nope", "log --session=nope"),
        ("show C1 --path a.txt", "show C1 --path=a.txt"),
        ("diff C1 --stat -", "diff --stat -- C1 -"),
        ("sessions --all", "sessions --all --"),
        ("rollback C1 -n --path a.txt --path b", "rollback -n --path=a.txt --path=b C1"),
        ("rollback C1 --dry-run --scope all --json", "rollback C1 --dry-run --scope=all --json"),
        ("rollback C1 --scope no", "rollback C1 --scope=no"),
        ("undo", "undo --"),
        ("validate a.txt --select P001 --format json", "validate --select=P001 --format=json a.txt"),
        ("validate no-such-file", "validate -- no-such-file"),
    ],
)
def test_both_ways_give_the_same_answer(recorded: Place, fast: str, slow: str) -> None:
    assert recorded.run(*fast.split()) == recorded.run(*slow.split())


#: Words of a command line, odd ones among them.
ODD = (
    "C1", "C6", "", "-", "--", "-n", "-y", "-yn", "-5", "5", "\u0663", "\u00b2", "0", "--json", "--all", "x y", "--path",
    "--scope=all", "--path=", "--no-json", "--js", "-n3", "1_0", "+3", " 3", "-o", "--message", "\udcff", "9" * 20,
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - {"mcp"}))
def test_any_command_line_means_the_same_in_both_ways(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    meant: list[dict[str, object]] = []
    module = import_module(f"gitckpt.cli.{'rollback' if name in ('undo', 'redo') else name}")
    function = getattr(module, "undo" if name == "redo" else name)
    signature = inspect.signature(function)

    def note(*args: object, **options: object) -> int:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        meant.append(
            {key: list(value) if isinstance(value, tuple) else value for key, value in bound.arguments.items()}
        )
        return 0

    monkeypatch.setattr(module, function.__name__, note)
    random = Random(name)
    compared = 0
    for _ in range(300):
        line = [name, *random.choices([*ODD, *OPTIONS[name], *OPTIONS[name]], k=random.randrange(5))]
        meant.clear()
        if run_fast(line) is not None:
            compared += 1
            assert (run_app(line), meant[1:]) == (0, meant[:1]), line
    assert compared >= 20


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("log --bogus", "No such option: --bogus"),
        ("log --session", "Option '--session' requires an argument"),
        ("log -n", "Option '-n' requires an argument"),
        ("log -n x", "Invalid value for '-n' / '--count'"),
        ("log -n -1", "Invalid value for '-n' / '--count'"),
        ("log -n \u0663", "Invalid value for '-n' / '--count'"),
        ("status --graph", "No such option: --graph"),
        ("record a b", "unexpected extra argument"),
        ("record --channel", "Option '--channel' requires an argument"),
        ("hook", "Missing argument"),
        ("show", "Missing argument"),
        ("show C1 C1", "unexpected extra argument"),
        ("rollback C1 --scope", "Option '--scope' requires an argument"),
        ("rollback C1 --path", "Option '--path' requires an argument"),
        ("validate --strict=yes", "Option '--strict' does not take a value"),
        ("save words", "unexpected extra argument"),
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


def test_a_repeated_option_adds_a_path(recorded: Place) -> None:
    for name in ("one", "two", "three"):
        (recorded.path / name).write_text("new")
    recorded.ok("rollback", "C1", "--path", "one", "--path", "two", "-y")
    assert [(recorded.path / name).exists() for name in ("one", "two", "three")] == [False, False, True]


@pytest.mark.parametrize(
    "command",
    [
        "--version", "-V", "log", "log --graph --stat", "log --json", "status", "", "record", "save -m done", "show C1",
        "diff C1", "sessions", "rollback C1 --dry-run", "rollback C1", "validate -",
    ],
)  # fmt: skip
def test_nothing_dear_is_imported(recorded: Place, command: str) -> None:
    told = Path(recorded.env["HOME"]) / "modules.json"
    site = Path(recorded.env["HOME"]) / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(
        "import atexit, json, sys\n"
        f"atexit.register(lambda: open({str(told)!r}, 'w').write(json.dumps(sorted(sys.modules))))\n"
    )
    args = [sys.executable, "-m", "gitckpt", *command.split()]
    block = checkpoint("4").encode() if command in ("record", "validate -") else b""
    env = recorded.env | {"PYTHONPATH": str(site)}
    done = subprocess.run(args, cwd=recorded.path, env=env, input=block, capture_output=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    modules = set(json.loads(told.read_text()))
    assert "gitckpt" in modules and DEAR & modules == set()
