"""`gitckpt eval`: the value of checkpoint and reset, measured on any OpenAI-compatible endpoint."""

from __future__ import annotations

import math
import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gitckpt.cli import render
from gitckpt.cli.eval_table import result_lines
from gitckpt.cli.progress import Progress
from gitckpt.errors import UsageError
from gitckpt.loop.conversation import Limits
from gitckpt.loop.endpoint import Address, Endpoint
from gitckpt.loop.evaluation.chart import draw, refuse_undrawable
from gitckpt.loop.evaluation.evaluation import evaluate as run_all
from gitckpt.loop.evaluation.evaluation import settings_of, trials_of
from gitckpt.loop.evaluation.results import Results, read_records, read_settings
from gitckpt.loop.evaluation.summary import summary
from gitckpt.loop.evaluation.tasks import chosen_tasks
from gitckpt.loop.evaluation.trial import ARMS, Setup


class Wanted(NamedTuple):
    """The options of the command line."""

    tasks: str
    arm: str
    repeat: int
    model: str | None
    base_url: str | None
    temperature: str
    max_turns: int
    char_limit: int
    token_limit: int | None
    reply_limit: int | None
    context_window: int | None
    output: str


def evaluate(wanted: Wanted, *, chart: str | None, json: bool) -> int:
    """Run the trials that have not run yet, and report everything in the directory."""
    trials = trials_of(
        chosen_tasks([word.strip() for word in wanted.tasks.split(",") if word.strip()]),
        [*ARMS] if wanted.arm == "both" else [wanted.arm],
        wanted.repeat,
    )
    address = Address.found(wanted.model, wanted.base_url, os.environ)
    temperature = _temperature(wanted.temperature)
    limits = Limits(wanted.max_turns, wanted.char_limit, wanted.token_limit, wanted.reply_limit)
    settings = settings_of(
        address.model, address.base_url, limits, window=wanted.context_window, temperature=temperature
    )
    endpoint = partial(
        Endpoint, address.model, base_url=address.base_url or None, api_key=address.api_key, temperature=temperature,
        longest_reply=limits.reply,
    )  # fmt: skip
    if chart:
        refuse_undrawable(chart)
    endpoint()  # if the client is not installed, this reports it before anything is written
    with Results(Path(wanted.output), settings) as results, Progress("evaluating") as progress:
        setup = Setup(partial(endpoint, say=progress.say), limits, wanted.context_window)
        run_all(trials, results, setup, progress, progress.say)
        document = summary(results.records, settings, len(trials))
    return _report(document, chart=chart, json=json)


def report_on(directory: str, *, chart: str | None, json: bool) -> int:
    """Report the contents of a directory. Raises Refused if it does not hold an evaluation."""
    if chart:
        refuse_undrawable(chart)
    settings = read_settings(Path(directory))
    return _report(summary(read_records(Path(directory)), settings), chart=chart, json=json)


def _report(document: dict[str, Any], *, chart: str | None, json: bool) -> int:
    if chart:
        draw(document, chart)
        render.say(f"the chart is in {chart}")
    if json:
        render.json(document)
    else:
        render.out(result_lines(document, render.columns(), colour=render.style().colour))
    return 0


def _temperature(written: str) -> float | None:
    """Return the temperature, or None for the endpoint's own. Raises UsageError."""
    if written == "own":
        return None
    try:
        temperature = float(written)
    except ValueError:
        temperature = math.nan
    if not 0 <= temperature <= 2:
        raise UsageError(f"--temperature {written!r} is none", "a number from 0 to 2, or own for the endpoint's own")
    return temperature
