"""The results of an evaluation as a table."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

#: The width if that of the output is unknown.
WIDTH = 100

#: The column headings; the table must fit into 80 columns.
TITLES = (
    "right\nA",
    "right\nB",
    "tokens\nin A",
    "tokens\nin B",
    "\nB/A",
    "time\nA",
    "time\nB",
    "facts\nkept",
    "errors\nback",
)

NOTHING = "–"

Document = dict[str, Any]


def result_lines(document: Document, columns: int | None, *, colour: bool) -> list[str]:
    """Return a row for each task, one for all of them, and the conclusions."""
    text = io.StringIO()
    console = Console(file=text, width=columns or WIDTH, force_terminal=colour, no_color=not colour, highlight=False)
    console.print(_table(document))
    for line in _conclusions(document):
        console.print(line, soft_wrap=True, markup=False)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def _table(document: Document) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column("\ntask", no_wrap=True)
    for title in TITLES:
        table.add_column(title, justify="right", no_wrap=True, min_width=6)
    for task in document["tasks"]:
        table.add_row(f"{task['number']:>2} {task['task']}", *_cells(task["arms"], _ratio(task["arms"])))
    table.add_section()
    table.add_row("all", *_cells(document["arms"], document["comparison"]["input_tokens"]))
    return table


def _cells(arms: Document, ratio: Document | None) -> Iterator[str]:
    a, b = arms["A"], arms["B"]
    for arm in (a, b):
        yield _count(arm["success"])
    for arm in (a, b):
        yield _thousands(arm["input_tokens"])
    yield f"{ratio['ratio']:.2f}" if ratio else NOTHING
    for arm in (a, b):
        yield f"{arm['seconds']['mean']:,.0f} s" if arm["seconds"] else NOTHING
    yield _count(b["facts_kept"])
    yield _count(b["errors_recurred"])


def _ratio(arms: Document) -> Document | None:
    first, second = (arms[arm]["input_tokens"] for arm in "AB")
    return {"ratio": second["mean"] / first["mean"]} if first and second and first["mean"] else None


def _count(found: Document | None) -> str:
    return f"{found['count']}/{found['of']}" if found else NOTHING


def _thousands(found: Document | None) -> str:
    if not found:
        return NOTHING
    return f"{found['mean'] / 1000:,.1f}k" if found["mean"] < 99_950 else f"{found['mean'] / 1000:,.0f}k"


def _conclusions(document: Document) -> Iterator[str]:
    asked_for = f", {document['planned']} asked for" if document["planned"] is not None else ""
    yield f"{document['runs']} runs{asked_for}, model {document['settings']['model']}."
    for arm, found in document["arms"].items():
        if found["runs"]:
            right = f"right {_share(found['success'])}; fields {_share(found['fields'])}"
            ended = ", ".join(f"{outcome} {count}" for outcome, count in found["outcomes"].items())
            yield f"{arm}: {right}; {_means(found)}; {ended}."
    comparison = document["comparison"]["input_tokens"]
    if comparison:
        yield f"B uses {_spread(comparison, comparison['ratio'], '{:.2f}')} times the input tokens of A, task by task."
    b = document["arms"]["B"]
    yield f"Facts kept after a reset: {_share(b['facts_kept'])}. Errors that came back: {_share(b['errors_recurred'])}."
    yield "In brackets: 95 % intervals, Wilson's for shares, Student's for means; those of all over the tasks' means."
    if sum(found["estimated"] for found in document["arms"].values()):
        yield "The endpoint reported no usage for some requests: their tokens are estimated."


def _means(found: Document) -> str:
    tokens, seconds = found["input_tokens"], found["seconds"]
    return (
        f"input tokens of a task {_spread(tokens, tokens['mean'], '{:,.0f}')}; "
        f"seconds {_spread(seconds, seconds['mean'], '{:,.1f}')}"
    )


def _share(found: Document | None) -> str:
    if not found:
        return "not measured"
    return f"{found['count']} of {found['of']}, {found['rate']:.0%} [{found['low']:.0%}, {found['high']:.0%}]"


def _spread(found: Document, value: float, form: str) -> str:
    if found["low"] is None:
        return form.format(value)
    return f"{form.format(value)} [{form.format(found['low'])}, {form.format(found['high'])}]"
