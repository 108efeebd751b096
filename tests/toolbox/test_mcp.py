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


HELLO = request(
    1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "rude", "version": "0"}
) + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'  # fmt: skip


def test_rubbish_and_parallel_calls_and_a_client_that_goes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    rubbish = [b"\xff\xfe\n", b"[" * 20_000 + b"\n", b'{"jsonrpc":"2.0","id":9}\n', b"\n \n", b"42\n"]
    server = subprocess.Popen(COMMAND, cwd=project.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin and server.stdout
    server.stdin.write(HELLO + b"".join(rubbish))
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
