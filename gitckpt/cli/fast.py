"""The commands that run without typer, whose import alone takes longer than they do: `log`, `status`, `verify`,
`report`, `record`, `hook`, `mcp`.

The options match those of `app.py` (a test compares them). Anything not clearly one of them, including `--help` and
mistakes, goes to typer, so that both paths accept the same command line."""

from __future__ import annotations

from gitckpt.cli import edge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Command → option → (parameter name, how its value is read). A `flag` takes no value.
OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "log": {
        "--session": ("session", "text"),
        "--all": ("all", "flag"),
        "--graph": ("graph", "flag"),
        "--stat": ("stat", "flag"),
        "--events": ("events", "flag"),
        "--json": ("json", "flag"),
        "-n": ("count", "number"),
        "--count": ("count", "number"),
        "--format": ("format", "text"),
    },
    "status": {"--json": ("json", "flag")},
    "verify": {"--session": ("session", "text"), "--json": ("json", "flag")},
    "report": {
        "-o": ("output", "text"),
        "--output": ("output", "text"),
        "--session": ("session", "text"),
        "--all": ("all", "flag"),
    },
    "record": {
        "--channel": ("channel", "text"),
        "--session": ("session", "text"),
        "--on-retry": ("on_retry", "text"),
    },
    "hook": {"--auto": ("auto", "text"), "--lang": ("lang", "text")},
    "mcp": {},
}

#: Commands that take arguments besides options, and the maximum number.
WORDS = {"log": 1, "record": 1, "hook": 2}


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run the command line if it is one of these and return its exit status, or None if typer must parse it."""
    name = arguments[0] if arguments else "status"
    read = _read(name, arguments[1:]) if name in OPTIONS else None
    if read is None:
        return None
    words, options = read
    return edge.run(lambda: _call(name, words, options), json=bool(options.get("json")))


def _call(name: str, words: list[str], options: dict[str, Any]) -> int:
    if name == "log":
        from gitckpt.cli.log import log

        return log(*words, **options)
    if name == "status":
        from gitckpt.cli.status import status

        return status(**options)
    if name == "verify":
        from gitckpt.cli.verify import verify

        return verify(**options)
    if name == "report":
        from gitckpt.cli.report import report

        return report(**options)
    if name == "hook":
        from gitckpt.cli.hook import hook

        return hook(*words, **options)
    if name == "mcp":
        from gitckpt.cli.mcp import mcp

        return mcp()
    from gitckpt.cli.record import record

    return record(*words, **options)


def _read(name: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    known = OPTIONS[name]
    words: list[str] = []
    options: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            words.append(word)
            continue
        parameter, how = known.get(word, ("", ""))
        if how == "flag":
            options[parameter] = True
        elif how and rest and (how == "text" or rest[0].isdecimal()):
            value = rest.pop(0)
            options[parameter] = int(value) if how == "number" else value
        else:
            return None
    is_told = bool(words) or name != "hook"
    return (words, options) if is_told and len(words) <= WORDS.get(name, 0) else None
