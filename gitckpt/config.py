"""The settings of a user or a repository: `.gitckpt.yaml` at the root of the work tree, overridden by `gitckpt.*` in
git's configuration.

A repository's own file can never make gitckpt run a command: no setting in it names one.
"""

from __future__ import annotations

import os

from gitckpt.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILE = b".gitckpt.yaml"

MIB = 1024 * 1024

#: The values that git accepts as true and as false.
YES = ("true", "yes", "on", "1")
NO = ("false", "no", "off", "0", "")


class Settings:
    """All settings of one repository, with their defaults.

    `max_file_size` is in bytes. `include` holds patterns of ignored files that are recorded anyway. `durable` asks for
    fsync, `pack` for packing in the background. `freeze` is auto, on or off. `on_retry` is fork or restore, `auto` is
    tool, turn or off; "" means the command's own default for both.

    `verify` is a command line that tells whether the files are good. It is read from git's configuration alone, because
    a repository's own file must never make gitckpt run anything. The remaining settings come from git's configuration
    too: the recording identity, and how git treats names and ignore rules in this repository.
    """

    __slots__ = (
        "author_email", "author_name", "auto", "durable", "excludes_file", "freeze", "ignore_case", "include",
        "max_file_size", "on_retry", "pack", "partial_clone", "precompose_unicode", "shared_repository", "sparse",
        "verify",
    )  # fmt: skip

    def __init__(self) -> None:
        self.max_file_size = 100 * MIB
        self.include: tuple[str, ...] = ()
        self.durable = True
        self.pack = True
        self.freeze = "auto"
        self.on_retry = ""
        self.auto = ""
        self.verify = ""
        self.author_name, self.author_email = "", ""
        self.excludes_file = ""
        self.ignore_case = False
        self.precompose_unicode = False
        self.partial_clone = False
        self.sparse = False
        self.shared_repository = "false"


def read_settings(work_tree: bytes | None, git_config: bytes, environ: Mapping[str, str]) -> Settings:
    """Return the settings from `.gitckpt.yaml` and from `git_config`, the output of `git config --list -z`.

    Without `work_tree` no file is read. Raises UsageError that names the key and the line.
    """
    settings = Settings()
    path = os.path.join(work_tree or b"", FILE)
    if work_tree is not None and _is_given(path):
        from gitckpt.config_file import read_file

        for name, value in read_file(path).items():
            if name in Settings.__slots__:
                setattr(settings, name, value)
    values = _git_values(git_config)
    _take_git(settings, values, environ)
    _take_personal(settings, values)
    return settings


def _is_given(path: bytes) -> bool:
    """Return whether there is a configuration file. Raises UsageError if it is no regular file: reading a FIFO would
    block."""
    if not os.path.lexists(path):
        return False
    if not os.path.isfile(path):
        name = os.fsdecode(os.path.basename(path))
        raise UsageError(f"{name} is not a file", "remove it, or make it a YAML file")
    return True


def _git_values(output: bytes) -> dict[str, list[str]]:
    """Return all values of each key; a key without a value is true. Git prints section and variable names in
    lowercase."""
    values: dict[str, list[str]] = {}
    for entry in output.split(b"\0"):
        name, newline, value = entry.partition(b"\n")
        if name:
            values.setdefault(os.fsdecode(name), []).append(os.fsdecode(value) if newline else "true")
    return values


def _take_git(settings: Settings, values: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> None:
    settings.author_name = values.get("user.name", [""])[-1]
    settings.author_email = values.get("user.email", [""])[-1]
    settings.ignore_case = _truth(values.get("core.ignorecase", ["false"])[-1])
    settings.precompose_unicode = _truth(values.get("core.precomposeunicode", ["false"])[-1])
    settings.partial_clone = any(name == "extensions.partialclone" or name.endswith(".promisor") for name in values)
    settings.sparse = _truth(values.get("core.sparsecheckout", ["false"])[-1])
    settings.shared_repository = values.get("core.sharedrepository", ["false"])[-1]
    settings.excludes_file = _excludes_file(values.get("core.excludesfile", [""])[-1], environ)


def _excludes_file(configured: str, environ: Mapping[str, str]) -> str:
    if configured:
        return os.path.expanduser(configured)
    home = environ.get("XDG_CONFIG_HOME") or (os.path.join(environ["HOME"], ".config") if environ.get("HOME") else "")
    return os.path.join(home, "git", "ignore") if home else ""


def _take_personal(settings: Settings, values: Mapping[str, Sequence[str]]) -> None:
    """Take `gitckpt.*` from git's configuration: the same names as in the file, in git's spelling
    (`gitckpt.maxFileSize`)."""
    for name, given in values.items():
        if not name.startswith("gitckpt."):
            continue
        key = name.removeprefix("gitckpt.")
        if key == "maxfilesize":
            settings.max_file_size = size(given[-1], f"git config {name}")
        elif key == "durable":
            settings.durable = flag(given[-1], f"git config {name}")
        elif key == "pack":
            settings.pack = flag(given[-1], f"git config {name}")
        elif key == "include":
            settings.include = tuple(include_pattern(pattern, f"git config {name}") for pattern in given)
        elif key == "freeze":
            settings.freeze = choice(given[-1], ("auto", "on", "off"), f"git config {name}")
        elif key == "auto":
            settings.auto = choice(given[-1], ("tool", "turn", "off"), f"git config {name}")
        elif key == "verify":
            settings.verify = given[-1].strip()
        elif key == "onretry":
            settings.on_retry = choice(given[-1], ("fork", "restore"), f"git config {name}")


def _truth(value: str) -> bool:
    return value.lower() in YES


def flag(value: str, where: str) -> bool:
    """Return a boolean of git's as a bool. Raises UsageError if it is not one."""
    if value.lower() not in YES + NO:
        raise UsageError(f"{where}: {value!r} is not true or false")
    return _truth(value)


def choice(value: object, allowed: Sequence[str], where: str) -> str:
    """Return `value` if it is one of `allowed`. Raises UsageError if not."""
    if value not in allowed:
        raise UsageError(f"{where}: {value!r} is none of {', '.join(allowed)}")
    return str(value)


def include_pattern(value: object, where: str) -> str:
    """Return `value` if it is a pattern for paths in the work tree. Raises UsageError if not."""
    if not isinstance(value, str):
        raise UsageError(f"{where}: {value!r} is no pattern", "put it into quotes")
    wrong = _wrong_with_pattern(value)
    if wrong:
        raise UsageError(f"{where}: {value!r} {wrong}", "write it as seen from the root: .env, or build/**/*.map")
    return value


def _wrong_with_pattern(pattern: str) -> str:
    if not pattern.strip():
        return "is empty, and matches nothing"
    if any(ord(character) < 32 for character in pattern):
        return "has a control character in it"
    if pattern.startswith(("/", "~")):
        return "is absolute, and patterns are of paths in the work tree"
    if ".." in pattern.split("/"):
        return "leads out of the work tree"
    if ".git" in pattern.lower().split("/"):
        return "is git's own, which cannot be recorded"
    return ""


def size(value: object, where: str) -> int:
    """Return the number of bytes that `100M`, `2g` or `4096` stands for. Raises UsageError."""
    text = str(value).strip().lower().removesuffix("b").removesuffix("i")
    factor = {"k": 1024, "m": MIB, "g": 1024 * MIB}.get(text[-1:], 1)
    digits = (text[:-1] if text[-1:] in "kmg" else text).strip()
    if isinstance(value, bool) or not (digits.isascii() and digits.isdigit()):
        raise UsageError(f"{where}: {value!r} is no size", "write it as 4096, 500K, 100M or 2G")
    return int(digits) * factor


def validation_codes(work_tree: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules that `.gitckpt.yaml` selects, and those it ignores. Raises UsageError that names key and
    line."""
    path = os.path.join(work_tree, FILE)
    if not _is_given(path):
        return (), ()
    from gitckpt.config_file import read_file

    given = read_file(path)
    return tuple(given.get("select", ())), tuple(given.get("ignore", ()))
