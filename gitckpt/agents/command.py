"""Find out which program a command line finally runs, and with which options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

#: Programs that run another one → their options that take a value.
_RUNNERS: Final[dict[str, tuple[str, ...]]] = {
    "env": ("-u", "--unset", "-C", "--chdir"),
    "nice": ("-n", "--adjustment"),
    "timeout": ("-s", "--signal", "-k", "--kill-after"),
    "stdbuf": ("-i", "-o", "-e"),
    "sudo": ("-u", "--user", "-g", "--group", "-D"),
    "npx": ("-p", "--package", "-w", "--workspace", "--prefix"),
    "bunx": (),
    "pnpx": (),
    "uvx": ("--from", "--with", "-p", "--python"),
    "node": ("-r", "--require", "--import", "--loader", "-C", "--conditions"),
    "bun": (),
    "deno": (),
    "npm": ("-p", "--package", "-w", "--workspace", "--prefix"),
    "pnpm": ("-C", "--dir", "-F", "--filter", "--package"),
    "yarn": ("--cwd", "-p", "--package"),
    "uv": ("--from", "--with", "-p", "--python", "--directory", "--project"),
    "pipx": ("--spec", "--python"),
    "poetry": ("-C", "--directory"),
    "python": ("-W", "-X"),
    **dict.fromkeys(("nohup", "setsid", "time", "command", "exec", "caffeinate"), ()),
}

#: Words between a runner and the program that it runs.
_SUBCOMMANDS: Final = {
    "npm": ("exec", "x"), "pnpm": ("dlx", "exec"), "yarn": ("dlx", "exec", "run"), "bun": ("x", "run"),
    "deno": ("run",), "uv": ("run", "tool"), "pipx": ("run",), "poetry": ("run",),
}  # fmt: skip

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Program(NamedTuple):
    """The program that a command runs: the word that names it, and the index at which its arguments begin."""

    word: str
    arguments_at: int


def program_of(argv: Sequence[str]) -> Program:
    """Return the program at the end of `env A=b npx -y …`. In a command of runners only, that is the last runner."""
    position = 0
    while position < len(argv):
        name = _runner(argv[position])
        after = _after_runner(argv, position + 1, name) if name in _RUNNERS else len(argv)
        if after >= len(argv):
            return Program(argv[position], position + 1)
        position = after
    return Program("", 0)


def _runner(word: str) -> str:
    name = base_name(word)
    return "python" if re.fullmatch(r"python[0-9.]*", name) else name


def base_name(word: str) -> str:
    """Return the last part of a path."""
    return word.replace("\\", "/").rpartition("/")[2]


def _after_runner(argv: Sequence[str], position: int, name: str) -> int:
    subcommands = _SUBCOMMANDS.get(name, ())
    while position < len(argv):
        word = argv[position]
        if word in _RUNNERS[name]:
            position += 1
        elif not (word.startswith("-") or word in subcommands or (name == "env" and _ASSIGNMENT.match(word))):
            break
        elif word in subcommands and word != "tool":
            subcommands = ()
        position += 1
    return position + (name == "timeout")


def runs(word: str, programs: Sequence[str], packages: Sequence[str]) -> bool:
    """Return whether a word names one of these programs, by name or path, or one of these packages:
    `@openai/codex@latest`, `…/node_modules/@openai/codex/bin/codex.js`."""
    word = word.replace("\\", "/")
    if base_name(word).removesuffix(".exe").removesuffix(".cmd") in programs:
        return True
    unversioned = re.sub(r"(?<=.)@[^@/]*$", "", word)
    return unversioned in packages or any(f"/{package}/" in word for package in packages)


class Arguments:
    """The arguments of a program, up to a `--`."""

    def __init__(self, words: Sequence[str]) -> None:
        self._all = list(words)[: list(words).index("--")] if "--" in words else list(words)

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given."""
        return any(word == name or word.startswith(f"{name}=") for word in self._all for name in names)

    def value(self, *names: str) -> str:
        """Return the value of the last of these options that is given; "" if none is."""
        found = ""
        for word, following in zip(self._all, [*self._all, ""][1:], strict=True):
            for name in names:
                if word == name:
                    found = following
                elif word.startswith(f"{name}="):
                    found = word[len(name) + 1 :]
        return found

    @property
    def words(self) -> list[str]:
        """The words that are not options. An option's value counts as one if it is a separate word."""
        return [word for word in self._all if not word.startswith("-")]
