"""How a client is given our hooks and tools: for one run, or in its configuration. Nothing is written here."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from gitckpt.agents.homes import Moved

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Wiring(NamedTuple):
    """Our commands, as argv. `hook` is the command for a hook (its payload comes on standard input), `mcp` the tool
    server. `directory` is for the files that one run needs."""

    hook: tuple[str, ...]
    mcp: tuple[str, ...]
    directory: str = ""

    def hook_command(self, *more: str) -> str:
        """Return the hook's command as a shell command line."""
        return shlex.join([*self.hook, *more])

    def server(self, **more: Any) -> dict[str, Any]:
        """Return the tool server as most clients write it: `{"mcpServers": {"gitckpt": {"command", "args", …}}}`."""
        return {"mcpServers": {"gitckpt": {"command": self.mcp[0], "args": list(self.mcp[1:]), **more}}}


class Injection(NamedTuple):
    """What gives one run of a client our hooks and tools, without leaving anything in the home directory or the
    repository.

    `arguments` go right after the program's name, `environment` is added, and `files` (path → content) must exist
    first. `caution` is what the user must know, "" for nothing.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = _NOTHING
    files: Mapping[str, str] = _NOTHING
    caution: str = ""


class Installation(NamedTuple):
    """One configuration file of a client. `path` is relative to the home directory or to the root of the `repository`.

    `merge` returns the file's new content from the old one (None if there is no file), unchanged if everything is
    there. `remove` takes our entries out, and returns None if nothing else is left. Both raise Refused for a file that
    they cannot parse, which then stays as it is. `caution` is what the user must know, "" for nothing. `moved` are the
    client's variables, as in Agent.
    """

    base: Literal["home", "repository"]
    path: str
    merge: Callable[[str | None], str]
    remove: Callable[[str], str | None]
    executable: bool = False
    caution: str = ""
    moved: Moved = ()


Inject = Callable[[Wiring], Injection]
Install = Callable[[Wiring], tuple[Installation, ...]]


def shell_hooks(events: Sequence[str], command: str, *, matcher: str = "", **more: Any) -> dict[str, Any]:
    """Return our command as a hook of these events, in the format that Claude Code, Codex, Gemini and Qwen share."""
    entry = ({"matcher": matcher} if matcher else {}) | {"hooks": [{"type": "command", **more, "command": command}]}
    return {"hooks": {event: [entry] for event in events}}


def compact(value: Any) -> str:
    """Return JSON for a command line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
