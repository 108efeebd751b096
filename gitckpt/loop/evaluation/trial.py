"""One run of one task in one arm, in a scratch repository of its own."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitckpt.loop import wording
from gitckpt.loop.conversation import Limits, Outcome
from gitckpt.loop.endpoint import ContextOverflow, Endpoint
from gitckpt.loop.evaluation.facts import is_known, planted_facts
from gitckpt.loop.evaluation.form import Form
from gitckpt.loop.evaluation.measures import Measures
from gitckpt.loop.evaluation.website import Website
from gitckpt.loop.evaluation.window import WindowedConversation
from gitckpt.loop.memory import Memory
from gitckpt.recorder import Recorder
from gitckpt.repo.gateway import Git
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gitckpt.loop.actions import Action
    from gitckpt.loop.endpoint import Message
    from gitckpt.loop.evaluation.facts import Fact
    from gitckpt.loop.evaluation.tasks import Task

#: Arm → its description.
ARMS: Final = {"A": "plain ReAct", "B": "checkpoint and reset"}

SYSTEM: Final = """\
You carry out a task with the tools you are given: search and open_page find out what has to be known, fill_form fills
in one field of a form, submit hands it in. Take one step at a time and look at what came of it. Fill in what the pages
say and nothing that you guess. When all fields are filled in, submit: that ends the task. Until then each of your
answers calls a tool.
"""

QUESTION: Final = (
    "Before you go on: {} Answer from what stands above, with that alone, and call no tool. If it does not stand "
    "there, answer: unknown."
)


class Trial(NamedTuple):
    """What is run; `repeat` counts from 1."""

    task: Task
    arm: str
    repeat: int

    @property
    def key(self) -> tuple[str, str, int]:
        """Identifies the run among all others."""
        return self.task.name, self.arm, self.repeat

    def __str__(self) -> str:
        return f"{self.task.number:02} {self.task.name}, {self.arm}, {self.repeat}"


class Setup(NamedTuple):
    """What all runs have in common. `endpoint` creates an endpoint with its own usage count."""

    endpoint: Callable[[], Endpoint]
    limits: Limits
    window: int | None


def system_text(arm: str) -> str:
    """Return what a model is told before the task: the same in both arms, plus what `gitckpt run` says about the memory
    in B."""
    told_of_memory = wording.rules(memory=True).removeprefix(wording.rules(memory=False))
    return SYSTEM + (told_of_memory if arm == "B" else "")


def run_trial(trial: Trial, directory: Path, setup: Setup) -> dict[str, Any]:
    """Run it in a new repository at `directory`, which is emptied first. Return its record.

    Raises EndpointFailed if the endpoint was given up: then nothing is known about the task.
    """
    _make_repository(directory)
    form = Form(trial.task.fields, directory)
    tree = WorkTree(discover(os.fsencode(directory)))
    try:
        return _Running(trial, setup, form, tree).record()
    finally:
        tree.close()


def _make_repository(directory: Path) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    # an empty template: no hooks and no ignore rules of the user's
    nobodys = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    git = Git(os.fsencode(directory), nobodys)
    git.run("init", "--quiet", "--template=")
    # after a crash of the machine the run is repeated, so nothing needs to wait for the disk
    git.run("config", "gitckpt.durable", "false")


class _PlantedMemory(Memory):
    """The memory of a run. Facts are planted into its checkpoints until the first reset; after that it is up to the
    model to keep them."""

    def __init__(self, recorder: Recorder, task: str, facts: Sequence[Fact]) -> None:
        super().__init__(recorder, task)
        self._facts = [{"text": fact.text, "source": fact.source} for fact in facts]
        self.planted = False

    def actions(self) -> list[Action]:
        """Return the memory's actions, with the planting added."""
        checkpoint, reset = super().actions()

        def run(given: dict[str, Any]) -> str:
            if self.resets:
                return checkpoint.run(given)
            answer = checkpoint.run(self._with_facts(given))
            self.planted = True
            return answer

        return [checkpoint._replace(run=run), reset]

    def _with_facts(self, given: dict[str, Any]) -> dict[str, Any]:
        facts = given.get("facts")
        if not isinstance(facts, list):  # the checkpoint refuses this
            return given
        return given | {"facts": [*facts, *(fact for fact in self._facts if fact not in facts)]}


class _Running:
    """A run with everything that it needs."""

    def __init__(self, trial: Trial, setup: Setup, form: Form, tree: WorkTree) -> None:
        self._trial, self._form, self._measures = trial, form, Measures()
        self._endpoint = setup.endpoint()
        self._facts = planted_facts(trial.task)
        self._recorder = Recorder(tree, alone=True, agent={"eval": f"{trial}", "model": self._endpoint.model})
        self._memory = None
        task = task_text(trial.task, form)
        if trial.arm == "B":
            self._memory = _PlantedMemory(self._recorder, task, self._facts)
        self._conversation = WindowedConversation(
            self._endpoint, system=system_text(trial.arm), task=task, memory=self._memory, limits=setup.limits,
            actions=[*Website(trial.task.pages).actions(), *form.actions()], observer=self._measures,
            window=setup.window,
        )  # fmt: skip
        self._measures.conversation = self._conversation

    def record(self) -> dict[str, Any]:
        """Run, ask for the facts, and return the record."""
        self._recorder.open()
        start = time.monotonic()
        outcome, why, turns = self._run()
        seconds = time.monotonic() - start
        usage = self._endpoint.usage
        record = {
            "task": self._trial.task.name, "arm": self._trial.arm, "repeat": self._trial.repeat,
            "success": self._form.submitted and all(self._form.right().values()),
            "outcome": outcome, "why": why, "submitted": self._form.submitted, "fields": self._form.right(),
            "turns": turns, "requests": usage.requests, "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens, "estimated": usage.estimated, "seconds": round(seconds, 3),
            "fallen_out": self._conversation.fallen_out, "failed_calls": self._measures.failed_calls,
            "resets": self._memory.resets if self._memory else 0, "forced": self._memory.forced if self._memory else 0,
            "errors": self._errors(),
        }  # fmt: skip
        self._recorder.note("end", f"end: {outcome}", {"outcome": outcome})
        return record | {"facts": self._known_facts(), "session": self._recorder.open().id}

    def _run(self) -> tuple[str, str, int]:
        """Return the outcome, the reason, and the number of replies. A conversation too long for the model is its own
        outcome."""
        try:
            ended: Outcome = self._conversation.run()
        except ContextOverflow as error:
            return "overflow", str(error), self._endpoint.usage.requests
        return ended.kind, ended.text, ended.turns

    def _errors(self) -> dict[str, int] | None:
        """Return how many errors could recur after a reset, and how many did; None without a reset."""
        if not self._measures.context:
            return None
        return {"before_reset": self._measures.errors_before_reset, "recurred": self._measures.errors_recurred}

    def _known_facts(self) -> dict[str, int] | None:
        """Return how many of the planted facts the model gives after its last reset; None if none were planted.

        The run is over and its tokens are counted: these questions belong to the measurement.
        """
        if self._memory is None or not self._memory.planted or not self._measures.context:
            return None
        replies = [self._endpoint.ask(_asking(self._measures.context, fact)).text for fact in self._facts]
        known = sum(is_known(fact, reply, self._facts) for fact, reply in zip(self._facts, replies, strict=True))
        return {"asked": len(self._facts), "kept": known}


def task_text(task: Task, form: Form) -> str:
    """Return the task as the model is given it."""
    return f"{task.prompt}\n\nThe form has these fields:\n{form.description()}"


def _asking(context: Sequence[Message], fact: Fact) -> list[Message]:
    """Return the context with one question appended to its last message: many models reject two user messages in a
    row."""
    *before, last = context
    return [*before, last | {"content": f"{last['content']}\n\n{QUESTION.format(fact.question)}"}]
