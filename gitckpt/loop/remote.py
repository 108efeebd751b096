"""Tools of an MCP server, for a model to call. The server runs in the work tree for as long as the run."""

from __future__ import annotations

import json
import re
import shlex
import sys
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
from anyio.from_thread import start_blocking_portal
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from gitckpt.errors import Refused, UsageError
from gitckpt.loop.actions import Action

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from anyio.from_thread import BlockingPortal
    from mcp_types import CallToolResult, Tool

#: How many seconds a server may take for the handshake, and for one call.
TO_START, TO_ANSWER = 30.0, 120.0


@contextmanager
def remote_actions(command: str, directory: str) -> Iterator[list[Action]]:
    """Yield one action for each tool of a server, which runs in `directory` meanwhile; `command` is split as a shell
    would.

    Raises UsageError if the server does not start.
    """
    server = _server(command, directory)
    open = ExitStack()
    try:
        portal = open.enter_context(start_blocking_portal())
        session, tools = _begin(open, portal, server, command)
        yield [_action(tool, portal, session) for tool in tools]
    finally:
        open.close()  # passes no exception of ours on: the tasks would wrap it


def _begin(
    open: ExitStack, portal: BlockingPortal, server: StdioServerParameters, command: str
) -> tuple[ClientSession, list[Tool]]:
    try:
        session = open.enter_context(portal.wrap_async_context_manager(_connected(server)))
        return session, portal.call(session.list_tools).tools
    except Exception as error:
        raise UsageError(
            f"the MCP server {command!r} did not start: {_innermost(error)}",
            "run its command by hand; it has to speak MCP on standard input and output",
        ) from error


def _server(command: str, directory: str) -> StdioServerParameters:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--mcp {command!r} is no command: {error}", "quote it as for a shell") from error
    if not words:
        raise UsageError("--mcp names no command", "gitckpt run --mcp 'my-server --its-options'")
    # the SDK passes on only the environment variables that a program needs, and so no key
    return StdioServerParameters(command=words[0], args=words[1:], cwd=directory)


@asynccontextmanager
async def _connected(server: StdioServerParameters) -> AsyncIterator[ClientSession]:
    async with stdio_client(server, errlog=sys.stderr) as (read, write), ClientSession(read, write) as session:
        with anyio.fail_after(TO_START):
            await session.initialize()
        yield session


def _action(tool: Tool, portal: BlockingPortal, session: ClientSession) -> Action:
    def run(given: dict[str, Any]) -> str:
        try:
            result = portal.call(session.call_tool, tool.name, given, TO_ANSWER)
        except Exception as error:
            raise Refused(f"{tool.name} failed: {_innermost(error)}", "try another way") from error
        return _answer(tool.name, result)

    # endpoints accept no other characters in a function's name
    name = re.sub(r"[^A-Za-z0-9_-]", "_", tool.name)[:64]
    return Action(name, tool.description or "", tool.input_schema, run, changes_files=True)


def _answer(name: str, result: CallToolResult) -> str:
    texts = [str(getattr(part, "text", f"({part.type})")) for part in result.content]
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    if result.is_error:
        raise Refused("\n".join(texts) or f"{name} failed")
    return "\n".join(texts) or "(no answer)"


def _innermost(error: BaseException) -> str:
    """Return a readable message for an error that is wrapped in exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(str(error).split()) or type(error).__name__
