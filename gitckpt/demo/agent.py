"""The scripted agent of `gitckpt demo`: migrates the demo project from moment to dayjs, following the checkpoint
protocol.

It stands in for a real agent: what it edits, counts and finds wrong is real; only the words and the edits are prepared
(`words/*.toml`, `migration.toml`). It needs only Python's standard library, and runs in the project's directory:

    python -m gitckpt.demo.agent [--lang zh|en] [--pause SECONDS]

The exit status is 0 if everything is migrated, 1 if the project is not as expected (with the reason on standard error).
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATE, TIME = "src/utils/date.ts", "src/api/time.ts"
NOT_OURS = (b"node_modules", b"dist")


class StuckError(Exception):
    """The project is not as the agent expects; the text says what is different."""


@dataclass(frozen=True)
class Problem:
    """A call that dayjs lacks: its position (1-based line), the call, and the plugin that would add it."""

    path: str
    line: int
    call: str
    plugin: str


class Project:
    """The files below a directory, and the migration to make in them."""

    def __init__(self, root: str, migration: dict[str, Any]) -> None:
        self.root, self.migration = os.fsencode(root), migration

    def at(self, path: str) -> bytes:
        """Return the path of a file. One file has a Chinese name, in UTF-8 whatever the locale."""
        return os.path.join(self.root, path.encode())

    def read(self, path: str) -> str:
        """Return the text of a file with its original line ends."""
        with open(self.at(path), encoding="utf-8", newline="") as file:
            return file.read()

    def write(self, path: str, text: str) -> None:
        """Write this text to a file, keeping the line ends in it."""
        with open(self.at(path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def paths(self) -> list[str]:
        """Return every file that is not a link, hidden, installed or built, sorted."""
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(b".") and name not in NOT_OURS]
            found += [os.path.join(folder, name) for name in files if not name.startswith(b".")]
        relative = [os.path.relpath(file, self.root) for file in found if not os.path.islink(file)]
        return sorted(path.decode("utf-8", "surrogateescape") for path in relative)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of the files that are text."""
        for path in self.paths():
            try:
                yield path, self.read(path)
            except UnicodeError:  # a picture, or a name that is not UTF-8
                continue

    def calls(self, library: str) -> dict[str, int]:
        """Count the calls `library(` and `library.name(` in each source file, leaving out files without any."""
        call = re.compile(rf"\b{library}(?:\.\w+)?\(")
        counts = {path: len(call.findall(text)) for path, text in self.texts() if path.startswith("src/")}
        return {path: count for path, count in counts.items() if count}

    def mentions(self) -> list[str]:
        """Return the paths of the files that mention moment at all."""
        return [path for path, text in self.texts() if re.search(r"\bmoment\b", text)]

    def carry_out(self, step: str) -> Iterator[tuple[str, int]]:
        """Make the edits of a step, file by file; yield each path and how many lines changed. Raises StuckError."""
        for change in self.migration["steps"][step]:
            before = self.read(change["path"])
            after = self.edited(before, change)
            self.write(change["path"], after)
            yield change["path"], lines_changed(before, after)

    def edited(self, text: str, change: dict[str, Any]) -> str:
        """Return the text with a change made in it. Raises StuckError if a text to replace does not occur
        exactly once.
        """
        for search, replace in change.get("edits", ()):
            if text.count(search) != 1:
                raise StuckError(
                    f"edit_file {change['path']}: found {text.count(search)} times instead of once: {search!r}"
                )
            text = text.replace(search, replace)
        for rule in self.migration["rules"] if change.get("rules") else ():
            text = re.sub(rule["search"], rule["replace"], text)
        return text

    def problems(self, path: str) -> list[Problem]:
        """Return the calls in a file that neither dayjs itself nor a plugin extended in this file provides."""
        text = self.read(path)
        return [
            Problem(path, text.count("\n", 0, match.start()) + 1, f"dayjs.{match[1]}", self.plugin(match[1]))
            for match in re.finditer(r"\bdayjs\.(\w+)\(", text)
            if match[1] not in self.migration["dayjs"]["core"] and not extends(text, self.plugin(match[1]))
        ]

    def plugin(self, name: str) -> str:
        """Return the plugin that provides `dayjs.name`. Raises StuckError if none is known."""
        plugins: dict[str, str] = self.migration["dayjs"]["plugins"]
        if name not in plugins:
            raise StuckError(f"no plugin is known that provides dayjs.{name}")
        return plugins[name]


def lines_changed(before: str, after: str) -> int:
    """Return how many lines of `after` are not in `before`, or the other way round if those are more."""
    old, new = before.splitlines(), after.splitlines()
    return max(len([line for line in new if line not in old]), len([line for line in old if line not in new]))


def extends(text: str, plugin: str) -> bool:
    """Return whether a source file imports a plugin of dayjs and extends dayjs with it."""
    imported = re.search(rf"\bimport (\w+) from '{re.escape(plugin)}'", text)
    return imported is not None and f"dayjs.extend({imported[1]})" in text


class Agent:
    """Works through the migration and reports it: ordinary output for each tool call, a block for each step."""

    def __init__(self, project: Project, words: dict[str, str], pause: float) -> None:
        self.project, self.words, self.pause = project, words, pause
        before = project.calls("moment")
        self.files, self.calls = len(before), sum(before.values())

    def say(self, key: str, **values: object) -> None:
        """Print one of the prepared texts immediately."""
        print(self.words[key].format(**values), flush=True)

    def report(self, block: str, current: str = "", **values: object) -> None:
        """Print a block with the current figures, including the calls in the file `current`; then pause."""
        left = self.project.calls("moment")
        done = f"{self.files - len(left)}/{self.files}"
        values |= {"files": self.files, "calls": self.calls, "left": sum(left.values()), "progress": done}
        self.say(block, here=left.get(current, 0), **values)
        time.sleep(self.pause)

    def read(self, path: str) -> None:
        """Read a file."""
        lines = self.project.read(path).count("\n")
        self.say("read", path=path, lines=lines, calls=self.project.calls("moment").get(path, 0))

    def edit(self, step: str) -> list[Problem]:
        """Make the edits of a step; return the problems found by checking those files."""
        problems = []
        for path, lines in self.project.carry_out(step):
            self.say("edit", path=path, lines=lines)
            found = self.project.problems(path)
            for problem in found:
                self.say("check_failed", **vars(problem))
            problems += found
        return problems

    def edit_well(self, step: str) -> None:
        """Make the edits of a step that must pass the check. Raises StuckError."""
        if problems := self.edit(step):
            raise StuckError(f"{problems[0].path}:{problems[0].line}: {problems[0].call}")

    def migrate(self) -> None:
        """Do the whole task. Raises StuckError if the project is not as expected."""
        self.expect_the_beginning()
        self.explore()
        self.migrate_dates()
        self.migrate_times()
        self.migrate_the_rest()
        self.verify_and_clean_up()
        self.report("FINAL")

    def expect_the_beginning(self) -> None:
        """Raise StuckError unless the project is the one that the prepared edits were made for."""
        start = self.project.migration["start"]
        if (self.files, self.calls) != (start["files"], start["calls"]):
            expected = {f"expected_{key}": value for key, value in start.items()}
            raise StuckError(self.words["not_at_start"].format(files=self.files, calls=self.calls, **expected))

    def explore(self) -> None:
        """C1 and C2: find the calls, read the first file."""
        self.say("scan", files=self.files, calls=self.calls)
        self.report("C1")
        self.read(DATE)
        self.report("C2", DATE)

    def migrate_dates(self) -> None:
        """C3 to C5 and S1: the dependency, then the first file in two steps."""
        self.edit_well("dependency")
        self.report("C3")
        self.edit_well("formatting")
        self.report("C4", DATE)
        self.edit_well("calculation")
        self.report("C5", DATE)
        self.report("S1")

    def migrate_times(self) -> None:
        """C6, the attempt at C7 that fails its check, the RETRY, and C8 with the plugin."""
        self.read(TIME)
        self.edit_well("rows")
        self.report("C6", TIME)
        plugin = self.try_without_plugin()
        self.edit_well("queries_with_plugin")
        self.say("check_passed", path=TIME)
        self.report("C8", TIME, plugin=plugin)

    def try_without_plugin(self) -> str:
        """Edit, find that dayjs lacks a call, report the RETRY, revert the edit; return the plugin to use."""
        before = self.project.read(TIME)
        problems = self.edit("queries")
        if not problems:
            raise StuckError(f"check {TIME}: dayjs.duration should be missing, and is not used")
        self.report("RETRY", "", **vars(problems[0]))
        self.project.write(TIME, before)
        self.say("undo", path=TIME)
        return problems[0].plugin

    def migrate_the_rest(self) -> None:
        """C9, C10 and S2: the components, then all other files."""
        self.say("mutable")
        self.edit_well("components")
        self.report("C9")
        self.say("line_ends")
        self.edit_well("remaining")
        self.report("C10")
        self.report("S2")

    def verify_and_clean_up(self) -> None:
        """C11, C12 and S3: look for what is left, and remove it."""
        counts = {f"{library}_calls": sum(self.project.calls(library).values()) for library in ("moment", "dayjs")}
        self.say("counted", **counts)
        self.report("C11", "", **counts, **self.mentioned())
        self.edit_well("cleanup")
        self.replace_the_note()
        self.report("C12", "", **self.mentioned())
        self.report("S3", "", **counts)

    def mentioned(self) -> dict[str, object]:
        """Look for files that still mention moment: how many, and which."""
        mentions = self.project.mentions()
        self.say("mentions", mentions=" ".join(mentions) or "-")
        return {"mentioned": len(mentions), "mentions": ", ".join(mentions)}

    def replace_the_note(self) -> None:
        """Delete the note on the old library and write one on the new."""
        for path in self.project.migration["cleanup"]["delete"]:
            os.unlink(self.project.at(path))
            self.say("delete", path=path)
        for path, text in self.project.migration["cleanup"]["create"].items():
            self.project.write(path, text)
            self.say("create", path=path, lines=text.count("\n"))


def toml(path: Path) -> dict[str, Any]:
    """Read a file of prepared texts or edits."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def main(argv: list[str] | None = None) -> int:
    """Run the agent in the current directory; return its exit status."""
    parser = argparse.ArgumentParser(description="Migrates the project of `gitckpt demo` from moment to dayjs.")
    parser.add_argument("--lang", choices=("zh", "en"), default="zh", help="the language that it reports in")
    parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="after each block, for watching")
    options = parser.parse_args(argv)
    try:
        project = Project(".", toml(HERE / "migration.toml"))
        Agent(project, toml(HERE / "words" / f"{options.lang}.toml"), options.pause).migrate()
    except (StuckError, OSError, UnicodeError) as error:
        print(f"agent: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # the text is Chinese whatever the locale is
    raise SystemExit(main())
