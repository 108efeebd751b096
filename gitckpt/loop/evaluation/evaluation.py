"""An evaluation: plans the runs, and carries out those that are missing."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from gitckpt.loop import wording
from gitckpt.loop.endpoint import EndpointFailed
from gitckpt.loop.evaluation.arguments import FillArguments, OpenArguments, SearchArguments, SubmitArguments
from gitckpt.loop.evaluation.facts import planted_facts
from gitckpt.loop.evaluation.tasks import all_tasks, digest
from gitckpt.loop.evaluation.trial import ARMS, QUESTION, Trial, run_trial, system_text
from gitckpt.toolbox.arguments import CheckpointArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.loop.conversation import Limits
    from gitckpt.loop.evaluation.results import Results
    from gitckpt.loop.evaluation.tasks import Task
    from gitckpt.loop.evaluation.trial import Setup


def trials_of(tasks: Sequence[Task], arms: Sequence[str], repeats: int) -> list[Trial]:
    """Return all runs, in an order that gives an interrupted evaluation both arms of what it has."""
    return [Trial(task, arm, repeat) for repeat in range(1, repeats + 1) for task in tasks for arm in arms]


def settings_of(
    model: str, base_url: str, limits: Limits, *, window: int | None, temperature: float | None
) -> dict[str, Any]:
    """Return what makes results comparable: results with other settings are kept apart. Contains no key and no
    password."""
    return {
        "schema": "gitckpt.eval-settings/1", "model": model, "base_url": _without_user(base_url),
        "temperature": temperature, "max_turns": limits.turns, "char_limit": limits.characters,
        "token_limit": limits.tokens, "reply_limit": limits.reply, "context_window": window,
        "tasks": digest(all_tasks()), "wording": _wording(),
    }  # fmt: skip


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _wording() -> str:
    """Return a hash of everything that the model reads in both arms, apart from the tasks."""
    said = [
        wording.BEGIN, wording.GO_ON, wording.CUT_OFF, wording.CALL_CUT_OFF, wording.CHECKPOINT_THEN_RESET,
        wording.NOW_RESET, QUESTION,
    ]  # fmt: skip
    models = (SearchArguments, OpenArguments, FillArguments, SubmitArguments, CheckpointArguments)
    schemas, planted = [model.model_json_schema() for model in models], [*map(planted_facts, all_tasks())]
    told = json.dumps([*map(system_text, ARMS), *said, *schemas, *planted])
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def evaluate(
    trials: Sequence[Trial],
    results: Results,
    setup: Setup,
    progress: Callable[[int, int], None],
    say: Callable[[str], None],
) -> None:
    """Run the trials that `results` lacks. `progress` is told how many of all are done, `say` how each one went.

    Raises EndpointFailed if the endpoint was given up; what was run until then is on record.
    """
    for done, trial in enumerate(trials):
        progress(done, len(trials))
        if not results.has(trial):
            results.add(record := _run(trial, results, setup))
            say(f"{trial}: {told(record)}")
    progress(len(trials), len(trials))


def _run(trial: Trial, results: Results, setup: Setup) -> dict[str, Any]:
    try:
        return run_trial(trial, results.place(trial), setup)
    except EndpointFailed as error:
        helps = "" if "resume" in error.hint else f"{error.hint} Then "
        raise EndpointFailed(str(error), f"{helps}the same command goes on where this one was") from error


def told(record: dict[str, Any]) -> str:
    """Say in one line how a run went."""
    right = sum(record["fields"].values())
    answer = "right" if record["success"] else f"{right} of {len(record['fields'])} fields right"
    resets = f", {record['resets']} resets" if record["arm"] == "B" else ""
    return (
        f"{answer}; {record['outcome']} after {record['turns']} turns{resets}, "
        f"{record['input_tokens']:,} input tokens, {record['seconds']:.0f} s"
    )
