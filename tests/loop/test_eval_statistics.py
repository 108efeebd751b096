"""Intervals against published values, and what a table of results is made of."""

from __future__ import annotations

from typing import Any

import pytest

from gitckpt.cli.eval_table import result_lines
from gitckpt.loop.evaluation.statistics import mean, proportion, ratio, t_quantile
from gitckpt.loop.evaluation.summary import summary
from gitckpt.views.schemas import MODELS


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 1, 0.2065, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_a_proportion_has_wilsons_interval(count: int, of: int, low: float, high: float) -> None:
    found = proportion(count, of)
    assert found == {"count": count, "of": of, "rate": count / of} | {
        "low": pytest.approx(low, abs=5e-5),
        "high": pytest.approx(high, abs=5e-5),
    }


def test_a_mean_has_students_interval() -> None:
    quantiles = {1: 12.706, 2: 4.303, 9: 2.262, 10: 2.228, 15: 2.131, 19: 2.093, 30: 2.042, 100: 1.984, 10_000: 1.960}
    assert {n: round(t_quantile(n), 3) for n in quantiles} == quantiles
    assert mean([1, 2, 3]) == pytest.approx({"mean": 2, "low": 2 - 2.48413, "high": 2 + 2.48413, "n": 3}, abs=1e-4)


def test_ratio_is_a_geometric_mean_over_pairs() -> None:
    assert ratio([(100, 50), (10, 2)]) == pytest.approx(
        {"ratio": 0.1**0.5, "low": 0.000938, "high": 106.5, "n": 2}, rel=2e-3
    )
    assert ratio([(100, 25), (8, 2)]) == pytest.approx({"ratio": 0.25, "low": 0.25, "high": 0.25, "n": 2})


def test_of_nothing_nothing_is_said_and_of_one_value_no_interval() -> None:
    assert (proportion(0, 0), mean([]), ratio([]), ratio([(0, 1)])) == (None, None, None, None)
    assert mean([7]) == {"mean": 7, "low": None, "high": None, "n": 1}


def record(task: str, arm: str, repeat: int, tokens: int, **more: Any) -> dict[str, Any]:
    right = more.get("success", True)
    return {
        "task": task, "arm": arm, "repeat": repeat, "success": right, "outcome": "done", "why": "", "submitted": True,
        "fields": {"a": True, "b": right}, "turns": 10, "requests": 10, "input_tokens": tokens, "output_tokens": 50,
        "estimated": 0, "seconds": 2.0, "fallen_out": 0, "failed_calls": 0, "resets": 1, "forced": 0, "errors": None,
        "facts": None, "session": "s",
    } | more  # fmt: skip


RECORDS = [
    record("suppliers", "A", 1, 1000, success=False),
    record("suppliers", "B", 1, 200, facts={"asked": 5, "kept": 5}, errors={"before_reset": 2, "recurred": 1}),
    record("suppliers", "A", 2, 3000, outcome="turns", success=False),
    record("suppliers", "B", 2, 300, facts={"asked": 5, "kept": 3}, errors={"before_reset": 0, "recurred": 0}),
    record("river", "A", 1, 8000),
    record("river", "B", 1, 1000, estimated=4, success=False),
]
SETTINGS = {"model": "m"}


def test_a_summary_counts_each_arm_and_compares_task_by_task() -> None:
    document = summary(RECORDS, SETTINGS, 8)
    MODELS["gitckpt.eval/1"].model_validate(document)
    a, b = document["arms"]["A"], document["arms"]["B"]
    assert [(arm["success"]["count"], arm["success"]["of"]) for arm in (a, b)] == [(1, 3), (2, 3)]
    assert [(arm["fields"]["count"], arm["fields"]["of"]) for arm in (a, b)] == [(4, 6), (5, 6)]
    assert (b["facts_kept"]["count"], b["facts_kept"]["of"], a["facts_kept"]) == (8, 10, None)
    assert (b["errors_recurred"]["count"], b["errors_recurred"]["of"]) == (1, 2)
    assert (a["outcomes"], b["estimated"]) == ({"done": 2, "turns": 1}, 4)
    assert (a["input_tokens"]["mean"], a["input_tokens"]["n"]) == (5000, 2)  # of the tasks' means 2000 and 8000
    assert document["comparison"]["input_tokens"]["ratio"] == pytest.approx(0.125)  # 250/2000 and 1000/8000
    assert [task["task"] for task in document["tasks"]] == ["suppliers", "river"]
    assert document["tasks"][0]["arms"]["A"]["input_tokens"]["mean"] == 2000


def test_a_summary_of_one_arm_or_of_nothing_compares_nothing() -> None:
    for records in (RECORDS[:1], []):
        document = summary(records, SETTINGS)
        MODELS["gitckpt.eval/1"].model_validate(document)
        assert document["comparison"] == {"input_tokens": None, "output_tokens": None, "seconds": None}
        assert result_lines(document, None, colour=False)


def test_the_table() -> None:
    records = [*RECORDS, record("conference", "A", 1, 1_234_567)]
    lines = result_lines(summary(records[:6], SETTINGS, 8), 80, colour=False)
    rows = [" ".join(line.split()) for line in lines if line.strip(" ─")]
    assert rows == [
        "right right tokens tokens time time facts errors",
        "task A B in A in B B/A A B kept back",
        "1 suppliers 0/2 2/2 2.0k 0.2k 0.12 2 s 2 s 8/10 1/2",
        "13 river 1/1 0/1 8.0k 1.0k 0.12 2 s 2 s – –",
        "all 1/3 2/3 5.0k 0.6k 0.13 2 s 2 s 8/10 1/2",
        "6 runs, 8 asked for, model m.",
        "A: right 1 of 3, 33% [6%, 79%]; fields 4 of 6, 67% [30%, 90%]; input tokens of a task 5,000 [-33,119, 43,119]; "
        "seconds 2.0 [2.0, 2.0]; done 2, turns 1.",
        "B: right 2 of 3, 67% [21%, 94%]; fields 5 of 6, 83% [44%, 97%]; input tokens of a task 625 [-4,140, 5,390]; "
        "seconds 2.0 [2.0, 2.0]; done 3.",
        "B uses 0.13 [0.13, 0.13] times the input tokens of A, task by task.",
        "Facts kept after a reset: 8 of 10, 80% [49%, 94%]. Errors that came back: 1 of 2, 50% [9%, 91%].",
        "In brackets: 95 % intervals, Wilson's for shares, Student's for means; those of all over the tasks' means.",
        "The endpoint reported no usage for some requests: their tokens are estimated.",
    ]
    wide = result_lines(summary(records, SETTINGS, 8), 80, colour=False)
    assert any(line.split()[:2] == ["17", "conference"] for line in wide)
    assert max(map(len, wide[: wide.index("7 runs, 8 asked for, model m.")])) <= 80
    assert not any("…" in line for line in wide)
