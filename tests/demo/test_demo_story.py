"""The story's own checks: they hold for a recorder that keeps its promises, and name what one that does not got wrong.

The recorder here is made of a few plain git commands, so that each way of going wrong can be built into it on purpose.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gitckpt.demo import agent
from gitckpt.demo.story import run_demo
from gitckpt.errors import Refused

TIME = "src/api/time.ts"


class PlainRecorder:
    """Does what the story asks of gitckpt: a snapshot at C6, an exact rollback, and an undo."""

    def __init__(self, watched: type) -> None:
        self.watched = watched
        self.asked: list[str] = []
        self.before = ""

    def __call__(self, argv: list[str], cwd: str) -> int:
        self.root = Path(cwd)
        self.asked.append(" ".join(argv[:2] if argv[0] == "wrap" else argv))
        if argv[0] == "wrap":
            self.wrap(argv[argv.index("--lang") + 1])
        elif "--hint" in argv:
            self.before = self.snapshot()
            self.roll_back_by_hint()
        elif argv[0] == "rollback" and "--yes" in argv:
            self.before = self.snapshot()
            self.roll_back("refs/gitckpt/s/tags/C6")
        elif argv[0] == "undo":
            self.undo()
        return 0

    def git(self, *arguments: str) -> str:
        environment = os.environ | {"GIT_INDEX_FILE": str(self.root / ".git" / "recorder")}
        command = ["git", "-c", "user.name=r", "-c", "user.email=r", *arguments]
        return subprocess.run(
            command, cwd=self.root, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def snapshot(self) -> str:
        self.git("add", "--all")
        return self.git("commit-tree", "-m", "snapshot", self.git("write-tree"))

    def wrap(self, lang: str) -> None:
        def record(key: str, text: str) -> None:
            if key == "C6":
                self.git("update-ref", "refs/gitckpt/s/tags/C6", self.snapshot())

        self.watched(self.root, record, lang).migrate()

    def roll_back(self, target: str) -> None:
        self.git("read-tree", target)
        self.git("checkout-index", "--all", "--force")
        self.git("clean", "--force", "-d")

    def roll_back_by_hint(self) -> None:
        self.git("checkout", "refs/gitckpt/s/tags/C6", "--", TIME)

    def undo(self) -> None:
        self.roll_back(self.before)


def tell(directory: Path, recorder: PlainRecorder, lang: str = "zh") -> tuple[int, list[str]]:
    """The story's exit status, and all it said, line by line."""
    said: list[str] = []
    status = run_demo(directory, recorder, said.append, lang=lang, pause=0)
    return status, "\n".join(said).splitlines()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_whole_story(tmp_path: Path, watched: type, lang: str) -> None:
    recorder = PlainRecorder(watched)
    directory = tmp_path / "a demo"
    status, said = tell(directory, recorder, lang)
    assert status == 0
    assert recorder.asked == [
        "wrap --",
        "log --graph",
        "diff C2 C6 --stat",
        "rollback C6 --dry-run",
        "rollback C6 --yes",
        "undo",
        "rollback --hint C8 --yes",
        "undo",
    ]
    assert (
        said
        == f"""\
A small TypeScript project in {directory}: 12 files use moment, in 47 calls.
You have an edit in README.md, a new notes.txt, and a .env that git ignores. All of it must survive.

An agent migrates it to dayjs: it really edits the files, and gitckpt records each step.

$ gitckpt wrap -- python agent.py

What was recorded. The RETRY opened a line of its own; the failed attempt stays beside it.

$ gitckpt log --graph

What changed between two steps:

$ gitckpt diff C2 C6 --stat

You have added a line to notes.txt since. Now back to C6. First, what that would do:

$ gitckpt rollback C6 --dry-run
Checked: the dry run changed nothing.

$ gitckpt rollback C6 --yes
Checked: all 27 files are as at C6, byte for byte, and what git ignores is as it was.

Your new line in notes.txt is gone as well, for C6 does not have it. It is not lost:

$ gitckpt undo
Checked: all 28 files are as before the rollback.

Each step says itself how to take it back. The hint of C8: back to C6, git checkout src/api/time.ts

$ gitckpt rollback --hint C8 --yes
Checked: src/api/time.ts alone is as at C6.

$ gitckpt undo
Checked: all 28 files are as before the rollback.
Checked: your commits, branches and staging area are as they were.

Everything was checked, and holds. The repository stays in {directory}, to play with:

  cd '{directory}'
  gitckpt show C8          one step: what was done, what comes next, which files
  gitckpt diff C6 C8       how the plugin came in
  gitckpt rollback C9      back to any step
  gitckpt undo             takes that back
  git log --all --oneline  the checkpoints are ordinary commits, beside your own

Delete the directory when you are done. Nothing else was written.""".splitlines()
    )
    assert (directory / "notes.txt").read_text("utf-8").endswith("- written after the agent had finished\n")


class DoesNothing(PlainRecorder):
    def roll_back(self, target: str) -> None:
        pass


class KeepsNewFiles(PlainRecorder):
    def roll_back(self, target: str) -> None:
        self.git("read-tree", target)
        self.git("checkout-index", "--all", "--force")


class ReachesIgnoredFiles(PlainRecorder):
    def roll_back(self, target: str) -> None:
        super().roll_back(target)
        (self.root / ".env").unlink(missing_ok=True)


class ForgetsTheMode(PlainRecorder):
    def undo(self) -> None:
        super().undo()
        (self.root / "scripts/release.sh").chmod(0o644)


class BendsLineEnds(PlainRecorder):
    def undo(self) -> None:
        super().undo()
        report = self.root / "src/legacy/report.js"
        report.write_bytes(report.read_bytes().replace(b"\r\n", b"\n"))


class RestoresTooMuch(PlainRecorder):
    def roll_back_by_hint(self) -> None:
        self.roll_back("refs/gitckpt/s/tags/C6")


class Stages(PlainRecorder):
    def undo(self) -> None:
        super().undo()
        subprocess.run(["git", "add", "README.md"], cwd=self.root, check=True)


class DryRunIsWet(PlainRecorder):
    def __call__(self, argv: list[str], cwd: str) -> int:
        if "--dry-run" in argv:
            (self.root / "notes.txt").unlink()
        return super().__call__(argv, cwd)


@pytest.mark.parametrize(
    ("recorder", "named"),
    [
        (DoesNothing, ["docs/why-dayjs.md: should not be there", "docs/why-moment.md: is missing"]),
        (KeepsNewFiles, ["docs/why-dayjs.md: should not be there"]),
        (ReachesIgnoredFiles, [".env: is missing"]),
        (ForgetsTheMode, ["scripts/release.sh: has mode 100644, not 100755"]),
        (BendsLineEnds, ["src/legacy/report.js: has other bytes"]),
        (RestoresTooMuch, ["docs/why-moment.md: should not be there", "notes.txt: has other bytes"]),
        (Stages, ["git status and git log show something else"]),
        (DryRunIsWet, ["notes.txt: is missing"]),
    ],
)  # fmt: skip
def test_a_recorder_that_breaks_its_promise_is_found_out(
    tmp_path: Path, watched: type, recorder: type[PlainRecorder], named: list[str]
) -> None:
    status, said = tell(tmp_path / "demo", recorder(watched))
    assert status == 1
    assert [line for line in named if f"  {line}" not in said] == []
    failed = [line for line in said if line.startswith("FAILED: ")]
    assert f"{len(failed)} of the steps above failed. The repository stays in {tmp_path}/demo, to play with:" in said


def test_an_agent_that_was_not_recorded_ends_the_story(tmp_path: Path) -> None:
    asked: list[str] = []

    def run(argv: list[str], cwd: str) -> int:
        asked.append(argv[0])
        return 0

    said: list[str] = []
    assert run_demo(tmp_path / "demo", run, said.append) == 1
    assert asked == ["wrap", "log", "diff"]
    assert "FAILED: there should be one tag refs/gitckpt/<session>/tags/C6, and there are 0" in said


def test_a_command_that_fails_is_told_and_counts(tmp_path: Path, watched: type) -> None:
    class CannotLog(PlainRecorder):
        def __call__(self, argv: list[str], cwd: str) -> int:
            return super().__call__(argv, cwd) or (4 if argv[0] == "log" else 0)

    status, said = tell(tmp_path / "demo", CannotLog(watched))
    assert status == 1
    assert [line for line in said if "FAILED" in line] == ["FAILED: that command ended with exit status 4"]


def test_a_directory_with_something_in_it_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="is not empty"):
        run_demo(tmp_path, lambda argv, cwd: pytest.fail(f"ran {argv}"), print)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_the_agent_is_run_as_a_process_of_its_own(tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def run(argv: list[str], cwd: str) -> int:
        if argv[0] == "wrap":
            commands.append(argv)
            return subprocess.run(argv[2:], cwd=cwd, check=False, capture_output=True).returncode
        return 0

    run_demo(tmp_path / "demo", run, lambda text: None, lang="en", pause=0)
    assert commands[0][3:] == [agent.__file__, "--lang", "en", "--pause", "0"]
    assert (tmp_path / "demo/docs/why-dayjs.md").exists()
