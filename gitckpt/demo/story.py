"""The story that `gitckpt demo` tells: an agent works, something is rolled back, undone, and every byte is checked.

The commands are real gitckpt command lines; the checks are made here, from the files on disk and plain git.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from typing import Final

from gitckpt.demo import agent
from gitckpt.demo.picture import Picture, commits_and_index, differences, ignored, in_checkpoint, on_disk
from gitckpt.demo.project import create_project
from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.gateway import Git

#: Seconds that the agent waits after each block: less than any real agent, more than a recorder needs for a snapshot.
PAUSE: Final = 0.3

NOTE: Final = "- written after the agent had finished\n"

Run = Callable[[list[str], str], int]
Say = Callable[[str], None]


class Demo:
    """One run of the story in one directory. `failures` counts the commands and checks that failed."""

    def __init__(self, directory: str, run: Run, say: Say) -> None:
        self.directory, self.run, self.say = directory, run, say
        self.git = Git(os.fsencode(directory))
        self.failures = 0
        self.own = commits_and_index(self.git)

    def command(self, *words: str, shown: str = "") -> None:
        """Show a gitckpt command line and run it."""
        self.say(f"\n$ gitckpt {shown or shlex.join(words)}")
        status = self.run(list(words), self.directory)
        if status:
            self.failures += 1
            self.say(f"FAILED: that command ended with exit status {status}")

    def check(self, claim: str, wrong: list[str]) -> None:
        """Report whether a claim holds: it does if nothing is wrong."""
        self.failures += bool(wrong)
        self.say(f"FAILED: {claim}, but:\n  " + "\n  ".join(wrong) if wrong else f"Checked: {claim}.")

    def checkpoint(self, id: str) -> Picture:
        """Return what the checkpoint with this id holds, read by plain git. Raises Damaged if there is none."""
        refs = self.git.text("for-each-ref", "--format=%(refname)", f"refs/gitckpt/*/tags/{id}").split()
        if len(refs) != 1:
            raise Damaged(f"there should be one tag refs/gitckpt/<session>/tags/{id}, and there are {len(refs)}")
        return in_checkpoint(self.git, refs[0])

    def let_the_agent_work(self, lang: str, pause: float) -> None:
        """Record the scripted agent, then show what it did."""
        script = [sys.executable, agent.__file__, "--lang", lang, "--pause", str(pause)]
        self.say("\nAn agent migrates it to dayjs: it really edits the files, and gitckpt records each step.")
        self.command("wrap", "--", *script, shown="wrap -- python agent.py")
        self.say("\nWhat was recorded. The RETRY opened a line of its own; the failed attempt stays beside it.")
        self.command("log", "--graph")
        self.say("\nWhat changed between two steps:")
        self.command("diff", "C2", "C6", "--stat")

    def roll_back(self) -> None:
        """Roll back to C6 and undo it, with a note written by the user in between."""
        with open(os.path.join(self.directory, "notes.txt"), "a", encoding="utf-8") as notes:
            notes.write(NOTE)
        before, target = on_disk(self.directory), self.checkpoint("C6")
        kept = {path: before[path] for path in ignored(self.git)}
        self.say("\nYou have added a line to notes.txt since. Now back to C6. First, what that would do:")
        self.command("rollback", "C6", "--dry-run")
        self.check("the dry run changed nothing", differences(before, on_disk(self.directory)))
        self.command("rollback", "C6", "--yes")
        claim = f"all {len(target)} files are as at C6, byte for byte, and what git ignores is as it was"
        self.check(claim, differences(target | kept, on_disk(self.directory)))
        self.say("\nYour new line in notes.txt is gone as well, for C6 does not have it. It is not lost:")
        self.undo(before)

    def roll_back_by_hint(self) -> None:
        """Do what the rollback_hint of C8 says, for one file, and undo it."""
        before = on_disk(self.directory)
        path = os.fsencode(agent.TIME)
        expected = before | {path: self.checkpoint("C6")[path]}
        self.say(f"\nEach step says itself how to take it back. The hint of C8: back to C6, git checkout {agent.TIME}")
        self.command("rollback", "--hint", "C8", "--yes")
        self.check(f"{agent.TIME} alone is as at C6", differences(expected, on_disk(self.directory)))
        self.undo(before)

    def undo(self, before: Picture) -> None:
        """Undo the last rollback."""
        self.command("undo")
        self.check(f"all {len(before)} files are as before the rollback", differences(before, on_disk(self.directory)))

    def look_at_the_repository(self) -> None:
        """Compare the repository at the beginning with the repository now."""
        wrong = ["git status and git log show something else"] if commits_and_index(self.git) != self.own else []
        self.check("your commits, branches and staging area are as they were", wrong)


def run_demo(
    directory: str | os.PathLike[str],
    run: Run,
    say: Say,
    *,
    lang: str = "zh",
    pause: float = PAUSE,
    program: str = "gitckpt",
) -> int:
    """Tell the whole story in `directory`, which must be new or empty; return 0, or 1 if any command or check failed.

    `run(argv, cwd)` runs one gitckpt command line (without the word gitckpt) with its output shown, and returns its
    exit status; `say(text)` shows a piece of the story. The agent reports in `lang` (`zh` or `en`) and waits `pause`
    seconds after each block. `program` is what the user types for gitckpt.

    Raises Refused if the directory is not empty or cannot be written.
    """
    where = os.path.abspath(directory)
    create_project(where)
    demo = Demo(where, run, say)
    say(f"A small TypeScript project in {where}: 12 files use moment, in 47 calls.")
    say("You have an edit in README.md, a new notes.txt, and a .env that git ignores. All of it must survive.")
    try:
        demo.let_the_agent_work(lang, pause)
        demo.roll_back()
        demo.roll_back_by_hint()
        demo.look_at_the_repository()
    except (Damaged, GitFailed) as error:
        demo.failures += 1
        say(f"FAILED: {error}")
    say(closing(where, demo.failures, program))
    return 1 if demo.failures else 0


def closing(where: str, failures: int, program: str = "gitckpt") -> str:
    """Return what to try next, and where."""
    result = f"{failures} of the steps above failed." if failures else "Everything was checked, and holds."
    tries = (
        (f"{program} show C8", "one step: what was done, what comes next, which files"),
        (f"{program} diff C6 C8", "how the plugin came in"),
        (f"{program} rollback C9", "back to any step"),
        (f"{program} undo", "takes that back"),
        ("git log --all --oneline", "the checkpoints are ordinary commits, beside your own"),
    )
    column = max(len(command) for command, _ in tries) + 2
    listed = "\n".join(f"  {command:<{column}}{meaning}" for command, meaning in tries)
    return f"""
{result} The repository stays in {where}, to play with:

  cd {shlex.quote(where)}
{listed}

Delete the directory when you are done. Nothing else was written."""
