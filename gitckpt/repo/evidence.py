"""The evidence for facts: the content that their sources pointed at, and whether it has changed since."""

from __future__ import annotations

import os
import stat

from gitckpt.errors import Damaged
from gitckpt.protocol.state import source_path
from gitckpt.repo.checked import safe
from gitckpt.repo.digest import object_name
from gitckpt.repo.trees import blobs_at
from gitckpt.trajectory.paths import data_path, path_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

    #: The evidence in a record: `{"fact": index of the fact, "path", "blob", "since": the checkpoint that first gave
    #: it}`.
    Evidence = dict[str, Any]


def evidence(repository: Repository, git: Git, tree: str, event: Event, before: Event | None) -> list[Evidence]:
    """Return the evidence for the facts of a checkpoint, for sources that are files in its snapshot `tree`.

    A fact that the checkpoint `before` already gave keeps the evidence it had then: repeating a fact is not looking
    again."""
    facts = event.fields.get("facts") or []
    places = {n: path for n, fact in enumerate(facts) if (path := _path(repository, fact.get("source")))}
    blobs = blobs_at(git, tree, sorted(set(places.values()))) if places else {}
    new = {path: {"path": path_data(path), "blob": blob, "since": event.id} for path, blob in blobs.items()}
    known = _known(before) if places and before else {}
    rows = {n: known.get(_words(facts[n])) or new.get(path) for n, path in places.items()}
    return [{"fact": n, **row} for n, row in rows.items() if row]


def _known(before: Event) -> dict[tuple[str, str], Evidence]:
    facts, rows = before.fields.get("facts") or [], before.document.get("sources") or []
    try:
        return {_words(facts[row["fact"]]): {name: row[name] for name in ("path", "blob", "since")} for row in rows}
    except (TypeError, KeyError, IndexError, AttributeError):  # a record that gitckpt did not write
        return {}


def _words(fact: dict[str, Any]) -> tuple[str, str]:
    return str(fact.get("text")), str(fact.get("source"))


def _path(repository: Repository, source: object) -> bytes | None:
    """Return the file that a source names, relative to the work tree; None if it names none that could be in it."""
    path = source_path(str(source or ""))
    full = os.path.normpath(os.path.join(repository.work_tree, os.fsencode(path.encode("utf-8", "replace").decode())))
    try:
        return safe(os.path.relpath(full, repository.work_tree)) if path else None
    except Damaged:  # outside, or git's own
        return None


def stale_facts(repository: Repository, event: Event) -> list[dict[str, Any]]:
    """Return the facts of a checkpoint whose files differ in the work tree now: `{"text", "source", "path", "since"}`.

    Never raises for a malformed record: such a fact has no known evidence."""
    found = []
    for row in event.document.get("sources") or ():
        try:
            fact, path = event.fields["facts"][row["fact"]], safe(data_path(row["path"]))
            if _blob(repository, path) != row["blob"]:
                told = {"path": row["path"], "since": str(row["since"])}
                found.append({"text": str(fact["text"]), "source": str(fact["source"])} | told)
        except (Damaged, TypeError, KeyError, IndexError, ValueError, AttributeError):
            continue
    return found


def _blob(repository: Repository, path: bytes) -> str:
    """Return the object id of a file's current content; "" if there is no such file."""
    place = repository.at(path)
    try:
        mode = os.lstat(place).st_mode
        if stat.S_ISLNK(mode):
            content = os.readlink(place)
        elif stat.S_ISREG(mode):
            with open(place, "rb") as file:
                content = file.read()
        else:
            return ""
    except OSError:
        return ""
    return object_name("blob", content, repository.object_format)


def last_with_facts(events: Sequence[Event]) -> Event | None:
    """Return the newest checkpoint that gives facts, or None."""
    for event in reversed(events):
        if event.kind == "checkpoint" and event.fields.get("facts"):
            return event
    return None
