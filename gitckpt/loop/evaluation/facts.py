"""Five facts that are planted in the state of a run, and asked one by one after a reset.

They have nothing to do with the task and stand on no page: who knows one has it from the state alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gitckpt.loop.conversation import THOUGHT
from gitckpt.loop.evaluation.answers import name_of
from gitckpt.loop.evaluation.filler import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.loop.evaluation.tasks import Task

#: Where they are said to be from. Short, as what is planted takes its room of the state.
SOURCE: Final = "https://desk.example"

#: Facts that are planted in a run.
PLANTED: Final = 5

_PEOPLE: Final = ("Ruth Almqvist", "Bashir Nader", "Ivo Kranjc", "Wen Jiayi", "Odile Marchand", "Tuomas Virtanen")
_TOWNS: Final = ("Svolvær", "Zadar", "Killarney", "Olomouc", "Viborg", "Huesca")
_WORDS: Final = ("juniper", "quartz", "bramble", "sextant", "marzipan", "tundra")


class Fact(NamedTuple):
    """A planted fact: `text` as it stands in the state, what is asked after the reset, and what has to be answered."""

    text: str
    source: str
    question: str
    value: str


class _Kind(NamedTuple):
    text: str
    question: str
    value: Callable[[int], str]


_KINDS: Final = (
    _Kind("The order reference is {}.", "What is the order reference?", lambda n: f"KX-{1000 + n % 9000}"),
    _Kind("The cost code of this job is {}.", "What is the cost code of this job?", lambda n: f"{30000 + n % 60000}"),
    _Kind("Questions go to {}.", "Who is to be asked in case of questions?", lambda n: _PEOPLE[n % len(_PEOPLE)]),
    _Kind("The papers go to the office in {}.", "To the office in which town do the papers go?",
          lambda n: _TOWNS[n % len(_TOWNS)]),
    _Kind("The password of the reception desk is {}.", "What is the password of the reception desk?",
          lambda n: _WORDS[n % len(_WORDS)]),
    _Kind("The handover is in room {}.", "In which room is the handover?", lambda n: f"R{100 + n % 900}"),
    _Kind("The file is kept under number {}.", "Under which number is the file kept?", lambda n: f"F{2000 + n % 7000}"),
)  # fmt: skip


def planted_facts(task: Task) -> list[Fact]:
    """The facts of a task: five kinds of seven, with values of its own."""
    order = sorted(range(len(_KINDS)), key=lambda place: number_of("kind", task.name, place))
    return [_fact(_KINDS[place], number_of("value", task.name, place)) for place in order[:PLANTED]]


def _fact(kind: _Kind, number: int) -> Fact:
    value = kind.value(number)
    return Fact(f"Keep: {kind.text.format(value)}", SOURCE, kind.question, value)


def is_known(fact: Fact, reply: str, facts: Sequence[Fact]) -> bool:
    """Whether a reply gives the fact's value, and that of no other: to recite the whole state is no answer."""
    # to itself it may recite the state
    told = name_of(THOUGHT.sub("", reply))
    return name_of(fact.value) in told and not any(
        name_of(other.value) in told for other in facts if other.value != fact.value
    )
