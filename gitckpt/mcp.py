"""The tools over the Model Context Protocol, on standard input and output, with the official SDK.

Nothing is kept between calls: each is answered from the repository that the server was started in, as it is then. Calls
are carried out one after the other, and one that has begun is finished though the client goes away."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from gitckpt import __version__
from gitckpt.errors import GitckptError, GitFailed
from gitckpt.toolbox.tools import TOOLS, call_tool

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, PaginatedRequestParams

INSTRUCTIONS = """gitckpt records your work step by step, so that nothing is lost and every step can be undone.
- Start with `context`: it tells what was done before you, if anything.
- Call `checkpoint` after each finished step and before anything risky. State the goal, the facts you will need again
  (each with its source: a URL, or path:line), what is done, and what is left. It also snapshots every file.
- When your context grows long, call `checkpoint`, then `reset`, and go on from the state that `reset` returns alone.
- When an attempt has failed, call `retry` with the checkpoint to go back to: the files are put back for you.
- `rollback` shows a plan first; apply it by its hash."""

READ_ONLY = ("log", "diff", "context")


def serve() -> None:
    """Answer requests until standard input ends."""
    anyio.run(_serve)


async def _serve() -> None:
    server = Server(
        "gitckpt", version=__version__, instructions=INSTRUCTIONS, on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, anyio.Lock()),
    )  # fmt: skip
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _list_tools(_: ServerRequestContext, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.arguments.model_json_schema(by_alias=True),
                annotations=ToolAnnotations(
                    read_only_hint=tool.name in READ_ONLY,
                    destructive_hint=tool.changes_files,
                    open_world_hint=False,
                ),
            )
            for tool in TOOLS.values()
        ]
    )


async def _call_tool(lock: anyio.Lock, _: ServerRequestContext, call: CallToolRequestParams) -> CallToolResult:
    async with lock:
        return await anyio.to_thread.run_sync(_answer, call.name, call.arguments)


def _answer(name: str, arguments: object) -> CallToolResult:
    try:
        return _result(call_tool(name, arguments))
    except GitckptError as error:
        return _refusal(error)
    except OSError as error:
        return _refusal(GitFailed(f"the system refused: {error.strerror}", "make room, and call again"))


def _refusal(error: GitckptError) -> CallToolResult:
    return _result(f"{error}\n→ {error.hint}" if error.hint else str(error), failed=True)


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    # half a character, as a file name may hold one, is no JSON
    sound = text.encode("utf-8", "replace").decode()
    return CallToolResult(content=[TextContent(type="text", text=sound)], is_error=failed)
