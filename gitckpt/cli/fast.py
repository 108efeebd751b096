"""The commands that run without typer, whose import alone takes longer than they do: those that look, go back, record
and validate.

The options match those of `app.py` (a test compares them). Anything not clearly one of them, including `--help` and
mistakes, goes to typer, so that both paths accept the same command line."""

from __future__ import annotations

from gitckpt.cli import edge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Command → option → (parameter name, how its value is read). A `flag` takes no value, `texts` may be given again.
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
    "save": {"--message": ("message", "text"), "-m": ("message", "text"), "--session": ("session", "text")},
    "show": {
        "--json": ("json", "flag"),
        "--yaml": ("yaml", "flag"),
        "--path": ("path", "text"),
        "--all": ("all", "flag"),
    },
    "diff": {"--stat": ("stat", "flag"), "--json": ("json", "flag")},
    "sessions": {"--json": ("json", "flag"), "--all": ("all", "flag")},
    "rollback": {
        "--hint": ("hint", "flag"),
        "--scope": ("scope", "text"),
        "--path": ("path", "texts"),
        "--dry-run": ("dry_run", "flag"),
        "-n": ("dry_run", "flag"),
        "--json": ("json", "flag"),
        "--keep": ("keep", "flag"),
        "--yes": ("yes", "flag"),
        "-y": ("yes", "flag"),
        "--continue": ("resume", "flag"),
        "--abort": ("abort", "flag"),
        "--last-green": ("last_green", "flag"),
    },
    "undo": {"--json": ("json", "flag")},
    "redo": {"--json": ("json", "flag")},
    "validate": {
        "--staged": ("staged", "flag"),
        "--commit-msg": ("commit_msg", "text"),
        "--format": ("format", "text"),
        "--strict": ("strict", "flag"),
        "--finished": ("finished", "flag"),
        "--select": ("select", "text"),
        "--ignore": ("ignore", "text"),
    },
}

#: More arguments than a command line holds.
ANY = 1 << 30

#: Command → the least and the greatest number of arguments besides options; (0, 0) for the others.
WORDS = {
    "log": (0, 1), "record": (0, 1), "hook": (1, ANY), "show": (1, 1), "diff": (0, ANY), "rollback": (0, 1),
    "validate": (0, ANY),
}  # fmt: skip


def run_fast(arguments: Sequence[str]) -> int | None:
    """Run the command line if it is one of these and return its exit status, or None if typer must parse it."""
    name = arguments[0] if arguments else "status"
    read = _read(name, arguments[1:]) if name in OPTIONS else None
    if read is None:
        return None
    words, options = read
    return edge.run(lambda: _call(name, words, options), json=bool(options.get("json")))


def _call(name: str, words: list[str], options: dict[str, Any]) -> int:
    if name in ("rollback", "undo", "redo"):
        return _go_back(name, words, options)
    if name in ("log", "status", "show", "diff", "sessions", "report", "verify"):
        return _look(name, words, options)
    if name == "validate":
        from gitckpt.cli.validate import validate

        return validate(words, **options)
    if name == "save":
        from gitckpt.cli.save import save

        return save(**options)
    if name == "hook":
        from gitckpt.cli.hook import hook

        return hook(*words, **options)
    if name == "mcp":
        from gitckpt.cli.mcp import mcp

        return mcp()
    from gitckpt.cli.record import record

    return record(*words, **options)


def _go_back(name: str, words: list[str], options: dict[str, Any]) -> int:
    from gitckpt.cli import rollback

    if name != "rollback":
        return rollback.undo(again=name == "redo", **options)
    return rollback.rollback(*words, paths=options.pop("path", None), **options)


def _look(name: str, words: list[str], options: dict[str, Any]) -> int:
    if name == "log":
        from gitckpt.cli.log import log

        return log(*words, **options)
    if name == "status":
        from gitckpt.cli.status import status

        return status(**options)
    if name == "show":
        from gitckpt.cli.show import show

        return show(*words, **options)
    if name == "diff":
        from gitckpt.cli.diff import diff

        return diff(words, **options)
    if name == "sessions":
        from gitckpt.cli.sessions import sessions

        return sessions(**options)
    if name == "report":
        from gitckpt.cli.report import report

        return report(**options)
    from gitckpt.cli.verify import verify

    return verify(**options)


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
        elif not (how and rest) or (how == "number" and not _is_number(rest[0])):
            return None
        elif how == "texts":
            options.setdefault(parameter, []).append(rest.pop(0))
        else:
            options[parameter] = int(rest.pop(0)) if how == "number" else rest.pop(0)
    least, most = WORDS.get(name, (0, 0))
    return (words, options) if least <= len(words) <= most else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12
