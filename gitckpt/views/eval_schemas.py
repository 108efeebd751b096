"""The output of `gitckpt eval --json` as pydantic models, from which its JSON Schema is published."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gitckpt.views.schema_base import Document


class Share(Document):
    """A proportion, with Wilson's interval."""

    count: int
    of: int
    rate: float
    low: float
    high: float


class Mean(Document):
    """A mean, with Student's interval, which one value alone has none of."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Ratio(Document):
    """The geometric mean, over the tasks, of B divided by A."""

    ratio: float
    low: float | None
    high: float | None
    n: int


class ArmResults(Document):
    """The runs of one arm."""

    runs: int
    success: Share | None
    fields: Share | None = Field(description="Fields of the forms that were right.")
    facts_kept: Share | None = Field(description="Planted facts that were known after a reset.")
    errors_recurred: Share | None = Field(description="Errors made before a reset that came back after it.")
    outcomes: dict[str, int] = Field(description="done, stuck, turns or overflow, and how often.")
    estimated: int = Field(description="Requests of which the endpoint reported no tokens.")
    input_tokens: Mean | None
    output_tokens: Mean | None
    seconds: Mean | None
    turns: Mean | None
    resets: Mean | None


class Arms(Document):
    """Both arms."""

    A: ArmResults
    B: ArmResults


class Comparison(Document):
    """B beside A, over the tasks that both have run."""

    input_tokens: Ratio | None
    output_tokens: Ratio | None
    seconds: Ratio | None


class TaskResults(Document):
    """One task."""

    number: int
    task: str
    kind: Literal["search", "compare", "form"]
    title: str
    arms: Arms


class Intervals(Document):
    """How the intervals are made."""

    level: float
    proportions: Literal["Wilson"]
    means: Literal["Student's t"]


class EvalDocument(Document):
    """`gitckpt eval --json`."""

    schema_: Literal["gitckpt.eval/1"] = Field(alias="schema")
    settings: dict[str, Any] = Field(description="What all runs have in common.")
    runs: int
    planned: int | None = Field(description="Runs that were asked for; null in a report of what there is.")
    intervals: Intervals
    arms: Arms
    comparison: Comparison
    tasks: list[TaskResults]
