"""The twenty tasks: each has a question, a form to fill in, and a small web of pages that hold the answers.

They ship as `corpus/NN-name.toml`. A page has a few sentences that matter and many that do not; outdated prices, other
models and corrected misprints appear beside the answers.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from gitckpt.errors import UsageError
from gitckpt.loop.evaluation.filler import CORPUS, number_of, paragraphs, table

#: The number of paragraphs on a page that have nothing to do with the task; about 400 characters each.
FILLER: Final = 10

Kind = Literal["search", "compare", "form"]

FieldType = Literal["number", "text", "date", "choice", "set"]


class Field(NamedTuple):
    """A field of the form. `answer` is the right one, `also` lists other ways of writing it; `options` are those of a
    choice."""

    name: str
    type: FieldType
    label: str
    answer: Any
    also: tuple[Any, ...] = ()
    options: tuple[str, ...] = ()


class Page(NamedTuple):
    """A page. `says` is its sentence without which the task cannot be solved, "" if there is none. `via` holds words
    with which the search finds it. A page that has `moved` can no longer be opened."""

    url: str
    title: str
    text: str
    says: str = ""
    via: str = ""
    moved: bool = False


class Task(NamedTuple):
    """A task. The pages with `says`, in order, are the way to solve it."""

    number: int
    name: str
    kind: Kind
    title: str
    prompt: str
    fields: tuple[Field, ...]
    pages: tuple[Page, ...]


@cache
def all_tasks() -> tuple[Task, ...]:
    """Return all tasks, ordered by number."""
    return tuple(map(_task, sorted(path.name for path in CORPUS.glob("[0-9][0-9]-*.toml"))))


def chosen_tasks(words: Sequence[str]) -> list[Task]:
    """Return the tasks with these numbers, names and kinds; all if there are none. Raises UsageError."""
    wanted = {task for word in words for task in _of(word)}
    return [task for task in all_tasks() if not words or task in wanted]


def _of(word: str) -> list[Task]:
    found = [task for task in all_tasks() if word in (str(task.number), task.name, task.kind)]
    if not found:
        names = ", ".join(f"{task.number} {task.name}" for task in all_tasks())
        raise UsageError(f"there is no task {word!r}", f"search, compare, form, or: {names}")
    return found


def digest(tasks: Sequence[Task]) -> str:
    """Return a hash that identifies the exact text of these tasks."""
    return hashlib.sha256(repr([tuple(task) for task in tasks]).encode()).hexdigest()[:16]


def _task(file: str) -> Task:
    written = tomllib.loads((CORPUS / file).read_text(encoding="utf-8"))
    number, _, name = file.removesuffix(".toml").partition("-")
    return Task(
        int(number), name, written["kind"], written["title"], _one_line(written["prompt"]),
        tuple(map(_field, written["fields"])),
        tuple(_page(page, written["theme"]) for page in _pages(written)),
    )  # fmt: skip


def _field(written: dict[str, Any]) -> Field:
    lists = {name: tuple(written.get(name, ())) for name in ("also", "options")}
    answer = written["answer"]
    return Field(**written | lists | {"answer": tuple(answer) if isinstance(answer, list) else answer})


def _pages(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each page as written, with those of a series filled in."""
    for series in written.get("series", ()):
        patterns = {name: text for name, text in series.items() if name != "rows"}
        for row in series["rows"]:
            yield {name: pattern.format_map(row) for name, pattern in patterns.items()}
    yield from written.get("pages", ())


def _page(written: dict[str, Any], theme: str) -> Page:
    url, title = written["url"], written["title"]
    if "moved" in written:
        return Page(url, title, "", moved=True)
    says, via = (_one_line(written.get(name, "")) for name in ("says", "via"))
    return Page(url, title, _laid_out(url, title, _one_line(written["text"]), theme), says, via)


def _laid_out(url: str, title: str, text: str, theme: str) -> str:
    """Return the page as it is read: the relevant text is somewhere in the middle of the rest."""
    parts = paragraphs(theme, url, FILLER)
    parts.insert(number_of(url, "table") % FILLER, table(theme, url))
    parts.insert(1 + number_of(url) % FILLER, text)
    return "\n\n".join([f"# {title}", url, *parts])


def _one_line(text: str) -> str:
    return " ".join(text.split())
