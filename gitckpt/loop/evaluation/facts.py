"""Five facts that are planted in the state of a run, and asked for one by one after a reset.

They have nothing to do with the task and are on no page: a model can know them from the state only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from gitckpt.loop.conversation import THOUGHT
from gitckpt.loop.evaluation.answers import name_of
from gitckpt.loop.evaluation.filler import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.loop.evaluation.tasks import Task

#: The source given for the facts. Short, because planted facts take up room in the state.
SOURCE: Final = "https://desk.example"

#: How many facts are planted in a run.
PLANTED: Final = 5

_PEOPLE: Final = ("Ruth Almqvist", "Bashir Nader", "Ivo Kranjc", "Wen Jiayi", "Odile Marchand", "Tuomas Virtanen")
_TOWNS: Final = ("Svolvær", "Zadar", "Killarney", "Olomouc", "Viborg", "Huesca")
_WORDS: Final = ("juniper", "quartz", "bramble", "sextant", "marzipan", "tundra")


class Fact(NamedTuple):
    """A planted fact: its `text` in the state, the question after the reset, and the expected answer."""

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
    """Return the facts of a task: five of seven kinds, with values of its own."""
    order = sorted(range(len(_KINDS)), key=lambda place: number_of("kind", task.name, place))
    return [_fact(_KINDS[place], number_of("value", task.name, place)) for place in order[:PLANTED]]


def _fact(kind: _Kind, number: int) -> Fact:
    value = kind.value(number)
    return Fact(f"Keep: {kind.text.format(value)}", SOURCE, kind.question, value)


def is_known(fact: Fact, reply: str, facts: Sequence[Fact]) -> bool:
    """Return whether a reply gives the fact's value and no other fact's: reciting the whole state is no answer."""
    # reciting the state in its reasoning is allowed
    told = name_of(THOUGHT.sub("", reply))
    return name_of(fact.value) in told and not any(
        name_of(other.value) in told for other in facts if other.value != fact.value
    )
