"""Hooks and tools of gitckpt in the configuration of agent clients: merged with what the user has there, and removed
again. If a file has not changed since, removal restores its former content byte for byte.

All files are read and merged before the first one is written. The former content is kept in a directory of ours.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitckpt.agents.homes import placed
from gitckpt.errors import Refused
from gitckpt.repo.private import ASIDE, clear_abandoned, write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gitckpt.agents.agent import Agent
    from gitckpt.agents.wiring import Installation, Wiring

#: The maximum size in bytes of a configuration file; a longer one is something else.
LARGEST: Final = 4 * 1024 * 1024


class Places(NamedTuple):
    """Where to look for configuration: the home directory, the root of the work tree ("" for none), the directory that
    keeps the former content, and the environment that clients go by."""

    home: str
    repository: str
    kept: str
    environ: Mapping[str, str]


class Edit(NamedTuple):
    """A change to one file: its path, its present content and its new content. None stands for no file."""

    path: str
    old: str | None
    new: str | None
    executable: bool
    caution: str


def installations(agent: Agent, own: Wiring, shared: Wiring) -> list[Installation]:
    """Return what is written for a client: `own` commands in the home directory, and in the repository `shared` ones,
    which work for everyone who has it. Raises Refused for a client without configuration."""
    if agent.install is None:
        raise Refused(f"{agent.name} has no configuration for hooks or tools", f"gitckpt wrap -- {agent.programs[0]} …")
    files = [file._replace(moved=agent.moved) for file in agent.install(own) if file.base == "home"]
    return files + [file for file in agent.install(shared) if file.base == "repository"]


def additions(files: Iterable[Installation], places: Places) -> list[Edit]:
    """Return the edits that add our entries; nothing is written. Raises Refused for a file that cannot be merged."""
    return _edits(files, places, lambda file, old: file.merge(old))


def removals(files: Iterable[Installation], places: Places) -> list[Edit]:
    """Return the edits that remove our entries. A file gets back its former content byte for byte, unless it has
    changed since; then only our entries are removed."""

    def without(file: Installation, old: str | None) -> str | None:
        if old is None:
            return None
        kept = _kept(places, _path(file, places))
        return kept["before"] if kept and kept["after"] == _digest(old) else file.remove(old)

    return _edits(files, places, without)


def write(edits: Sequence[Edit], places: Places, *, remove: bool) -> list[str]:
    """Carry out the edits, and return a line for each. Raises Refused if a file cannot be written."""
    told = []
    # the record of the first file lists the directories that we created, so that file is removed last
    for edit in reversed(edits) if remove else edits:
        try:
            told.append(_carry_out(edit, places, remove=remove))
        except OSError as error:
            raise Refused(f"{edit.path} cannot be written: {error.strerror}", "make it writable") from error
    return told


def _edits(
    files: Iterable[Installation], places: Places, change: Callable[[Installation, str | None], str | None]
) -> list[Edit]:
    edits = []
    for file in files:
        if file.base == "repository" and not places.repository:
            continue
        path = _path(file, places)
        if file.base == "repository":
            _refuse_outside(path, places.repository)
        old = _read(path)
        try:
            edits.append(Edit(path, old, change(file, old), file.executable, file.caution))
        except Refused as error:  # the message has the path relative to its base
            raise Refused(str(error).replace(file.path, path, 1), error.hint) from error
    return edits


def _path(file: Installation, places: Places) -> str:
    if file.base == "home":
        return placed(file.path, places.home, file.moved, places.environ)
    return os.path.join(places.repository, file.path)


def _refuse_outside(path: str, repository: str) -> None:
    """Raise Refused if a path leads out of the work tree: the repository's author may have put a symlink there to
    redirect our writes."""
    real, top = os.path.realpath(path), os.path.realpath(repository)
    relative = os.path.relpath(real, top).split(os.sep)
    if os.pardir in relative or ".git" in map(str.lower, relative):
        raise Refused(f"{path} leads out of the work tree, to {real}", "look at that link, and remove it")


def _read(path: str) -> str | None:
    if os.path.exists(path) and not os.path.isfile(path):
        raise Refused(f"{path} is not a file", "look what it is, and remove it")
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}", "make it a file that can be read") from error
    if len(content) > LARGEST:
        raise Refused(f"{path} is larger than {LARGEST // 1024**2} MiB, and was left as it is", "look what it is")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8, and was left as it is", "save it as UTF-8") from error


def _carry_out(edit: Edit, places: Places, *, remove: bool) -> str:
    clear_abandoned(os.fsencode(os.path.realpath(edit.path)) + ASIDE)
    if edit.old == edit.new:
        if remove:
            _forget(edit, places)
        return f"{edit.path}: " + ("nothing of gitckpt's is in it" if remove else "it is so already")
    if remove:
        _put_back(edit, places)
        return f"{edit.path}: " + ("removed" if edit.new is None else "gitckpt's entries are out")
    missing = _missing_directories(os.path.dirname(edit.path))
    assert edit.new is not None
    _keep_before(edit, places, missing, _digest(edit.new))
    for directory in reversed(missing):
        os.mkdir(directory)
    _write(edit.path, edit.new, executable=edit.executable)
    return f"{edit.path}: written"


def _keep_before(edit: Edit, places: Places, missing: list[str], after: str) -> None:
    """Keep the file's content without our entries. If that is no longer known, drop the record: removal then takes out
    our entries only."""
    kept = _kept(places, edit.path)
    if edit.old is None or "gitckpt" not in edit.old:
        # an earlier run that was killed here may have created some of them
        made = sorted({*missing, *(kept["made"] if kept and edit.old is None else ())}, key=len, reverse=True)
        _keep(places, {"path": edit.path, "before": edit.old, "after": after, "made": made})
    elif kept and kept["after"] == _digest(edit.old):
        _keep(places, kept | {"after": after})
    elif kept:
        os.unlink(_record(places, edit.path))


def _put_back(edit: Edit, places: Places) -> None:
    if edit.new is None:
        os.unlink(edit.path)
    else:
        _write(edit.path, edit.new, executable=edit.executable)
    _forget(edit, places)


def _forget(edit: Edit, places: Places) -> None:
    """Forget a file that has nothing of ours any more: remove the directories created for it, and its record."""
    if kept := _kept(places, edit.path):
        if edit.new is None:
            _remove_directories(kept["made"])
        os.unlink(_record(places, edit.path))


def _write(path: str, content: str, *, executable: bool) -> None:
    """Write atomically, through symlinks, and keep the permission bits that the file has."""
    path = os.path.realpath(path)
    mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o755 if executable else 0o644
    write_file(os.fsencode(path), content.encode(), mode=mode)


def _missing_directories(directory: str) -> list[str]:
    """Return the directories that do not exist, innermost first."""
    missing = []
    while directory and not os.path.isdir(directory):
        missing.append(directory)
        directory = os.path.dirname(directory)
    return missing


def _remove_directories(made: Sequence[str]) -> None:
    for directory in made:
        try:
            os.rmdir(directory)
        except OSError:  # it has other content by now
            return


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _record(places: Places, path: str) -> str:
    return os.path.join(places.kept, f"{_digest(path)[:24]}.json")


def _kept(places: Places, path: str) -> dict[str, Any] | None:
    """Return the record of a file that we changed: `before` (content), `after` (a hash), the directories `made` for
    it."""
    try:
        with open(_record(places, path), "rb") as file:
            kept = json.load(file)
    except (OSError, ValueError):
        return None
    sound = isinstance(kept, dict) and kept.keys() == {"path", "before", "after", "made"} and kept["path"] == path
    return kept if sound else None


def _keep(places: Places, kept: dict[str, Any]) -> None:
    os.makedirs(places.kept, mode=0o700, exist_ok=True)
    write_file(os.fsencode(_record(places, kept["path"])), json.dumps(kept).encode(), mode=0o600)
