"""The setting for interrupting commands that write outside the work tree: everything they reach, in one directory that
is copied for each try.

`work` is the user's repository, with sessions `old` and `run`; `other` is a clone without any; `server.git` is the
origin of both; `home` is the user's home directory."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

from commandline import HANG, Answer, Bytes, Place, checkpoint
from interruptions import SHIM, unfinished

#: A client's configuration as written by the user.
SETTINGS = '{"theme":"dark",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}'

#: Scratch directories, by name.
ROOM = re.compile(r"gitckpt-[a-z]+-\d+-")

#: Files that Python writes to test a directory, left because it was killed before removing them.
TRIED = re.compile(r"[a-z0-9_]{8}$")


class Ground:
    """One such directory, `top`."""

    def __init__(self, top: Path, like: Place) -> None:
        self.top, self._like = top, like
        self.place, self.other = self._place("work"), self._place("other")
        self.server = self._place("server.git")

    def _place(self, name: str) -> Place:
        env = self._like.env | {"HOME": str(self.top / "home"), "TMPDIR": str(self.top / "tmp")}
        return Place(self.top / name, env, self._like.zygote)

    def copy(self, top: Path) -> Ground:
        """Copy the directory to another path."""
        shutil.copytree(self.top, top, symlinks=True)
        return Ground(top, self._like)

    # -- what is there

    def files(self, name: str) -> Bytes:
        """Return all files of a directory, byte for byte."""
        return Place(self.top / name, {}, self._like.zygote).bytes()

    def commits(self, place: Place | None = None) -> set[str]:
        """Return all events on record in a place; each must be readable."""
        found = (place or self.place).json("log", "--all")["events"]
        assert all(event["kind"] != "unreadable" for event in found)
        return {event["commit"] for event in found}

    def left(self) -> list[str]:
        """Return leftovers: locks, copies, scratch directories, work trees, processes."""
        found = [*unfinished(self.place), *unfinished(self.other), *_unfinished_in(self.server.path)]
        trees = self.place.git("worktree", "list", "--porcelain").split("\n\n")[1:]
        linked = self.place.path / ".git" / "worktrees"
        attempts = self.place.path / ".git" / "gitckpt-attempts"
        found += [*trees, *(str(path) for path in linked.glob("*"))]
        found += [str(path) for path in attempts.glob("*") if path.suffix != ".output"]
        return found + [
            str(path) for path in (self.top / "tmp").iterdir() if not (ROOM.match(path.name) or TRIED.match(path.name))
        ]

    def rooms(self) -> list[str]:
        """Return the scratch directories; those left by a killed process are removed a day later."""
        return [path.name for path in (self.top / "tmp").iterdir() if ROOM.match(path.name)]

    # -- what happens there

    def mend(self) -> list[str]:
        """Carry out and return doctor's advice on leftover attempts."""
        if not (self.place.path / ".git" / "gitckpt-attempts").exists():
            return []
        checks = self.place.run("doctor", "--json").json["checks"]
        told = [check["help"] for check in checks if check["check"] == "attempts"]
        if told:
            assert told[0].startswith("gitckpt fork --clean")
            self.place.ok("fork", "--clean")
        return told

    def interrupted_at_call(self, place: Place, at: int, how: str, run: Any) -> tuple[Answer, int]:
        """Return the answer of `run(env)`, interrupted at its n-th call of git, and how many calls there were."""
        calls = self.top / "calls"
        calls.mkdir()
        answer = run(place.before_git(SHIM) | {"CALLS": str(calls), "AT": str(at), "HOW": how}, {})
        count = len(list(calls.iterdir()))
        shutil.rmtree(calls)
        return answer, count

    def interrupted_at_change(self, at: int, how: str, run: Any) -> tuple[Answer, int]:
        """Do the same at the n-th change of files by the command itself."""
        count = self.top / "count"
        fault = {"at": at, "how": how, "below": str(self.top) + "/", "count": str(count)}
        answer = run({}, {"fault": fault})
        found = int(count.read_text() or 0)
        count.unlink()
        return answer, found


def _unfinished_in(server: Path) -> list[str]:
    """Return what an interrupted push has left, after giving the server time to notice."""
    deadline = time.monotonic() + HANG
    while (found := _leftovers(server)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _leftovers(server: Path) -> list[str]:
    quarantines = [*server.glob("objects/incoming-*"), *server.glob("objects/tmp_objdir*")]
    return [str(path) for path in (*quarantines, *server.rglob("*.lock"))]


def build(ground: Ground) -> None:
    """Create the contents of the directory."""
    place, top = ground.place, ground.top
    (top / "tmp").mkdir()
    (top / "home" / ".claude").mkdir(parents=True)
    (top / "home" / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    (top / "home" / ".claude" / "settings.json").write_text(SETTINGS)
    place.git("clone", "-q", "--bare", "--no-local", ".", str(top / "server.git"))
    place.git("remote", "add", "origin", "../server.git")
    place.git("clone", "-q", "--no-local", str(top / "server.git"), str(top / "other"))
    ground.other.git("remote", "set-url", "origin", "../server.git")
    ground.other.git("config", "gitckpt.durable", "false")
    for number in (1, 2):
        place.write("old.txt", f"old at C{number}\n")
        place.ok("record", "--session", "old", stdin=checkpoint(str(number)))
    for number in (1, 2, 3):
        place.write("a.txt", f"a at C{number}\n")
        place.write(f"new{number}.txt", f"new at C{number}\n")
        place.ok("record", "--session", "run", stdin=checkpoint(str(number), f"step {number}"))
    place.write("a.txt", "staged\n")
    place.git("add", "a.txt")
    place.write("a.txt", "by hand\n")
    place.write("kept.log", "ignored\n")


def transcript(ground: Ground) -> str:
    """Return the payload of a client's hook, after writing the session file that it names, with one block in it."""
    file = ground.top / "session.jsonl"
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": checkpoint("4")}]}}
    file.write_text(json.dumps(said) + "\n")
    payload = {"session_id": "s", "transcript_path": str(file), "cwd": str(ground.place.path)}
    return json.dumps(payload)
