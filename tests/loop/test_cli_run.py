"""`gitckpt run` as a person gives it: what it prints, what is on record, and that a killed run goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commandline import HANG, Answer, Place
from scripted import FINAL, RESET, Message, Scripted, Turn, answers, call, refuse, save, say

from gitckpt.views.schemas import MODELS

KEY = "sk-very-secret-0123456789"
TASK = "write the file"


def run(place: Place, server: Scripted, *more: str, env: Mapping[str, str] | None = None) -> Answer:
    given = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY} if env is None else dict(env)
    return place.run("run", "--task", TASK, "--model", "m", *more, env=given)


WORK = [call("write_file", path="made.txt", content="made\n"), save(["wrote it"]), RESET, FINAL]


def test_a_run_from_start_to_end(place: Place) -> None:
    before = place.users()
    with Scripted([call("shell", command="echo hello"), *WORK]) as server:
        answer = run(place, server)
    assert (answer.status, answer.out) == (0, FINAL.text + "\n")
    for told in ("turn 1/40: ", " tokens in, 10 out", "→ shell", "the context is cleared", "done: 5 turns, 1 reset, "):
        assert told in answer.err
    assert place.ids() == ["start", "C1", "reset", "end"]
    end = place.json("log")["events"][-1]
    assert (end["agent"]["outcome"], end["agent"]["exit"], end["agent"]["requests"]) == ("done", 0, 5)
    assert "without FINAL" not in place.ok("log").out
    assert place.ok("show", "C1", "--path", "made.txt").out == "made\n"
    assert place.users() == before
    place.ok("rollback", "start")
    assert not (place.path / "made.txt").exists()
    place.ok("undo")
    assert place.read("made.txt") == "made\n"
    assert place.ok("verify").status == 0


def test_of_a_final_block_its_own_words_are_told(place: Place) -> None:
    block = "All of it.\n===FINAL===\ncheckpoints: [C1]\nsummaries: []\nresult: made.txt is\n  as wanted\n===END==="
    with Scripted([*WORK[:2], say(block)]) as server:
        assert run(place, server).out == block + "\n"
    last = next(line for line in place.ok("log").out.splitlines() if " end " in line)
    assert last.endswith("done: made.txt is as wanted")
    assert place.json("log")["events"][-1]["agent"]["text"] == block
    assert b'"text": "done: made.txt is' in place.ok("report", "-o", "-").raw


def test_the_key_is_stored_nowhere(place: Place) -> None:
    with Scripted([call("shell", command="env"), *WORK, refuse(401, f"{KEY} is no key of ours")]) as server:
        secret = server.url.replace("http://", "http://user:hidden-password@")
        assert run(place, server, "--base-url", secret).status == 0
        refused = run(place, server)
        assert (refused.status, KEY in refused.err) == (4, False)
    assert server.keys and "hidden-password" not in str(server.bodies)
    assert KEY not in str(server.bodies)
    objects = place.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    contents = [place.git("cat-file", "-p", oid) for oid in objects]
    files = [path.read_bytes().decode("latin-1") for path in (place.path / ".git").rglob("*") if path.is_file()]
    assert not [text for text in contents + files if KEY in text or "hidden-password" in text]


def test_a_run_as_json_tells_what_it_came_to(place: Place) -> None:
    with Scripted(WORK) as server:
        answer = run(place, server, "--json", "--quiet")
    assert answer.err == ""
    document = answer.json
    MODELS["gitckpt.run/1"].model_validate(document)
    assert (document["outcome"], document["checkpoints"], document["resets"], document["requests"]) == (
        "done",
        ["C1"],
        1,
        4,
    )
    assert document["session"] == place.json("status")["session"]


def test_the_variables_of_the_tutorial(place: Place) -> None:
    with Scripted(WORK) as server:
        env = {"BASE_URL": server.url, "MODEL": "qwen3-8b", "API_KEY": "none"}
        assert place.run("run", "--task", TASK, "--quiet", env=env).status == 0
    assert {body["model"] for body in server.bodies} == {"qwen3-8b"}
    assert set(server.keys) == {"Bearer none"}


@pytest.mark.parametrize(
    ("script", "options", "status", "outcome"),
    [
        (lambda messages: save(["a"]), [], 1, "stuck"),
        (lambda messages: call("shell", command="true"), ["--max-turns", "2"], 1, "turns"),
        (lambda messages: refuse(401, "no such key"), [], 4, "failed"),
    ],
)
def test_how_else_it_may_end(place: Place, script: Any, options: list[str], status: int, outcome: str) -> None:
    with Scripted(script) as server:
        answer = run(place, server, *options)
    assert answer.status == status
    end = place.json("log")["events"][-1]
    assert (end["kind"], end["agent"]["outcome"], end["agent"]["exit"]) == ("end", outcome, status)


def test_limits_and_forced_resets_from_the_command_line(place: Place) -> None:
    with Scripted([*[call("shell", command="seq 300")] * 6, FINAL]) as server:
        answer = run(place, server, "--char-limit", "3000")
    assert "by the host" in answer.err
    assert place.ids()[:3] == ["start", "C1", "reset"]


@pytest.mark.parametrize(
    ("env", "options", "words"),
    [
        ({}, ["--model", "m"], "no model endpoint is named"),
        ({"OPENAI_BASE_URL": "http://localhost:9/v1"}, [], "which model?"),
        ({"OPENAI_BASE_URL": "localhost:9"}, ["--model", "m"], "is no address of an endpoint"),
        ({"API_KEY": "k"}, ["--model", "m", "--mcp", "no-such-server"], "did not start"),
        ({"API_KEY": "k"}, ["--model", "m", "--max-turns", "0"], "max-turns"),
    ],
)
def test_what_cannot_begin_records_nothing(place: Place, env: dict[str, str], options: list[str], words: str) -> None:
    answer = place.run("run", "--task", TASK, *options, env=env)
    assert (answer.status, words in answer.err) == (2, True), answer
    assert place.run("run", "--task", " ", *options, env=env).status == 2
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_without_the_client_it_says_what_to_install(place: Place, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['openai'] = None\n")
    env = place.env | {"PYTHONPATH": str(tmp_path), "BASE_URL": "http://localhost:9/v1"}
    answer = place.process("run", "--task", TASK, "--model", "m", env=env)
    assert answer.status == 2
    assert answer.err.splitlines() == [
        "gitckpt: the client for model endpoints is not installed", "gitckpt:   → pip install '.[run]', or pipx install --force '.[run]', in a clone of the repository",
    ]  # fmt: skip
    assert place.process("status", env=env).status == 0


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, given = asked["method"], asked.get("params", {})
    if method == "initialize":
        answer = {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "weather.in", "description": "The weather.", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": "sunny in " + given["arguments"]["place"]}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def test_tools_of_an_mcp_server(place: Place, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    mcp = f"{sys.executable} {tmp_path / 'server.py'}"
    with Scripted([call("weather_in", place="Kiel"), call("weather_in"), FINAL]) as server:
        assert run(place, server, "--mcp", mcp).status == 0
        twice = run(place, server, "--mcp", mcp, "--mcp", mcp)
    assert answers(server.last)[0] == "sunny in Kiel"
    assert answers(server.last)[1].startswith("error: weather.in failed")
    assert (twice.status, "two tools of the name 'weather_in'" in twice.err) == (2, True)


class Held:
    """A model that does `work`, one turn for each request, and keeps the caller waiting at request `at`; asked again
    from a state or from the beginning, it looks what is on disk."""

    def __init__(self, at: int) -> None:
        self.at, self.number = at, 0
        self.reached, self.release = threading.Event(), threading.Event()

    def __call__(self, messages: list[Message]) -> Turn:
        self.number += 1
        if self.number == self.at:
            self.reached.set()
            self.release.wait(HANG)
        said = json.dumps(messages[1:])
        if "finished the work" in said:
            return FINAL
        if "made.txt is written" in said:
            return save(["finished the work"], [])
        if "begun" in said:
            return call("write_file", path="made.txt", content="made\n")
        return save(["begun"], ["write made.txt"])


def killed(place: Place, at: int, server: Scripted, model: Held) -> None:
    """`kill -9` of a run at its request number `at`."""
    env = place.env | {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
    command = [sys.executable, "-m", "gitckpt", "run", "--task", TASK, "--model", "m", "--max-turns", "9", "--quiet"]
    process = subprocess.Popen(command, cwd=place.path, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
    assert model.reached.wait(HANG)
    if at == 3:
        living = place.run("resume")
        assert (living.status, "is still running" in living.err) == (3, True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    model.release.set()


@pytest.mark.parametrize("at", [1, 3, pytest.param(2, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on_from_its_last_state(place: Place, at: int) -> None:
    model = Held(at)
    with Scripted(model) as server:
        killed(place, at, server, model)
        answer = place.run("resume", env={"OPENAI_API_KEY": KEY})
        resumed = server.bodies[at]
    assert (answer.status, answer.out) == (0, FINAL.text + "\n")
    assert place.read("made.txt") == "made\n"
    story = [name for name in place.ids() if name != "auto"]
    assert story == {1: ["start", "note", "C1", "C2", "end"]}.get(at, story)
    assert story == {3: ["start", "C1", "note", "C2", "end"]}.get(at, story)
    assert "has no end: the agent, or what ran it, died" in answer.err
    messages = resumed["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert TASK in messages[0]["content"]
    assert ("===CHECKPOINT 1===" in messages[1]["content"]) == (at in (2, 3))
    assert (resumed["model"], server.keys[at]) == ("m", f"Bearer {KEY}")
    assert "turn 1/9" in answer.err


def test_a_run_that_came_with_fetched_refs_is_not_started_unseen(place: Place) -> None:
    with Scripted(WORK) as server:
        run(place, server)
        (place.path / ".git/gitckpt/started").unlink()
        answer = place.run("resume", env={"OPENAI_API_KEY": KEY})
        assert answer.status == 3
        assert f"was not started from this work tree: gitckpt run --task '{TASK}' --model m --base-url" in answer.err
        assert len(server.bodies) == len(WORK)


def test_another_command_may_take_over(place: Place) -> None:
    with Scripted(WORK) as server:
        run(place, server)
    assert place.ok("resume", "--", "echo", "{prompt}").out.count("===CHECKPOINT 1===") == 1


def test_ctrl_c_leaves_the_end_on_record(place: Place) -> None:
    model = Held(2)
    with Scripted(model) as server:
        env = place.env | {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        command = [sys.executable, "-m", "gitckpt", "run", "--task", TASK, "--model", "m", "--quiet"]
        process = subprocess.Popen(command, cwd=place.path, env=env, start_new_session=True)
        assert model.reached.wait(HANG)
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG) == 130
        model.release.set()
    assert place.json("log")["events"][-1]["agent"]["outcome"] == "interrupted"


def test_a_run_goes_on_though_nobody_watches_any_more(place: Place) -> None:
    with Scripted([refuse(429, retry_after="0"), *WORK]) as server:
        env = place.env | {"OPENAI_BASE_URL": server.url}
        command = [sys.executable, "-m", "gitckpt", "run", "--task", TASK, "--model", "m"]
        reader, writer = os.pipe()
        os.close(reader)
        process = subprocess.run(command, cwd=place.path, env=env, stderr=writer, capture_output=False, timeout=HANG)
        os.close(writer)
    assert process.returncode == 0
    assert place.ids() == ["start", "C1", "reset", "end"]


def test_nothing_of_the_model_reaches_the_terminal_as_it_is(place: Place) -> None:
    with Scripted([say("FINAL: \x1b]0;title\x07 \u202edone")]) as server:
        place.env |= {"OPENAI_BASE_URL": server.url}
        shown = place.typed("run", "--task", TASK, "--model", "m").out
    assert "\x1b]0" not in shown and "\x07" not in shown and "\u202e" not in shown
    assert "\\x1b]0;title" in shown


def test_changes_are_recorded_after_each_tool_where_that_is_asked_for(place: Place) -> None:
    place.git("config", "gitckpt.auto", "tool")
    with Scripted([call("shell", command="echo x > x; false"), call("shell", command="true"), *WORK]) as server:
        run(place, server)
    assert place.ids() == ["start", "auto", "auto", "C1", "reset", "end"]


def test_a_run_waits_for_nobody_else(place: Place) -> None:
    """Its checkpoints go into its own session, also when a person saves meanwhile."""
    model = Held(2)
    with Scripted(model) as server:
        env = place.env | {"OPENAI_BASE_URL": server.url}
        command = [sys.executable, "-m", "gitckpt", "run", "--task", TASK, "--model", "m", "--json", "--quiet"]
        process = subprocess.Popen(command, cwd=place.path, env=env, stdout=subprocess.PIPE)
        assert model.reached.wait(HANG)
        place.ok("save", "-m", "by hand", "--session", "mine")
        model.release.set()
        out, _ = process.communicate(timeout=HANG)
    assert process.returncode == 0
    session = Answer(0, out, "").json["session"]
    events = place.json("log", "--session", session)["events"]
    assert [event["id"] or event["kind"] for event in events] == ["start", "C1", "C2", "end"]
