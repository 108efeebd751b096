"""The tools, served by the official SDK.

Nothing is kept between calls: each is answered from the present state of the repository that the server was started in.
Calls run one at a time, and a call that has begun is finished even if the client goes away.
"""

from __future__ import annotations

import json
import re
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from gitckpt import __version__
from gitckpt.errors import GitckptError, GitFailed, refusal
from gitckpt.mcp import INSTRUCTIONS
from gitckpt.mcp.greeting import tools
from gitckpt.protocol.reader import encoded
from gitckpt.toolbox.tools import call_tool

if TYPE_CHECKING:
    from typing import BinaryIO

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, PaginatedRequestParams

    from gitckpt.mcp.greeting import Greeted


class _Heard(TextIOWrapper):
    """What the client sends, preceded by lines that were already read."""

    def __init__(self, requests: BinaryIO, lines: list[bytes]) -> None:
        super().__init__(requests, encoding="utf-8", errors="replace")
        self._lines = [line.decode("utf-8", "replace") for line in lines]

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # as of the class above
        return _sound(self._lines.pop(0) if self._lines else super().readline(size))


#: The escape of a surrogate: a text that was cut in the middle of a character has an unpaired one.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _sound(line: str) -> str:
    """Return a request without unpaired surrogates: the SDK cannot read those, and would never answer."""
    if not _HALF.search(line):
        return line
    try:
        return encoded(json.dumps(json.loads(line), ensure_ascii=False)).decode() + "\n"
    except (ValueError, RecursionError):
        return line


class _Told(TextIOWrapper):
    """What is sent to the client, without the first message if the client already has it."""

    def __init__(self, answers: BinaryIO, *, has_first: bool) -> None:
        super().__init__(answers, encoding="utf-8")
        self._has_first = has_first

    def write(self, text: str, /) -> int:
        if self._has_first:
            self._has_first = False
            return len(text)
        return super().write(text)


def go_on(greeted: Greeted, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer all further requests, until there are no more."""
    anyio.run(_serve, _Heard(requests, greeted.lines), _Told(answers, has_first=greeted.answered))


async def _serve(heard: TextIOWrapper, told: TextIOWrapper) -> None:
    server = Server(
        "gitckpt", version=__version__, instructions=INSTRUCTIONS, on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, anyio.Lock()),
    )  # fmt: skip
    async with stdio_server(anyio.wrap_file(heard), anyio.wrap_file(told)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _list_tools(_: ServerRequestContext, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[Tool.model_validate(tool) for tool in tools()])


async def _call_tool(lock: anyio.Lock, _: ServerRequestContext, call: CallToolRequestParams) -> CallToolResult:
    async with lock:
        return await anyio.to_thread.run_sync(_answer, call.name, call.arguments)


def _answer(name: str, arguments: object) -> CallToolResult:
    try:
        return _result(call_tool(name, arguments))
    except GitckptError as error:
        return _refusal(error)
    except OSError as error:
        return _refusal(refusal(error, "call again") or GitFailed(str(error), "gitckpt doctor looks for what is wrong"))


def _refusal(error: GitckptError) -> CallToolResult:
    return _result(f"{error}\n→ {error.hint}" if error.hint else str(error), failed=True)


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    # a file name may hold an unpaired surrogate, which is not valid JSON
    sound = text.encode("utf-8", "replace").decode()
    return CallToolResult(content=[TextContent(type="text", text=sound)], is_error=failed)
