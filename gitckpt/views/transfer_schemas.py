"""The JSON documents of `gitckpt push`, `gitckpt fetch` and `gitckpt fork`, as pydantic models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gitckpt.views.schema_base import Document, Path


class BarredDocument(Document):
    """What is not sent unless it is allowed."""

    path: Path | None = Field(description="The file; null for the record of the event itself.")
    checkpoint: str = Field(description="Where it is first: <session>/C6, or a commit.")
    reason: str


class PushDocument(Document):
    """`gitckpt push --json`, also with `--dry-run`."""

    schema_: Literal["gitckpt.push/1"] = Field(alias="schema")
    done: bool = Field(description="Whether the remote has it all now; false for a dry run.")
    remote: str
    sessions: list[str] = Field(description="Those with anything to send.")
    lines: int = Field(ge=0, description="Lines that are new there or go on.")
    tags: int = Field(ge=0)
    events: int = Field(ge=0)
    commits: int = Field(ge=0, description="Commits that events are bound to, your own, that the remote did not have.")
    objects: int = Field(ge=0, description="Objects that the remote did not have.")
    behind: list[str] = Field(description="Sessions of which the remote has more than this repository.")
    clashes: list[str] = Field(description="Lines that are different there.")
    barred: list[BarredDocument]
    note: str = Field(description="What the server did not let go, or nothing.")


class ArrivalDocument(Document):
    """A session that the remote has."""

    id: str
    state: Literal["new", "more", "same", "own", "refused"]
    events: int = Field(ge=0, description="Events that are new here.")
    lines: int = Field(ge=0)
    reason: str = Field(description="Why it is refused, or nothing.")


class FetchDocument(Document):
    """`gitckpt fetch --json`, also with `--dry-run`."""

    schema_: Literal["gitckpt.fetch/1"] = Field(alias="schema")
    done: bool = Field(description="Whether anything was to be brought and is here now; false for a dry run.")
    remote: str
    sessions: list[ArrivalDocument]
    strange: int = Field(ge=0, description="Refs below refs/gitckpt/ there that are none of gitckpt's.")


class AttemptDocument(Document):
    """One attempt."""

    session: str
    number: int = Field(ge=0, description="Which of its fork it is, from 1.")
    of: str = Field(description="The checkpoint that it began at: <session>/C6.")
    status: int = Field(description="The exit status of its command.")
    seconds: float
    test: int | None = Field(description="The exit status of the test; null where there was none.")
    files: int = Field(ge=0, description="Files that differ from the checkpoint.")
    added: int = Field(ge=0, description="Lines.")
    deleted: int = Field(ge=0)
    picked: bool = Field(description="Whether another session went on from what it left, as `pick` makes it.")


class ForkDocument(Document):
    """`gitckpt fork --json`, also with `--list`."""

    schema_: Literal["gitckpt.fork/1"] = Field(alias="schema")
    attempts: list[AttemptDocument]
