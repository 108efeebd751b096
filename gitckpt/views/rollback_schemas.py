"""The JSON documents of `gitckpt rollback`, `undo` and `redo`, as pydantic models."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gitckpt.views.schema_base import Document, Path


class PlanStepDocument(Document):
    """What a rollback does to one path."""

    action: Literal["restore", "delete", "mode", "leave"]
    path: Path
    reason: str
    changed_since_last_event: bool = Field(
        description="Whether somebody has changed the path since the last recorded event."
    )


class PlaceDocument(Document):
    """Where HEAD is: on a branch, or at a commit alone."""

    branch: Path | None
    commit: str | None


class HeadDocument(Document):
    """Where HEAD goes."""

    before: PlaceDocument
    after: PlaceDocument


class MoveDocument(Document):
    """A branch that moves."""

    branch: Path
    before: str | None = Field(description="Its commit now, null where there is no such branch.")
    after: str | None = Field(description="Its commit afterwards, null where there will be none.")


class PlanDocument(Document):
    """`gitckpt rollback --dry-run --json`."""

    schema_: Literal["gitckpt.plan/1"] = Field(alias="schema")
    target: str
    scope: Literal["files", "staged", "all"]
    hash: str
    steps: list[PlanStepDocument]
    by_hand: list[str]
    head: HeadDocument | None = Field(description="Where HEAD goes, null where it stays.")
    moves: list[MoveDocument] = Field(description="The branches that move.")
    staging: bool = Field(description="Whether the staging area is written.")
    staging_note: str | None = Field(description="Why the staging area is left alone where it was to be restored.")


class RollbackDocument(Document):
    """`gitckpt rollback --json`, `undo --json`, `redo --json`: what was done."""

    schema_: Literal["gitckpt.rollback/1"] = Field(alias="schema")
    plan: PlanDocument
    safety: str = Field(description="The commit of the event that holds the state before.")
    verified: bool
    left: int = Field(ge=0, description="How many paths were left as they are.")
    notes: list[str]
