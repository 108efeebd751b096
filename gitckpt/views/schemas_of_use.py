"""The documents of the commands that use recorded history: `blame`, `bisect`, `promote`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from gitckpt.views.schema_base import Document, MissingPath, Path


class BlamedLine(Document):
    """A line of a file."""

    line: int = Field(ge=1)
    ref: str | None = Field(description="The event that wrote it; null where it came after the last event.")
    kind: str | None
    at: str | None = Field(description="When that event was recorded.")
    text: str = Field(description="Bytes that are not UTF-8 are shown as \\xff.")


class BlameDocument(Document):
    """`gitckpt blame --json`."""

    schema_: Literal["gitckpt.blame/1"] = Field(alias="schema")
    path: Path
    at: str | None = Field(description="The event whose file this is; null for the work tree.")
    lines: list[BlamedLine]


class TriedEvent(Document):
    """An event that a command was run at."""

    ref: str
    commit: str
    result: Literal["good", "bad", "skipped"]


class BisectDocument(Document):
    """`gitckpt bisect --json`."""

    schema_: Literal["gitckpt.bisect/1"] = Field(alias="schema")
    command: list[str]
    first_bad: str | None = Field(description="The event that broke it; null where the command could not tell.")
    suspects: list[str] = Field(description="The events of which one broke it.")
    tried: list[TriedEvent]


class PromotedCommit(Document):
    """A commit that was made of checkpoints."""

    commit: str
    message: str
    checkpoints: list[str]
    files: list[Path]


class PromoteDocument(Document):
    """`gitckpt promote --json`."""

    schema_: Literal["gitckpt.promote/1"] = Field(alias="schema")
    done: bool = Field(description="Whether the branch was made; false for a dry run.")
    base: str | None = Field(description="The commit below; null before the first.")
    branch: str
    commits: list[PromotedCommit]
    left_out: list[MissingPath] = Field(description="Paths that no commit brings in or takes out, and why.")
    skipped: list[str] = Field(description="Checkpoints that changed nothing there.")


#: The value of `schema` → model.
MODELS: dict[str, type[BaseModel]] = {
    "gitckpt.blame/1": BlameDocument,
    "gitckpt.bisect/1": BisectDocument,
    "gitckpt.promote/1": PromoteDocument,
}
