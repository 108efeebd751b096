"""All results of an evaluation as one document, `gitckpt.eval/1`.

Success, facts and errors are proportions of all runs. The mean for one task is over its runs; the mean for all tasks is
over the tasks' means, since tasks differ more than runs of one task do.
"""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from gitckpt.loop.evaluation.statistics import LEVEL, mean, proportion, ratio
from gitckpt.loop.evaluation.tasks import all_tasks
from gitckpt.loop.evaluation.trial import ARMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Record = dict[str, Any]


def summary(records: Sequence[Record], settings: Mapping[str, Any], planned: int | None = None) -> dict[str, Any]:
    """Return the document. `planned` is the number of runs planned; None if unknown."""
    by_task = {task: [record for record in records if record["task"] == task.name] for task in all_tasks()}
    return {
        "schema": "gitckpt.eval/1",
        "settings": dict(settings),
        "runs": len(records),
        "planned": planned,
        "intervals": {"level": LEVEL, "proportions": "Wilson", "means": "Student's t"},
        "arms": {arm: _all_tasks([found for found in by_task.values() if found], arm) for arm in ARMS},
        "comparison": {
            name: ratio(_pairs(by_task.values(), name)) for name in ("input_tokens", "output_tokens", "seconds")
        },
        "tasks": [
            {"number": task.number, "task": task.name, "kind": task.kind, "title": task.title,
             "arms": {arm: _one_task(_of(found, arm)) for arm in ARMS}}
            for task, found in by_task.items() if found
        ],
    }  # fmt: skip


def _of(records: Sequence[Record], arm: str) -> list[Record]:
    return [record for record in records if record["arm"] == arm]


def _one_task(records: Sequence[Record]) -> dict[str, Any]:
    means = {name: mean([record[name] for record in records]) for name in _MEANS}
    return _proportions(records) | means


def _all_tasks(by_task: Sequence[Sequence[Record]], arm: str) -> dict[str, Any]:
    per_task = [found for records in by_task if (found := _of(records, arm))]
    means = {name: mean([_mean(found, name) for found in per_task]) for name in _MEANS}
    return _proportions([record for found in per_task for record in found]) | means


_MEANS = ("input_tokens", "output_tokens", "seconds", "turns", "resets")


def _proportions(records: Sequence[Record]) -> dict[str, Any]:
    return {
        "runs": len(records),
        "success": proportion(sum(bool(record["success"]) for record in records), len(records)),
        "fields": proportion(*_counted([_fields(record) for record in records], "right", "all")),
        "facts_kept": proportion(*_counted([record["facts"] for record in records], "kept", "asked")),
        "errors_recurred": proportion(*_counted([record["errors"] for record in records], "recurred", "before_reset")),
        "outcomes": dict(sorted(Counter(record["outcome"] for record in records).items())),
        "estimated": sum(record["estimated"] for record in records),
    }


def _fields(record: Record) -> dict[str, int]:
    return {"right": sum(record["fields"].values()), "all": len(record["fields"])}


def _counted(found: Sequence[Mapping[str, int] | None], part: str, whole: str) -> tuple[int, int]:
    known = [entry for entry in found if entry is not None]
    return sum(entry[part] for entry in known), sum(entry[whole] for entry in known)


def _mean(records: Sequence[Record], name: str) -> float:
    return fmean(record[name] for record in records)


def _pairs(by_task: Iterable[Sequence[Record]], name: str) -> list[tuple[float, float]]:
    """Return the means of both arms, for each task that has both."""
    both = [(_of(records, "A"), _of(records, "B")) for records in by_task]
    return [(_mean(first, name), _mean(second, name)) for first, second in both if first and second]
