"""Every command that writes, interrupted at each of its calls of git in every way: nothing on record is lost, nothing is
listed that is not whole, the next command says what happened, and both ways out lead exactly where they should.

A command is a row of COMMANDS. What is in WAYS is done to it, at one call for every run and at each for the slow one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from commandline import Answer, Place, checkpoint, retry
from interruptions import SURVIVED, WAYS, Picture, events, interrupted, picture, unfinished


class Writing(NamedTuple):
    """A command that writes: its words, its input, or what makes it in a place, and what comes before it. `goes_back`
    if it writes the work tree."""

    args: tuple[str, ...]
    stdin: str | Callable[[Place], str] = ""
    before: tuple[tuple[str, ...], ...] = ()
    goes_back: bool = True
    begun: bool = False

    def given(self, place: Place) -> str:
        """Its input there."""
        return self.stdin if isinstance(self.stdin, str) else self.stdin(place)


def calling(name: str, **arguments: object) -> str:
    """A conversation with `gitckpt mcp` in which one tool is called."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": client}, {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
    ]  # fmt: skip
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


def applying_the_plan(place: Place) -> str:
    """The call that carries out a rollback, by the hash of its plan."""
    return calling("rollback", to="C1", apply=place.json("rollback", "C1", "--dry-run")["hash"])


STATE = {"goal": "g", "facts": [{"text": "t", "source": "a.txt:1"}], "done": ["one"], "todo": ["two"]}
AGENT = f"cat <<'EOF'\n{checkpoint('4')}EOF\n"
ALL = ("rollback", "C1", "--scope", "all", "--yes")

COMMANDS = {
    "record": Writing(("record",), checkpoint("4"), goes_back=False),
    "record RETRY": Writing(("record",), retry("1")),
    "save": Writing(("save", "-m", "by hand"), goes_back=False),
    "wrap": Writing(("wrap", "--", "sh", "-c", AGENT), goes_back=False),
    "retry": Writing(("retry", "C1", "--reason", "r", "--strategy", "s")),
    "rollback files": Writing(("rollback", "C1", "--scope", "files")),
    "rollback staged": Writing(("rollback", "C1")),
    "rollback all": Writing(ALL),
    "rollback hint": Writing(("rollback", "C2", "--hint", "--yes")),
    "rollback path": Writing(("rollback", "C1", "--path", "a.txt", "--path", "src")),
    "undo": Writing(("undo",), before=(ALL,)),
    "redo": Writing(("redo",), before=(ALL, ("undo",))),
    "pick": Writing(("pick", "1", "--yes"), before=(("fork", "C1", "-n", "1", "--", "sh", "-c", "echo 1 >a.txt"),)),
    "mcp checkpoint": Writing(("mcp",), calling("checkpoint", **STATE), goes_back=False),
    "mcp rollback": Writing(("mcp",), applying_the_plan),
    "continue": Writing(("rollback", "--continue"), begun=True),
    "abort": Writing(("rollback", "--abort"), begun=True),
}  # fmt: skip


class Scene(NamedTuple):
    """A place where a command is to be given; where it starts from, where it leads, and how often it calls git.

    `origin` is what taking it back leads to, `target` what finishing it does: for the end of an interrupted rollback
    these are the rollback's.
    """

    place: Place
    command: Writing
    origin: Picture
    target: Picture
    now: Picture
    then: Picture
    calls: int


Stage = Callable[[str], Scene]


@pytest.fixture(scope="session")
def worked(template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two checkpoints, with work in between that touches everything there is, and more since."""
    place = template_place.copy(tmp_path_factory.mktemp("worked") / "work")
    place.write("a.txt", "staged at C1\n")
    place.git("add", "a.txt")
    place.write("a.txt", "edited at C1\n")
    place.write("secret", "x", 0o600)
    (place.path / "empty").mkdir()
    place.ok("record", "--session", "run", stdin=checkpoint("1"))
    (place.path / "secret").unlink()
    (place.path / "empty").rmdir()
    place.write("new/file", "x", 0o600)
    (place.path / "link").symlink_to("nowhere")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "later")
    place.write("src/b.txt", "edited at C2\n")
    place.ok("record", stdin=checkpoint("2", hint="git checkout a.txt"))
    place.write("a.txt", "by hand\n")
    place.write("kept.log", "ignored\n")
    return place


@pytest.fixture(scope="session")
def stage(worked: Place, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Scenes, each made when it is first asked for."""
    scenes: dict[str, Scene] = {}

    def make(name: str) -> Scene:
        if name not in scenes:
            scenes[name] = _scene(worked, COMMANDS[name], tmp_path_factory.mktemp("scene"))
        return scenes[name]

    return make


def _scene(worked: Place, command: Writing, directory: Path) -> Scene:
    place = worked.copy(directory / "work")
    for args in command.before:
        place.ok(*args)
    origin = picture(place)
    if command.begun:
        begin(place)
    rehearsal, finished = place.copy(directory / "rehearsal" / "work"), place.copy(directory / "finished" / "work")
    answer, calls = interrupted(rehearsal, 0, "", *command.args, stdin=command.given(rehearsal))
    assert answer.status == 0, answer
    last = ("rollback", "--continue") if command.begun else command.args
    finished.ok(*last, stdin=command.given(finished))
    return Scene(place, command, origin, picture(finished), picture(place), picture(rehearsal), calls)


def begin(place: Place) -> None:
    """A rollback that is killed when the files are written and nothing else is."""
    script = 'case " $* " in *" read-tree -m -u "*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac'
    assert place.run(*ALL, env=place.before_git(script)).status == -9
    assert place.json("status")["interrupted"] == "rollback to run/C1"


def check(scene: Scene, here: Path, at: int, how: str, *, abort: bool) -> None:
    """Interrupt the command, and see that all is well."""
    place = scene.place.copy(here / "work")
    known = {event["commit"] for event in events(place)}
    answer, _ = interrupted(place, at, how, *scene.command.args, stdin=scene.command.given(place))
    found = events(place)
    assert known <= {event["commit"] for event in found}
    check_told(answer, how, found)
    if scene.command.goes_back:
        check_ways_out(place, scene, abort=abort)
    else:
        assert picture(place) == scene.now
    check_next(place)


def check_told(answer: Answer, how: str, found: list[dict[str, object]]) -> None:
    """A command that lived says what went wrong; what was said to be recorded is on record."""
    assert "Traceback" not in answer.err
    if answer.status not in (0, -9):
        assert how in SURVIVED
        assert answer.status in (1, 3, 4, 5)
        assert "gitckpt: " in answer.err
    if "recorded C4" in answer.err + answer.out:
        assert "C4" in [event["id"] for event in found]


def check_ways_out(place: Place, scene: Scene, *, abort: bool) -> None:
    """It has not begun, or is done and can be undone, or can be finished and can be taken back."""
    begun = place.json("status")["interrupted"]
    if begun:
        place.ok("rollback", "--abort" if abort else "--continue")
        assert picture(place) == (scene.origin if abort or begun.startswith("abort") else scene.target)
        assert place.json("status")["interrupted"] is None
    else:
        assert picture(place) in (scene.now, scene.then)


def check_next(place: Place) -> None:
    """The next command works, holds all, and leaves nothing unfinished."""
    place.ok("record", stdin=checkpoint("9"))
    assert place.ok("diff", "C9") == (0, b"", "")
    assert unfinished(place) == []


#: One for each run: the command, in which part of its calls, and how.
SAMPLE = (
    ("rollback all", 0.8, "during", True),
    ("undo", 0.9, "outlived", False),
    ("continue", 0.6, "locked", True),
    ("abort", 0.95, "after", False),
    ("wrap", 0.5, "before", False),
    ("record", 0.7, "killed", False),
    ("rollback hint", 0.75, "full", True),
)


@pytest.mark.parametrize(("name", "part", "how", "abort"), SAMPLE)
def test_a_command_is_interrupted(stage: Stage, tmp_path: Path, name: str, part: float, how: str, abort: bool) -> None:
    scene = stage(name)
    check(scene, tmp_path, int(part * scene.calls), how, abort=abort)


@pytest.mark.slow
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_interrupted_at_each_of_its_calls(stage: Stage, tmp_path: Path, name: str, how: str) -> None:
    scene = stage(name)
    for at in range(1, scene.calls + 1):
        try:
            check(scene, tmp_path / str(at), at, how, abort=(at + WAYS.index(how)) % 2 == 0)
        except AssertionError as error:
            error.add_note(f"{name}, {how} call {at} of {scene.calls}")
            raise
        shutil.rmtree(tmp_path / str(at), ignore_errors=True)  # a git that outlived gitckpt may still write there
