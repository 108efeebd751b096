"""The tasks: each can be solved from its own pages, and only by what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitckpt.errors import Refused, UsageError
from gitckpt.loop.actions import Action, Finished, named
from gitckpt.loop.evaluation.answers import accepted, is_right
from gitckpt.loop.evaluation.facts import is_known, planted_facts
from gitckpt.loop.evaluation.form import FILE, Form
from gitckpt.loop.evaluation.tasks import Field, Page, Task, all_tasks, chosen_tasks, digest
from gitckpt.loop.evaluation.trial import task_text
from gitckpt.loop.evaluation.website import Website

TASKS = all_tasks()

#: What is a wrong answer to a field of each type, though it could be filled in.
WRONG: dict[str, Any] = {"number": 7777, "text": "nobody", "date": "1999-12-31", "set": ["nobody"]}

each = pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.number:02}-{task.name}")


class Solver:
    """Solves a task by its scripted way: it opens only what it has read of, and goes by what it has read."""

    def __init__(self, task: Task, directory: Path) -> None:
        self.task, self.form = task, Form(task.fields, directory)
        self.actions: dict[str, Action] = named([*Website(task.pages).actions(), *self.form.actions()])
        self.read = task_text(task, self.form)

    def do(self, name: str, **arguments: Any) -> str:
        answer = self.actions[name].run(arguments)
        self.read += f"\n{answer}"
        return answer

    def look_up(self, page: Page) -> str:
        if page.via:
            self.do("search", query=page.via)
        assert page.url in self.read, "nothing leads to the page"
        return self.do("open_page", url=page.url)

    def open_what_leads_on(self) -> None:
        """Pages that hold nothing but links to others."""
        for page in self.task.pages:
            if not page.says and not page.moved and page.url in self.read and page.text.count("https://") > 1:
                self.do("open_page", url=page.url)

    def fill(self, **others: Any) -> None:
        for field in self.task.fields:
            self.do("fill_form", field=field.name, value=others.get(field.name, _written(field.answer)))


def _written(answer: Any) -> Any:
    """An answer as a model gives it."""
    return answer if isinstance(answer, (str, int, float, list)) else list(answer)


@each
def test_a_task_is_solved_by_the_way_that_its_pages_lead(task: Task, tmp_path: Path) -> None:
    solver = Solver(task, tmp_path)
    solver.open_what_leads_on()
    pages = [page for page in task.pages if page.says]
    while pages:
        known = [page for page in pages if page.via or page.url in solver.read]
        assert known, f"nothing leads to {[page.url for page in pages]}"
        assert known[0].says in solver.look_up(known[0])
        solver.open_what_leads_on()
        pages.remove(known[0])
    solver.fill()
    with pytest.raises(Finished):
        solver.do("submit")
    assert solver.form.submitted
    assert set(solver.form.right().values()) == {True}


@each
def test_each_wrong_field_fails_a_task(task: Task, tmp_path: Path) -> None:
    for field in task.fields:
        solver = Solver(task, tmp_path)
        wrong = next(option for option in [*field.options, WRONG.get(field.type)] if option != field.answer)
        solver.fill(**{field.name: wrong})
        assert [name for name, right in solver.form.right().items() if not right] == [field.name]


@each
def test_what_is_asked_for_stands_on_the_named_page_alone(task: Task) -> None:
    needed = [page for page in task.pages if page.says]
    assert len(needed) >= 4
    for page in needed:
        assert [other.url for other in task.pages if page.says in other.text] == [page.url]


@each
def test_the_question_gives_nothing_away(task: Task, tmp_path: Path) -> None:
    asked = task_text(task, Form(task.fields, tmp_path))
    for field in task.fields:
        if field.type != "choice" and len(str(field.answer)) > 2:
            assert str(field.answer) not in asked, field.name


@each
def test_pages_are_long_and_alike_in_length(task: Task) -> None:
    lengths = [len(page.text) for page in task.pages if not page.moved]
    assert min(lengths) > 3_500
    assert max(lengths) < 7_000


def test_reading_a_task_once_is_more_than_a_small_context_holds() -> None:
    read = {task.name: sum(len(page.text) for page in task.pages) for task in TASKS}
    assert {name: length for name, length in read.items() if length < 24_000} == {}


def test_there_are_twenty_of_three_kinds_and_no_two_alike() -> None:
    kinds = [task.kind for task in TASKS]
    assert [task.number for task in TASKS] == list(range(1, 21))
    assert {kind: kinds.count(kind) for kind in kinds} == {"compare": 7, "search": 7, "form": 6}
    assert len({task.prompt for task in TASKS} | {page.url for task in TASKS for page in task.pages}) == 20 + sum(
        len(task.pages) for task in TASKS
    )
    assert len({tuple(field.name for field in task.fields) for task in TASKS}) == 20


def test_pages_read_the_same_everywhere() -> None:
    assert digest(TASKS) == "4af643b8f9571306"


def test_tasks_are_chosen_by_number_name_and_kind() -> None:
    assert chosen_tasks([]) == list(TASKS)
    assert [task.number for task in chosen_tasks(["form", "3", "suppliers"])] == [1, 3, 15, 16, 17, 18, 19, 20]
    with pytest.raises(UsageError, match="no task 'nonsense'"):
        chosen_tasks(["nonsense"])


def field(type: Any, answer: Any = None, **more: Any) -> Field:
    return Field("it", type, "It", answer, **more)


@pytest.mark.parametrize(
    ("type", "answer", "given"),
    [
        ("number", 100000, "EUR 100,000"),
        ("number", 100000, "100 000 euros"),
        ("number", 100000, 100000.0),
        ("number", 100000, "100_000.00"),
        ("number", 2.8, "2,8 mA"),
        ("number", 684.59, "€684.59"),
        ("text", "Holm & Partners", "holm and partners"),
        ("text", "90172039", "9017 20 39"),
        ("text", "AI-311", "ai 311"),
        ("text", "Quist", " “Quist”. "),
        ("date", "2025-07-15", "2025-07-15 "),
        ("set", ["B", "E", "H"], "h, e; B"),
        ("set", ["B", "E", "H"], '["B", "H", "E"]'),
        ("set", ["ash", "elm"], "Ash and Elm"),
    ],
)
def test_wording_makes_no_difference(type: Any, answer: Any, given: Any) -> None:
    assert is_right(field(type, answer), given)


@pytest.mark.parametrize(
    ("type", "answer", "given"),
    [
        ("number", 100000, "10,000"),
        ("number", 100000, "110000"),
        ("number", 2.8, 28),
        ("text", "9.4.7", "9.4.10"),
        ("text", "2.4.1", "24.1"),
        ("text", "Quist", "Consul Quist or Brandt"),
        ("date", "2025-07-15", "2025-07-16"),
        ("set", ["B", "E", "H"], "B, E"),
        ("set", ["B", "E"], "B, E, H"),
    ],
)
def test_another_answer_is_wrong(type: Any, answer: Any, given: Any) -> None:
    assert not is_right(field(type, answer), given)


@pytest.mark.parametrize(
    ("type", "given", "told"),
    [
        ("number", "between 3 and 4", "one number"),
        ("number", "none", "one number"),
        ("number", True, "one number"),
        ("number", "1.2.3", "is no number"),
        ("date", "15 July 2025", "YYYY-MM-DD"),
        ("date", "2025-02-30", "YYYY-MM-DD"),
        ("text", "…", "a text"),
        ("text", ["a"], "a text"),
        ("set", "", "a list"),
        ("choice", "blue", "one of red, green"),
    ],
)
def test_what_is_no_value_is_refused_with_what_is_wanted(type: Any, given: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        accepted(field(type, options=("red", "green")), given)


def test_a_choice_is_recognised_whatever_its_case() -> None:
    assert is_right(field("choice", "Hotel Polder", options=("Hotel Polder", "The Towpath")), "hotel polder")


def test_another_way_of_writing_an_answer_is_right_where_the_task_says_so() -> None:
    assert is_right(field("text", "Harbour", also=("team Harbour",)), "Team Harbour")


def test_the_form_is_a_file_and_cannot_be_handed_in_with_an_empty_field(tmp_path: Path) -> None:
    solver = Solver(TASKS[0], tmp_path)
    assert "Still empty: price, auditor" in solver.do("fill_form", field="supplier", value="cedar vault")
    with pytest.raises(Refused, match="Still empty: price, auditor"):
        solver.do("submit")
    with pytest.raises(Refused, match="no field 'colour'"):
        solver.do("fill_form", field="colour", value="red")
    with pytest.raises(UsageError, match="one number"):
        solver.do("fill_form", field="price", value="cheap")
    assert json.loads((tmp_path / FILE).read_text()) == {"supplier": "cedar vault", "price": None, "auditor": None}
    assert not solver.form.submitted


def test_a_page_that_is_not_there_or_has_moved_is_told_so(tmp_path: Path) -> None:
    solver = Solver(TASKS[0], tmp_path)
    with pytest.raises(Refused, match="404"):
        solver.do("open_page", url="https://alder.example/nothing")
    with pytest.raises(Refused, match="410"):
        solver.do("open_page", url="https://birch.example/trust")
    assert solver.do("open_page", url="ALDER.example/pricing/").startswith("# Alder Archive")
    assert solver.do("search", query="xylophone") == "Nothing was found. Try other words."


@each
def test_the_planted_facts_are_known_from_the_state_alone(task: Task) -> None:
    facts = planted_facts(task)
    assert len({fact.question for fact in facts}) == 5
    assert sum(len(fact.text + fact.source) for fact in facts) < 400, "most of a state is left to the task"
    pages = " ".join(page.text for page in task.pages) + task.prompt
    assert [fact.value for fact in facts if fact.value in pages] == []
    for fact in facts:
        assert is_known(fact, f"It is {fact.value.upper()}.", facts)
        assert not is_known(fact, "unknown", facts)
        assert not is_known(fact, f"<think>{fact.value}?</think>unknown", facts)
        assert is_known(fact, f"<think>{' '.join(other.text for other in facts)}</think>{fact.value}", facts)
        assert not is_known(fact, " ".join(other.text for other in facts), facts)
