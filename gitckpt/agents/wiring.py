"""How a client is given our hooks and tools: for one run, or in its configuration. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Wiring(NamedTuple):
    """Our commands, word by word: `hook` is what a hook calls (it gets the payload on standard input, and the event's
    name as one more word), `mcp` the tool server. `directory` is ours for files that one run needs."""

    hook: tuple[str, ...]
    mcp: tuple[str, ...]
    directory: str = ""


class Injection(NamedTuple):
    """What gives one run of a client our hooks and tools, and leaves nothing in the home directory or the repository.

    `arguments` go right after the program's name, `environment` is added, `files` (path → content) have to be there
    first. `caution` is what the person must know, "" for nothing.
    """

    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = _NOTHING
    files: Mapping[str, str] = _NOTHING
    caution: str = ""


class Installation(NamedTuple):
    """One configuration file of a client. `path` is relative to the home directory or to the `repository`.

    `merge` makes the file's new content from the old one (None where there is none), the same again if it is all there;
    `remove` takes ours out, and gives None where nothing else is left. Both raise Refused for a file that they cannot
    read, which then stays as it is.
    """

    base: Literal["home", "repository"]
    path: str
    merge: Callable[[str | None], str]
    remove: Callable[[str], str | None]
    executable: bool = False


Inject = Callable[[Wiring], Injection]
Install = Callable[[Wiring], tuple[Installation, ...]]
