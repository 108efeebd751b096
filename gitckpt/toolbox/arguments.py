"""The arguments of each tool. A model reads the class docstrings and descriptions here, as JSON schema."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitckpt.errors import UsageError

Name = Annotated[str, Field(min_length=1, max_length=200)]


class Arguments(BaseModel):
    """Base: unknown names are refused, so that a model notices a misspelled one."""

    model_config = ConfigDict(extra="forbid", strict=True)


_Given = TypeVar("_Given", bound=Arguments)


def validated(name: str, arguments: type[_Given], given: object) -> _Given:
    """Return the arguments of one call of the tool `name`. Raises UsageError, in words that a model can act on."""
    try:
        return arguments.model_validate(given if given is not None else {})
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()[:10])
        raise UsageError(f"{name} cannot be called so: {wrong}", "the schema of the tool says what it takes") from error


class Fact(Arguments):
    """Something found out, and where."""

    text: str = Field(description="What is known, in one sentence.", min_length=1)
    source: str = Field("", description="Where it is from: a URL, or path:line. Without a source it is no fact.")


class CheckpointArguments(Arguments):
    """What to go on from."""

    goal: str = Field(description="The whole task, in your own words, with its limits.", min_length=1)
    facts: list[Fact] = Field(description="What you found out and will need again, each with its source.")
    done: list[str] = Field(description="What is finished, oldest first.")
    todo: list[str] = Field(description="What is left to do, the next step first.")
    open: list[str] = Field(default_factory=list, description="Questions without an answer yet.")


class NoArguments(Arguments):
    """None."""


class SummaryArguments(Arguments):
    """A summary of steps."""

    text: str = Field(description="What these steps came to, in exactly three sentences.", min_length=1)
    covers: list[Name] = Field(default_factory=list, description='The checkpoints it stands for: ["C1", "C5"].')


class RetryArguments(Arguments):
    """A step to be tried again in another way."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    source: Name = Field(alias="from", description="The checkpoint to go back to and try again from: C6.")
    reason: str = Field(description="What went wrong.", min_length=1)
    strategy: str = Field(description="What you will do differently.", min_length=1)


class RollbackArguments(Arguments):
    """A rollback, planned first and applied by the hash of its plan."""

    to: Name = Field(description="The checkpoint: C6, C6~1 (the one before it), start, last, or a commit id.")
    paths: list[Name] = Field(default_factory=list, description="Only these files or directories; all if empty.")
    scope: Literal["files", "staged"] = Field(
        "staged", description="files: the work tree alone; staged: the staging area too, where HEAD is the same."
    )
    apply: str | None = Field(None, description="The hash of the plan you were shown; leave it out to see the plan.")


class LogArguments(Arguments):
    """How much of the log."""

    count: int = Field(20, description="How many of the last events.", ge=1, le=500)


class DiffArguments(Arguments):
    """What is compared."""

    before: Name = Field("last", description="A checkpoint: C6, start, last.")
    after: str = Field("", description="Another one; the work tree as it is now if left out.", max_length=200)
    paths: list[Name] = Field(default_factory=list, description="Only these files or directories.")
    stat: bool = Field(False, description="Only how much changed in which file.")


class ContextArguments(Arguments):
    """How long the context may be."""

    budget: int | None = Field(None, description="Characters at most.", ge=0)
