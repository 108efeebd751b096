"""What the documentation says to type can be typed, and what the README shows is run for real."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import declared_commands
import pytest
from commandline import HANG, Place
from migration import PROJECT, TRANSCRIPT
from places import environment, place, template_place, zygote

import gitckpt

__all__ = ["environment", "place", "template_place", "zygote"]

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])

#: Fences whose lines are typed into a shell, and what stands between the commands of one line.
SHELL = ("sh", "bash", "shell", "console")
OPERATORS = {"|", "||", "&&", ";", "&", ">", ">>", "<"}

#: Options that typer gives to every command.
HELP = {"--help": False, "-h": False}


class Line(NamedTuple):
    """A line of a page that shows something to type."""

    page: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.number}: {self.text}"


#: Command → option → whether a value follows it.
OPTIONS = {
    name: HELP | {option: parameter.kind is not bool for parameter in parameters for option in parameter.options}
    for name, parameters in declared_commands.commands().items()
}


def mistake(words: list[str]) -> str:
    """What is wrong with a command line of gitckpt; "" where it can be typed."""
    if not words or words[0] in ("--version", "-V", "--help", "-h", "--install-completion", "--show-completion"):
        return ""
    name, *rest = words
    if name not in OPTIONS:
        return f"there is no command {name}"
    while rest:
        word, equals, _ = rest.pop(0).partition("=")
        if word == "--" or (name == "wrap" and not word.startswith("-")):
            return ""
        if word.startswith("-") and word != "-":
            if word not in OPTIONS[name]:
                return f"{name} has no option {word}"
            if OPTIONS[name][word] and not equals and not rest:
                return f"{name} {word} wants a value"
            del rest[: OPTIONS[name][word] and not equals]
    return ""


def fenced(text: str) -> Iterator[tuple[str, int, str]]:
    """Language, line number and text of each line inside a fence."""
    language = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            language = line.strip("` ") if language is None else None
        elif language is not None:
            yield language, number, line


def shell_lines(page: Path) -> list[Line]:
    """What is to be typed into a shell, of a console session without its prompt and output."""
    lines = [
        (number, line)
        for language, number, line in fenced(page.read_text())
        if language in SHELL and (language != "console" or line.startswith("$ "))
    ]
    name = str(page.relative_to(ROOT))
    return [Line(name, number, line.strip().removeprefix("$ ")) for number, line in lines if line.strip()]


def inline(page: Path) -> list[Line]:
    """Command lines inside a sentence; what is optional in them stands in brackets."""
    name = str(page.relative_to(ROOT))
    return [
        Line(name, number, re.sub(r"[\[\]]", " ", span).replace("…", ""))
        for number, line in enumerate(page.read_text().splitlines(), 1)
        for span in re.findall(r"`(gitckpt [^`]+)`", line)
    ]


def commands(line: Line) -> Iterator[list[str]]:
    """The words after `gitckpt` of each such command in a line."""
    words = shlex.shlex(line.text, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    command: list[str] = []
    for word in [*words, ";"]:
        if word in OPERATORS:
            if command[:1] == ["gitckpt"]:
                yield command[1:]
            command = []
        else:
            command.append(word)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_line_can_be_typed(page: Path) -> None:
    lines = shell_lines(page) + inline(page)
    assert [f"{line}: {mistake(words)}" for line in lines for words in commands(line) if mistake(words)] == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("gitckpt frobnicate", "there is no command frobnicate"),
        ("agent | gitckpt record --fast", "record has no option --fast"),
        ("gitckpt log -n", "log -n wants a value"),
        ("gitckpt save -m 'x' && gitckpt lgo", "there is no command lgo"),
        ("gitckpt wrap --quiet -- agent --any", ""),
        ("gitckpt wrap agent --any  # a comment", ""),
        ("gitckpt log --count=3 --graph", ""),
    ],
)
def test_a_line_that_cannot_be_typed_is_found(line: str, wrong: str) -> None:
    found = [mistake(words) for words in commands(Line("page", 1, line))]
    assert list(filter(None, found)) == ([wrong] if wrong else [])


def test_the_readme_names_the_commands_that_one_begins_with() -> None:
    shown = {words[0] for line in shell_lines(ROOT / "README.md") for words in commands(line) if words}
    assert {"wrap", "record", "save", "log", "show", "diff", "rollback", "undo"} <= shown


def test_somebody_who_has_only_the_readme_finds_every_command() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [name for name in OPTIONS if name != "hook" and f"gitckpt {name}" not in readme] == []


def test_the_page_of_the_command_line_says_what_the_commands_say() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "commands.py"))["page"]
    written = (ROOT / "docs" / "cli.md").read_text()
    assert written == page(written), "python docs/commands.py writes it anew"


def test_the_manual_page_says_what_the_page_of_the_command_line_says() -> None:
    manual = runpy.run_path(str(ROOT / "docs" / "manpage.py"))["manual"]
    written = (ROOT / "docs" / "gitckpt.1").read_text(encoding="ascii")
    assert written == manual((ROOT / "docs" / "cli.md").read_text()), "python docs/commands.py writes it anew"
    spelled = re.sub(r"\\f[BR]|\\", "", written)
    options = {(name, option) for name in OPTIONS for option in OPTIONS[name] if option not in HELP}
    sections = {words.partition("\n")[0]: words for words in spelled.split("\n.SS gitckpt ")}
    assert [(name, option) for name, option in sorted(options) if option not in sections[name]] == []


@pytest.mark.parametrize(
    "check", [["groff", "-man", "-ww", "-z"], ["mandoc", "-T", "lint", "-W", "error"]], ids=" ".join
)
def test_the_manual_page_can_be_set(check: list[str]) -> None:
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is not installed")
    done = subprocess.run([*check, str(ROOT / "docs" / "gitckpt.1")], capture_output=True, timeout=HANG)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_every_command_that_an_error_recommends_exists() -> None:
    wrong = []
    for module in sorted(Path(gitckpt.__file__).parent.rglob("*.py")):
        for call in ast.walk(ast.parse(module.read_text())):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ERRORS and len(call.args) > 1:
                named = re.findall(r"gitckpt ([a-z]+)(?= |$|['\"`;,])", ast.unparse(call.args[1]))
                wrong += [f"{module.name}:{call.lineno} gitckpt {name}" for name in named if name not in KNOWN]
    assert wrong == []


ERRORS = {"GitckptError", "Negative", "UsageError", "Refused", "UnknownId", "GitFailed", "Damaged"}

#: Commands, and what a sentence may say that gitckpt does.
KNOWN = {*OPTIONS, "from", "keeps"}


def test_what_the_readme_shows_is_run(place: Place) -> None:
    for name, content in PROJECT.items():
        place.write(name, content)
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "the project")
    programs = place.path.parent / "programs"
    programs.mkdir()
    (programs / "transcript").write_text(TRANSCRIPT)
    (programs / "my-agent").write_text(f"#!/bin/sh\nexec cat {programs}/transcript\n")
    (programs / "my-agent").chmod(0o755)
    env = place.env | {"PATH": f"{programs}:{Path(sys.executable).parent}:{place.env['PATH']}"}
    run = [line for line in shell_lines(ROOT / "README.md") if not line.text.startswith("./")]
    for line in run:
        command = ["sh", "-c", line.text]
        done = subprocess.run(command, cwd=place.path, env=env, capture_output=True, timeout=HANG)
        assert (str(line), done.returncode, done.stderr) == (str(line), 0, done.stderr)
    assert len(run) > 5


def test_scripts_that_the_readme_shows_are_there() -> None:
    scripts = [line.text.split()[0] for line in shell_lines(ROOT / "README.md") if line.text.startswith("./")]
    assert scripts and all(os.access(ROOT / script, os.X_OK) for script in scripts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_blocks_in_the_documentation_keep_the_rules(place: Place) -> None:
    # the reference of the protocol has bad examples on purpose, which tests of their own look at
    pages = [str(page) for page in PAGES if page.name != "protocol.md"]
    assert place.ok("validate", *pages) == (0, b"", "")


def test_the_names_that_the_package_speaks_of_are_there() -> None:
    words = set(re.findall(r"`([A-Za-z_]+)`", gitckpt.__doc__ or ""))
    assert len(words) > 10 and all(hasattr(gitckpt, word) for word in words)
