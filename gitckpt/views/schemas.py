"""The JSON documents that gitckpt prints, as pydantic models from which their JSON Schemas are published.

Loaded only if a schema is requested. A document names its type under `schema`, as `gitckpt.log/1`; the number changes
if a program that reads the old form could break.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter

from gitckpt.views.eval_schemas import EvalDocument
from gitckpt.views.rollback_schemas import PlanDocument, RollbackDocument
from gitckpt.views.schema_base import Document, MissingPath, Path
from gitckpt.views.schemas_of_use import MODELS as USE_MODELS
from gitckpt.views.transfer_schemas import AttemptDocument, FetchDocument, ForkDocument, PushDocument


class ChangedFile(Document):
    """A path that differs from the event before."""

    status: str = Field(pattern="^[A-Z?]$", description="Git's status letter.")
    path: str = Field(description="The path; bytes that are not UTF-8 are shown as \\xff.")
    old_path: str | None = Field(description="The path before a rename or copy.")
    b64: str = Field(default="", description="All bytes of the path, where they are not UTF-8.")
    old_b64: str = Field(default="", description="The same for the path before.")


class Coverage(Document):
    """What a snapshot could not hold, and why."""

    complete: bool
    missing: list[MissingPath]


class ClaimsDocument(Document):
    """What a checkpoint says beside what its step has changed."""

    unchanged: list[Path] = Field(description="Paths that it says it has worked on, and that are as they were.")
    unnamed: list[Path] = Field(description="Paths that have changed and that it does not name.")


class RunOnFiles(Document):
    """A command that was run on the files of an event, by `bisect` or `rollback --last-green`."""

    command: list[str]
    status: int = Field(description="Its exit status; a later run on the same files counts.")
    result: Literal["passed", "failed", "skipped"] = Field(description="Skipped is 125: it could not tell.")


class EventDocument(Document):
    """One event: `gitckpt show ID --json`, and an entry of `gitckpt log --json`."""

    kind: str = Field(
        description="start, checkpoint, auto, summary, retry, final, rollback, reset, note, end, or a newer one."
    )
    id: str | None = Field(description="The id, as C6; null where the kind has none.")
    written: str | None = Field(description="The id as the agent wrote it.")
    ref: str = Field(description="<session>/C6, or the start of the commit id where there is no id.")
    session: str
    line: str
    seq: int = Field(ge=0, description="The place among the events of the session, from 1; 0 for an unreadable one.")
    commit: str = Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")
    parent: str | None = Field(description="The commit of the event before it on the line; null for the first.")
    parent_id: str | None
    at: str = Field(description="RFC 3339, in UTC.")
    head: str | None = Field(description="The commit that HEAD named.")
    branch: str | None = Field(description="The branch that HEAD named; null when detached.")
    fields: dict[str, Any] = Field(description="The fields of the block as parsed.")
    unterminated: bool = Field(description="Whether the block had no footer.")
    answers_to: list[str] = Field(description="Further ids: a RETRY stands for the checkpoint that never reported.")
    opens: dict[str, Any] | None = Field(description="The line that a retry or rollback opened: session, line, at.")
    rollback: dict[str, Any] | None = Field(description="What a rollback was to do: operation, target, scope, …")
    agent: dict[str, Any] | None = Field(description="Command of the agent (start), its exit status (end).")
    coverage: Coverage
    files: list[ChangedFile]
    claims: ClaimsDocument | None = Field(description="For an agent's checkpoint; null where nothing was compared.")
    tests: list[RunOnFiles] = Field(description="Empty where no command was run on these files in this work tree.")


class LogDocument(Document):
    """`gitckpt log --json`."""

    schema_: Literal["gitckpt.log/1"] = Field(alias="schema")
    session: str | None = Field(description="The session; null where the events are of all sessions.")
    events: list[EventDocument]
    attempts: list[AttemptDocument] = Field(description="Those that began at one of these events, by `gitckpt fork`.")


class ErrorDocument(Document):
    """What any command prints under --json when it fails."""

    schema_: Literal["gitckpt.error/1"] = Field(alias="schema")
    error: str
    hint: str | None = Field(description="The command that helps.")
    exit: int = Field(ge=1, le=255)


class DiffDocument(Document):
    """`gitckpt diff --json`."""

    schema_: Literal["gitckpt.diff/1"] = Field(alias="schema")
    before: str = Field(description="A commit or tree.")
    after: str
    files: list[ChangedFile]


class ContextDocument(Document):
    """`gitckpt context --json`; an entry has `kind`, `id` and `fields`."""

    schema_: Literal["gitckpt.context/1"] = Field(alias="schema")
    summaries: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    latest: list[dict[str, Any]]
    state: dict[str, Any]
    stale: list[dict[str, Any]] = Field(description="Facts whose file has changed: text, source, path, since.")
    left_out: list[str]


class RunDocument(Document):
    """`gitckpt run --json`."""

    schema_: Literal["gitckpt.run/1"] = Field(alias="schema")
    session: str
    outcome: Literal["done", "stuck", "turns"] = Field(description="Done, as the model says; stuck; or out of turns.")
    text: str = Field(description="What came out, in the model's words, or why it ended.")
    turns: int = Field(ge=0)
    resets: int = Field(ge=0, description="How often the context was cleared.")
    forced: int = Field(ge=0, description="How often of these by the host.")
    requests: int = Field(ge=0)
    input_tokens: int = Field(ge=0, description="Of all requests, those after a reset too.")
    output_tokens: int = Field(ge=0)
    estimated: int = Field(ge=0, description="Requests of which the endpoint reported no tokens.")
    checkpoints: list[str]


class ReplayDocument(Document):
    """`gitckpt replay --json`."""

    schema_: Literal["gitckpt.replay/1"] = Field(alias="schema")
    blocks: list[dict[str, Any]]
    summaries: list[dict[str, Any]]
    retries: list[dict[str, Any]]
    phases: list[dict[str, Any]]
    final: dict[str, Any] | None
    state: dict[str, Any] | None = Field(description="The state at the step asked for; null where there is none.")
    diagnostics: list[dict[str, Any]]


class RollbackTargetDocument(Document):
    """`gitckpt replay --rollback-target ID --json`."""

    schema_: Literal["gitckpt.rollback-target/1"] = Field(alias="schema")
    failed: str
    target: str


class FindingDocument(Document):
    """One breach of a rule."""

    file: str
    line: int
    column: int
    code: str = Field(pattern="^P[0-9]{3}$")
    level: Literal["error", "warning"]
    message: str


class FindingsDocument(Document):
    """`gitckpt validate --format json`."""

    schema_: Literal["gitckpt.findings/1"] = Field(alias="schema")
    findings: list[FindingDocument]


class SessionDocument(Document):
    """One session of a list."""

    id: str
    agent: str
    first: str | None = Field(description="Time of the first event, RFC 3339 in UTC.")
    last: str | None = Field(description="Time of the last event.")
    open: bool
    events: int
    checkpoints: int
    lines: int
    size: int | None = Field(description="Bytes that dropping it would free; null where it was not measured.")
    origin: str | None = Field(description="The remote that it was fetched from; null where it was recorded here.")


class SessionsDocument(Document):
    """`gitckpt sessions --json`."""

    schema_: Literal["gitckpt.sessions/1"] = Field(alias="schema")
    sessions: list[SessionDocument]


class KeptSession(Document):
    """A session that was asked for and stays."""

    id: str
    reason: str


class PruneDocument(Document):
    """`gitckpt prune --json`."""

    schema_: Literal["gitckpt.prune/1"] = Field(alias="schema")
    done: bool = Field(description="Whether they are dropped; false for a dry run, and where there is nothing to drop.")
    dropped: list[SessionDocument]
    kept: list[KeptSession]
    objects: int = Field(ge=0, description="Objects that nothing else needs; git's gc takes them.")
    bytes: int = Field(ge=0, description="What they take up on disk.")


class LastEventDocument(Document):
    """The event that a status counts from."""

    id: str | None
    kind: str
    ref: str
    commit: str
    at: str


class StatusDocument(Document):
    """`gitckpt status --json`."""

    schema_: Literal["gitckpt.status/1"] = Field(alias="schema")
    session: str | None
    line: str | None
    open: bool
    last: LastEventDocument | None
    changes: list[ChangedFile] = Field(description="Paths that differ from the last checkpoint.")
    metadata: list[str | dict[str, str]] = Field(
        description="Paths that differ in permission bits alone, and empty directories that came or went."
    )
    missing: list[MissingPath]
    interrupted: str | None
    stopped: str | None = Field(description="How the agent ended before its task did; `gitckpt resume` goes on.")


class WholenessDocument(Document):
    """One session that was verified."""

    id: str
    whole: list[str] = Field(description="Events that suffer from nothing, as <session>/C6.")
    affected: list[str] = Field(description="Events that suffer from damage.")


class IntegrityFindingDocument(Document):
    """One thing that is wrong with the record."""

    check: Literal["object", "line", "number", "ref", "message", "parents", "current", "tag", "interrupted", "final"]
    level: Literal["damage", "notice"] = Field(description="Damage exits with 5, a notice alone with 1.")
    message: str
    help: str = Field(description="The command that helps.")
    affected: list[str]


class VerifyDocument(Document):
    """`gitckpt verify --json`."""

    schema_: Literal["gitckpt.verify/1"] = Field(alias="schema")
    whole: bool
    objects: int = Field(ge=0, description="How many were read and compared with their names.")
    sessions: list[WholenessDocument]
    findings: list[IntegrityFindingDocument] = Field(description="Damage first.")
    newer: list[str] = Field(description="Events of a newer format: only their files were looked at.")


class RemarkDocument(Document):
    """What one check of doctor has to say."""

    check: str
    level: Literal["ok", "note", "mend"] = Field(description="A single mend exits with 1.")
    message: str
    help: str = Field(description='The command that mends it; "" where nothing needs mending.')


class DoctorDocument(Document):
    """`gitckpt doctor --json`."""

    schema_: Literal["gitckpt.doctor/1"] = Field(alias="schema")
    healthy: bool
    checks: list[RemarkDocument]


#: Name → model: the value of `schema`; for `show`, which prints no `schema`, the entry of a log.
MODELS: dict[str, type[BaseModel]] = {
    "gitckpt.event/1": EventDocument,
    "gitckpt.log/1": LogDocument,
    "gitckpt.error/1": ErrorDocument,
    "gitckpt.plan/1": PlanDocument,
    "gitckpt.rollback/1": RollbackDocument,
    "gitckpt.diff/1": DiffDocument,
    "gitckpt.context/1": ContextDocument,
    "gitckpt.run/1": RunDocument,
    "gitckpt.replay/1": ReplayDocument,
    "gitckpt.rollback-target/1": RollbackTargetDocument,
    "gitckpt.findings/1": FindingsDocument,
    "gitckpt.sessions/1": SessionsDocument,
    "gitckpt.prune/1": PruneDocument,
    "gitckpt.push/1": PushDocument,
    "gitckpt.fetch/1": FetchDocument,
    "gitckpt.fork/1": ForkDocument,
    "gitckpt.status/1": StatusDocument,
    "gitckpt.verify/1": VerifyDocument,
    "gitckpt.doctor/1": DoctorDocument,
    **USE_MODELS,
    "gitckpt.eval/1": EvalDocument,
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a document by its name, such as `gitckpt.log/1`. Raises KeyError for an unknown
    name.
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(MODELS[name]).json_schema()}
