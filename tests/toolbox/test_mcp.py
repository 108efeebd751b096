"""The server as a client sees it: a real process, spoken to by the SDK's own client and by a rude one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from project import Project

from gitckpt.repo.reader import Reader

STATE = {"goal": "g", "facts": [{"text": "t", "source": "README.md:1"}], "done": ["one"], "todo": ["two"]}
COMMAND = [sys.executable, "-m", "gitckpt", "mcp"]


def talk(project: Project, calls: list[tuple[str, dict[str, Any]]]) -> tuple[Any, Any, list[Any]]:
    """Shake hands, list the tools, call these; (what the server says of itself, its tools, answers)."""

    async def conversation() -> tuple[Any, Any, list[Any]]:
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], cwd=str(project.root))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            hello = await client.initialize()
            tools = await client.list_tools()
            return hello, tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(conversation)


def test_a_whole_conversation(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    hello, listed, answers = talk(project, [("checkpoint", STATE), ("reset", {}), ("reset", {}), ("log", {})])
    assert "checkpoint" in hello.instructions
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) == {"checkpoint", "reset", "summary", "retry", "rollback", "log", "diff", "context"}
    assert tools["checkpoint"].input_schema["required"] == ["goal", "facts", "done", "todo"]
    assert set(tools["retry"].input_schema["required"]) == {"from", "reason", "strategy"}
    assert all(property["description"] for tool in listed.tools for property in _properties(tool.input_schema))
    assert [bool(answer.is_error) for answer in answers] == [False, False, True, False]
    assert answers[2].content[0].text.startswith("reset is refused: no checkpoint since the last reset\n→ ")
    monkeypatch.chdir(project.root)
    session = Reader().current_session()
    assert session is not None
    assert [event.kind for event in session.events] == ["start", "checkpoint", "reset"]


def _properties(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [p for p in schema.get("properties", {}).values() if "$ref" not in p]


def request(id: int, method: str, **parameters: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}).encode() + b"\n"


INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def answers_to(project: Project, *requests: bytes, count: int) -> list[Any]:
    """So many answers, by the number of their requests, of a server that then sees its client go."""
    with subprocess.Popen(COMMAND, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin and server.stdout
        server.stdin.write(b"".join(requests))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(count)]
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait(30) == 0
    return sorted(answers, key=lambda answer: int(answer.get("id") or 0))


def hello(version: str) -> bytes:
    client = {"name": "polite", "version": "0"}
    return request(1, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_the_first_words_are_those_of_the_sdk(project: Project, version: str) -> None:
    asked = [hello(version), INITIALIZED, request(2, "tools/list")]
    # any other request first hands over to the SDK, which then answers these
    _, *by_sdk = answers_to(project, request(0, "ping"), *asked, count=3)
    assert answers_to(project, *asked, request(3, "ping"), count=3) == [
        *by_sdk,
        {"jsonrpc": "2.0", "id": 3, "result": {}},
    ]


@pytest.mark.parametrize(
    "first",
    [
        hello("1999-12-31"),
        hello("2026-07-28"),
        request(1, "initialize"),
        request(1, "initialize", protocolVersion=["2025-11-25"], capabilities={}, clientInfo={}),
        request(1, "server/discover"),
        request(1, "tools/list"),
    ],
)
def test_what_is_no_usual_beginning_is_answered_by_the_sdk(project: Project, first: bytes) -> None:
    answers = answers_to(project, first, hello("2025-06-18"), INITIALIZED, request(2, "tools/list"), count=3)
    assert len(answers[-1]["result"]["tools"]) == 8


def test_one_that_goes_after_its_first_words_leaves_nothing_behind(project: Project) -> None:
    assert len(answers_to(project, hello("2025-06-18"), INITIALIZED, count=1)) == 1
    assert answers_to(project, count=0) == []


def test_rubbish_and_parallel_calls_and_a_client_that_goes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    rubbish = [b"\xff\xfe\n", b"[" * 20_000 + b"\n", b'{"jsonrpc":"2.0","id":9}\n', b"\n \n", b"42\n"]
    server = subprocess.Popen(COMMAND, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin and server.stdout
    server.stdin.write(hello("2025-06-18") + INITIALIZED + b"".join(rubbish))
    for id in (2, 3):
        server.stdin.write(request(id, "tools/call", name="checkpoint", arguments=STATE))
    server.stdin.flush()
    answered: set[int] = set()
    while not {2, 3} <= answered:
        answered.add(json.loads(server.stdout.readline()).get("id"))
    server.stdout.close()
    server.stdin.close()
    assert server.wait(30) is not None
    monkeypatch.chdir(project.root)
    session = Reader().current_session()
    assert session is not None
    assert [event.id for event in session.events if event.kind == "checkpoint"] == ["C1", "C2"]


def test_outside_of_a_repository_each_call_says_so(project: Project, tmp_path: Any) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    _, _, answers = talk(Project(empty), [("checkpoint", STATE), ("log", {})])
    assert [answer.is_error for answer in answers] == [True, True]
    assert "this is not a git repository" in answers[0].content[0].text


def test_half_a_character_in_a_call_is_answered(project: Project) -> None:
    call = request(3, "tools/call", name="checkpoint", arguments=STATE | {"goal": "\ud83d cut, \U0001f600 whole"})
    *_, answer = answers_to(project, hello("2025-06-18"), INITIALIZED, request(2, "tools/list"), call, count=3)
    assert not answer["result"]["isError"]
    recorded = project.git("log", "--all", "-1", "--grep=^C1", "--format=%B")
    assert "\ufffd cut, \\U0001F600 whole" in recorded
