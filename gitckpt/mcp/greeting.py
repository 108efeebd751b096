"""The first exchange with a client, answered as the SDK would but before it is loaded: who we are, and our tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitckpt import __version__
from gitckpt.mcp import INSTRUCTIONS

if TYPE_CHECKING:
    from typing import BinaryIO

#: Protocol versions that start with `initialize`. A client of any other version is handled by the SDK from its first
#: request.
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

#: Tools that change nothing.
READ_ONLY: Final = ("log", "diff", "context")


class Greeted(NamedTuple):
    """Lines that the client has sent and that the SDK has yet to read. `answered` says whether the first of them, then
    an `initialize`, has been answered."""

    lines: list[bytes]
    answered: bool


def greet(requests: BinaryIO, answers: BinaryIO) -> Greeted | None:
    """Answer requests until the tools have been listed, or something else is asked. Return None if the client left."""
    lines: list[bytes] = []
    answered = False
    while line := requests.readline():
        request = _request(line)
        method = request.get("method")
        if method == "initialize" and not lines and (hello := _hello(request)):
            _answer(answers, request, hello)
            answered = True
        elif method == "tools/list" and answered and not _parameters(request).get("cursor"):
            _answer(answers, request, {"tools": tools()})
            return Greeted(lines, answered)
        elif method != "notifications/initialized":
            return Greeted([*lines, line], answered)
        lines.append(line)
    return None


def _request(line: bytes) -> dict[str, Any]:
    """Return the request, or {} if it is not of a kind that is answered here."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    sound = isinstance(request, dict) and request.get("jsonrpc") == "2.0"
    return request if sound and isinstance(request.get("id"), int | str | None) else {}


def _parameters(request: dict[str, Any]) -> dict[str, Any]:
    parameters = request.get("params")
    return parameters if isinstance(parameters, dict) else {}


def _hello(request: dict[str, Any]) -> dict[str, Any] | None:
    """Return our reply to `initialize`; None if the client has not sent everything that the protocol requires."""
    asked = _parameters(request)
    version, client = asked.get("protocolVersion"), asked.get("clientInfo")
    told = isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))
    if version not in VERSIONS or not told or not isinstance(asked.get("capabilities"), dict):
        return None
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "gitckpt", "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def tools() -> list[dict[str, Any]]:
    """Return our tools as the protocol describes them."""
    from gitckpt.toolbox.tools import TOOLS

    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.arguments.model_json_schema(by_alias=True),
            "annotations": {
                "readOnlyHint": tool.name in READ_ONLY,
                "destructiveHint": tool.changes_files,
                "openWorldHint": False,
            },
        }
        for tool in TOOLS.values()
    ]


def _answer(answers: BinaryIO, request: dict[str, Any], result: dict[str, Any]) -> None:
    told = {"jsonrpc": "2.0", "id": request.get("id"), "result": result}
    answers.write(json.dumps(told, ensure_ascii=False).encode() + b"\n")
    answers.flush()
