"""Every command that writes elsewhere than in the work tree alone - refs, a server, work trees of attempts, scratch
directories, a client's configuration, packs - interrupted at each of its calls of git and at each change of files by its
own hand: what is the user's is as it was, nothing on record is lost, the same command given again ends where it would
have ended, and nothing is left behind.

A command is a row of COMMANDS. A few interruptions are part of every run, all of them of the slow one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commandline import HANG, Answer, Place, checkpoint
from grounds import Ground, build, transcript
from interruptions import SURVIVED, WAYS, Picture, picture
from scripted import FINAL, Message, Scripted, Turn, call, save

#: How a change of files ends: gitckpt is killed before it; it finds no room.
ENDS_OF_CHANGES = ("dies", "no room")

AGENT = f"cat <<'EOF'\n{checkpoint('4')}EOF\n"


def nothing(ground: Ground) -> None:
    pass


class Elsewhere(NamedTuple):
    """A command: its words, what stands before it, its input, and where it leads (`end`: what is compared with an
    uninterrupted one). `at` is where it is given; `changes_files` if it also writes the work tree; `drops` the session
    that goes; `each` is done in every copy, where paths are on record; `silent` if its exit status tells nothing; `done_already` what it says when given again after it was done."""

    args: tuple[str, ...]
    end: Callable[[Ground], object]
    before: Callable[[Ground], None] = nothing
    stdin: Callable[[Ground], str] = lambda ground: ""
    env: Mapping[str, str] = {}
    at: str = "work"
    changes_files: bool = False
    drops: str = ""
    each: Callable[[Ground], None] = nothing
    silent: bool = False
    done_already: str = "\0"


# -- where they lead


def refs(place: Place, *prefixes: str) -> str:
    return place.git("for-each-ref", "--format=%(refname) %(objectname)", *(prefixes or ("refs/gitckpt",)))


def on_server(ground: Ground) -> object:
    ground.server.git("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    return refs(ground.server)


def in_other(ground: Ground) -> object:
    return refs(ground.other, "refs/gitckpt", "refs/heads", "refs/tags"), len(ground.commits(ground.other))


def attempts(ground: Ground) -> object:
    """The newest fork's."""
    rows = ground.place.json("fork", "--list")["attempts"]
    newest = rows[-1]["session"].rpartition("-")[0]
    return [(row["number"], row["status"], row["files"]) for row in rows if row["session"].startswith(newest)]


def promoted(ground: Ground) -> object:
    rows = ground.place.git("log", "--format=%T %s", "promoted/run-C3", "--not", "main")
    return rows, ground.place.git("rev-parse", "main")


def sessions(ground: Ground) -> object:
    return sorted(session["id"] for session in ground.place.json("sessions", "--all")["sessions"])


def told_checkpoints(ground: Ground) -> object:
    """How often each checkpoint of a session that is not `old` or `run` is on record."""
    return sorted(event["id"] for event in events(ground) if event["kind"] == "checkpoint")


def events(ground: Ground) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ground.place.json("log", "--all")["events"]
    return found


def made(ground: Ground) -> object:
    newest = [event for event in events(ground) if event["kind"] != "auto"][-1]
    return ground.place.read("made.txt"), newest["kind"], newest.get("agent", {}).get("outcome")


def last_block(ground: Ground) -> object:
    found = [event for event in events(ground) if event["id"] == "C4"]
    assert found
    return ground.place.ok("show", found[-1]["ref"], "--path", "a.txt").out


def home(ground: Ground) -> object:
    found = ground.files("home"), ground.files("work")
    return [{name: row for name, row in files.items() if ".local" not in name} for files in found]


def home_in_and_out(ground: Ground) -> object:
    """What is configured, and what is there when that is taken out again."""
    configured = re.sub(str(ground.top), "TOP", str(home(ground)))
    ground.place.ok("init", "--agent", "claude-code", "--remove")
    return configured, re.sub(str(ground.top), "TOP", str(home(ground)))


def hooks(ground: Ground) -> object:
    found = {path.name: path.read_bytes() for path in (ground.place.path / ".git" / "hooks").iterdir()}
    ground.place.ok("init", "--remove")
    return found, {path.name: path.read_bytes() for path in (ground.place.path / ".git" / "hooks").iterdir()}


def packs(ground: Ground) -> object:
    rows = dict(row.split(": ") for row in ground.place.git("count-objects", "-v").splitlines())
    return rows["packs"], int(rows["count"]) < 40, rows["garbage"], refs(ground.place)


# -- what stands before them


def more_to_send(ground: Ground) -> None:
    """The server has an older state of the session."""
    ground.place.ok("push")
    ground.place.ok("record", stdin=checkpoint("1", "again") + checkpoint("4"))


def on_the_server(ground: Ground) -> None:
    ground.place.ok("push", "--all")


def own_hook(ground: Ground) -> None:
    ground.place.write(".git/hooks/commit-msg", "#!/bin/sh\nexit 0\n", 0o755)


def hooked(ground: Ground) -> None:
    own_hook(ground)
    ground.place.ok("init", "--hooks")


def configured(ground: Ground) -> None:
    ground.place.ok("init", "--agent", "claude-code")


def many(ground: Ground) -> None:
    """As many loose objects and refs as are packed."""
    ground.place.git("config", "gitckpt.pack", "false")
    ground.place.ok("record", stdin="".join(checkpoint(str(number)) for number in range(10, 64)))


# -- what they are given


def hook(name: str, **more: Any) -> Callable[[Ground], str]:
    return lambda ground: json.dumps(json.loads(transcript(ground)) | {"hook_event_name": name, **more})


def model(messages: list[Message]) -> Turn:
    """A model that goes by what it is told was done."""
    said = json.dumps(messages[1:])
    if "finished the work" in said:
        return FINAL
    if "made.txt is written" in said:
        return save(["finished the work"], [])
    if "begun" in said:
        return call("write_file", path="made.txt", content="made\n")
    return save(["begun"], ["write made.txt"])


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Scripted]:
    with Scripted(model) as server:
        yield server


FORK = ("fork", "run/C2", "-n", "1", "--", "sh", "-c", f"echo {{n}} >out.txt; {AGENT}")
RUN = ("--task", "write the file", "--model", "m", "--max-turns", "9")
PACK = ("pack",)

COMMANDS = {
    "push": Elsewhere(("push",), on_server),
    "push more": Elsewhere(("push", "--all"), on_server, more_to_send),
    "fetch": Elsewhere(("fetch",), in_other, on_the_server, at="other"),
    "fork": Elsewhere(FORK, attempts),
    "promote": Elsewhere(("promote", "run/C3"), promoted, done_already="there is a branch promoted/run-C3"),
    "prune": Elsewhere(("prune", "--session", "old", "--yes"), sessions, drops="old", done_already="no session 'old'"),
    "bisect": Elsewhere(("bisect", "run/C1", "run/C3", "--", "sh", "-c", "! test -e new3.txt"), nothing),
    "run": Elsewhere(("run", *RUN), made, changes_files=True),
    "resume": Elsewhere(("resume", "--", "sh", "-c", AGENT), last_block),
    "hook tool": Elsewhere(
        ("hook", "claude-code"), told_checkpoints,
        stdin=hook("PreToolUse", tool_name="Write", tool_use_id="call_1", tool_input={}), silent=True,
    ),
    "hook stop": Elsewhere(
        ("hook", "claude-code"), told_checkpoints, stdin=hook("Stop", stop_hook_active=False), silent=True
    ),
    "init agent": Elsewhere(("init", "--agent", "claude-code"), home_in_and_out, changes_files=True),
    "init agent remove": Elsewhere(
        ("init", "--agent", "claude-code", "--remove"), home, each=configured, changes_files=True
    ),
    "init hooks": Elsewhere(("init", "--hooks"), hooks, own_hook),
    "init hooks remove": Elsewhere(("init", "--remove"), hooks, hooked),
    "pack": Elsewhere(PACK, packs, many),
}  # fmt: skip


class Scene(NamedTuple):
    """A ground where a command is to be given; how it ends there; the user's picture, what is on record, and how many
    calls of git and changes of files it makes."""

    ground: Ground
    command: Elsewhere
    end: object
    now: Picture
    known: set[str]
    dropped: set[str]
    calls: int
    changes: int

    def number(self, how: str) -> int:
        """How often that can happen to the command."""
        return self.changes if how in ENDS_OF_CHANGES else self.calls


Stage = Callable[[str], Scene]


def where(ground: Ground, command: Elsewhere) -> Place:
    return ground.other if command.at == "other" else ground.place


def give(ground: Ground, command: Elsewhere, env: Mapping[str, str], more: Mapping[str, Any]) -> Answer:
    """Give the command."""
    place = where(ground, command)
    if command.args == PACK:
        return pack(place, env)
    return place.run(*command.args, stdin=command.stdin(ground), env={**command.env, **env}, **more)


def pack(place: Place, env: Mapping[str, str]) -> Answer:
    """What a session starts in the background at its end."""
    line = [sys.executable, "-m", "gitckpt.repo.upkeep", str(place.path)]
    done = subprocess.run(line, cwd=place.path, env=place.env | dict(env), capture_output=True, timeout=HANG)
    return Answer(done.returncode, done.stdout, done.stderr.decode())


@pytest.fixture(scope="session")
def ground(template_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    top = tmp_path_factory.mktemp("grounds") / "ground"
    template_place.copy(top / "work")
    found = Ground(top, template_place)
    build(found)
    return found


@pytest.fixture(scope="session")
def stage(ground: Ground, endpoint: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Scenes, each made when it is first asked for."""
    scenes: dict[str, Scene] = {}
    variables = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "sk-none"}

    def make(name: str) -> Scene:
        if name not in scenes:
            command = COMMANDS[name]._replace(env=variables)
            scenes[name] = _scene(ground, command, tmp_path_factory.mktemp("scene"))
        return scenes[name]

    return make


def _scene(template: Ground, command: Elsewhere, directory: Path) -> Scene:
    ground = template.copy(directory / "ground")
    command.before(ground)
    place = where(ground, command)
    rehearsal, finished = ground.copy(directory / "rehearsal"), ground.copy(directory / "finished")
    for each in (rehearsal, finished):
        command.each(each)
    answer, calls = rehearsal.interrupted_at_call(
        where(rehearsal, command), 0, "", lambda env, more: give(rehearsal, command, env, more)
    )
    assert answer.status == 0, answer
    changes = 0
    if command.args != PACK:
        answer, changes = finished.interrupted_at_change(0, "", lambda env, more: give(finished, command, env, more))
        assert answer.status == 0, answer
    dropped = ground.commits(place) - rehearsal.commits(where(rehearsal, command)) if command.drops else set()
    end = command.end(rehearsal)
    left = rehearsal.left()
    assert left == [], left
    return Scene(ground, command, end, picture(place), ground.commits(place), dropped, calls, changes)


# -- what has to hold


def check(scene: Scene, here: Path, at: int, how: str) -> None:
    """Interrupt the command, and see that all is well."""
    command, ground = scene.command, scene.ground.copy(here / "ground")
    command.each(ground)
    place = where(ground, command)

    def run(env: Mapping[str, str], more: Mapping[str, Any]) -> Answer:
        return give(ground, command, env, more)

    if how in ENDS_OF_CHANGES:
        answer, _ = ground.interrupted_at_change(at, how, run)
    else:
        answer, _ = ground.interrupted_at_call(place, at, how, run)
    if answer.status != -9:
        assert ground.rooms() == [], ground.rooms()
    check_kept(scene, ground)
    check_told(scene, ground, answer, how)
    check_again(scene, ground)


def check_kept(scene: Scene, ground: Ground) -> None:
    """All that was on record is there, or all of a session that is dropped has gone; what is the user's is as it was."""
    found = ground.commits(where(ground, scene.command))
    assert scene.known <= found or (scene.dropped and scene.known - found == scene.dropped)
    now = picture(where(ground, scene.command))
    if scene.command.args[0] == "promote":
        now = now._replace(refs="\n".join(row for row in now.refs.split("\n") if "promoted/" not in row))
    if scene.command.changes_files:
        now = now._replace(files=scene.now.files, status=scene.now.status)
    assert now == scene.now, (now, scene.now)


def check_told(scene: Scene, ground: Ground, answer: Answer, how: str) -> None:
    """A command that lived says what went wrong; one that says nothing has done what it was told to."""
    if scene.command.args == PACK:
        return  # which nobody listens to
    assert "Traceback" not in answer.err
    if answer.status in (-9, 0) or "1 attempt failed" in answer.err:
        return
    assert how in (*SURVIVED, "no room"), answer
    assert answer.status in (1, 3, 4, 5), answer
    assert "gitckpt: " in answer.err


def check_again(scene: Scene, ground: Ground) -> None:
    """The same command leads where it leads, and leaves nothing."""
    command = scene.command
    ground.mend()
    again = give(ground, command, {}, {})
    assert again.status == 0 or command.done_already in again.err, again
    end = command.end(ground)
    assert end == scene.end, (end, scene.end)
    place = where(ground, command)
    place.ok("record", stdin=checkpoint("9"))
    left = ground.left()
    assert left == [], left
    assert place.ok("verify", "--json").json["whole"]


#: One for each run where something was lost or left once: the command, in which part of its calls or changes, and how.
SAMPLE = (("hook tool", 0.91, "after"), ("prune", 0.93, "locked"), ("init agent", 0.8, "dies"))


@pytest.mark.parametrize(("name", "part", "how"), SAMPLE)
def test_a_command_is_interrupted(stage: Stage, tmp_path: Path, name: str, part: float, how: str) -> None:
    scene = stage(name)
    check(scene, tmp_path, round(part * scene.number(how)), how)


@pytest.mark.slow
@pytest.mark.parametrize("how", (*WAYS, *ENDS_OF_CHANGES))
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_interrupted_at_each_of_its_calls(stage: Stage, tmp_path: Path, name: str, how: str) -> None:
    scene = stage(name)
    last = scene.number(how)
    for at in range(1, last + 1):
        try:
            check(scene, tmp_path / str(at), at, how)
        except AssertionError as error:
            error.add_note(f"{name}, {how} {at} of {last}")
            raise
        shutil.rmtree(tmp_path / str(at), ignore_errors=True)  # a git that outlived gitckpt may still write there
