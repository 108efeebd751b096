"""`gitckpt eval` as a person types it: what it prints, what it leaves, and that it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commandline import HANG, Answer, Place
from places import environment, place, template_place, zygote
from reading_model import ReadingModel, filling, needed, perfect, way_through
from scripted import Message, Scripted, Turn

from gitckpt.cli.eval import Wanted, evaluate, report_on
from gitckpt.errors import Damaged, Refused, UsageError
from gitckpt.loop.endpoint import EndpointFailed
from gitckpt.loop.evaluation.results import Results
from gitckpt.loop.evaluation.tasks import chosen_tasks
from gitckpt.loop.evaluation.trial import Trial
from gitckpt.views.schemas import MODELS

__all__ = ["environment", "place", "template_place", "zygote"]

[JOURNEYS, PERMIT] = chosen_tasks(["journeys", "permit"])

FOREIGN = ("OPENAI_MODEL", "MODEL", "OPENAI_BASE_URL", "BASE_URL", "OPENAI_API_KEY", "API_KEY")


@pytest.fixture(autouse=True)
def nobodys_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)


def solver(messages: list[Message]) -> Turn:
    """Solves both tasks, if it is left what it has read."""
    task = next(task for task in (JOURNEYS, PERMIT) if task.prompt in messages[0]["content"])
    model = ReadingModel(
        task, [*way_through(task), *filling(task)], sight=1_000_000, recognised=needed(task), conclude=perfect(task),
        thorough=False,
    )  # fmt: skip
    return model(messages)


class Evaluator:
    """Gives the command, against a scripted endpoint."""

    def __init__(self, place: Place, scripted: Scripted) -> None:
        self.place, self.scripted = place, scripted
        self.directory = place.path / "out"

    @property
    def env(self) -> Mapping[str, str]:
        return {"OPENAI_BASE_URL": self.scripted.url, "OPENAI_API_KEY": "a-secret-key"}

    def eval(self, *args: str) -> Answer:
        return self.place.run("eval", "-o", "out", "--model", "scripted", *args, env=self.env)

    @property
    def records(self) -> list[dict[str, Any]]:
        path = self.directory / "results.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def runs(self) -> list[tuple[str, str, int]]:
        return [(record["task"], record["arm"], record["repeat"]) for record in self.records]


@pytest.fixture
def evaluator(place: Place) -> Iterator[Evaluator]:
    with Scripted(solver) as scripted:
        yield Evaluator(place, scripted)


def test_an_evaluation_is_reported_and_goes_on_where_it_was(evaluator: Evaluator) -> None:
    answer = evaluator.eval("--tasks", "permit", "--json")
    assert answer.status == 0, answer.err
    MODELS["gitckpt.eval/1"].model_validate(answer.json)
    assert [answer.json["arms"][arm]["success"]["count"] for arm in "AB"] == [1, 1]
    assert (answer.json["runs"], answer.json["planned"]) == (2, 2)
    told = answer.err.splitlines()
    assert [line.split(":")[:2] for line in told] == [["gitckpt", f" 19 permit, {arm}, 1"] for arm in "AB"]
    assert " right; done after " in told[0]
    asked = len(evaluator.scripted.bodies)

    more = evaluator.eval("--tasks", "19,journeys", "--arm", "B", "--json")
    new = {body["messages"][0]["content"] for body in evaluator.scripted.bodies[asked:]}
    assert all(JOURNEYS.prompt in text for text in new), "what was run is not run again"
    assert evaluator.runs == [("permit", "A", 1), ("permit", "B", 1), ("journeys", "B", 1)]
    assert [task["task"] for task in more.json["tasks"]] == ["journeys", "permit"]

    report = evaluator.place.run("eval", "-o", "out", "--report", env={"OPENAI_BASE_URL": ""})
    assert report.status == 0, report.err
    assert "3 runs, model scripted." in report.out.splitlines()
    everything = b"".join(path.read_bytes() for path in evaluator.directory.glob("*") if path.is_file())
    assert b"a-secret-key" not in everything + report.raw + answer.raw
    assert evaluator.place.git("status", "--porcelain") == "", "the repository around it does not see it"


def test_an_evaluation_killed_in_the_middle_goes_on(evaluator: Evaluator) -> None:
    process: list[subprocess.Popen[bytes]] = []

    def script(messages: list[Message]) -> Turn:
        if process and len(evaluator.records) == 1 and len(messages) > 6:
            os.kill(process.pop().pid, signal.SIGKILL)
            time.sleep(0.2)
        return solver(messages)

    evaluator.scripted.script = script
    command = [sys.executable, "-m", "gitckpt", "eval", "-o", "out", "--model", "scripted", "--tasks", "permit"]
    begun = subprocess.Popen(
        command, cwd=evaluator.place.path, env=evaluator.place.env | dict(evaluator.env), stderr=subprocess.PIPE
    )
    process.append(begun)
    begun.communicate(timeout=HANG)
    assert begun.returncode == -signal.SIGKILL
    assert evaluator.runs == [("permit", "A", 1)]
    assert (evaluator.directory / "runs" / "permit" / "B-1" / "form.json").exists()

    with open(evaluator.directory / "results.jsonl", "a") as file:
        file.write('{"task": "permit", "arm": "B", "rep')  # as a full disk leaves it
    answer = evaluator.eval("--tasks", "permit")
    assert answer.status == 0, answer.err
    assert evaluator.runs == [("permit", "A", 1), ("permit", "B", 1)]
    assert all(record["success"] for record in evaluator.records)


def wanted(scripted: Scripted, directory: Path, **more: Any) -> Wanted:
    """What a command line asks for that names a task and an endpoint and nothing else."""
    usual = Wanted("permit", "A", 1, "scripted", scripted.url, "0", 40, 24_000, None, None, None, str(directory))
    return usual._replace(**more)


def test_results_of_other_settings_are_never_added(tmp_path: Path) -> None:
    with Scripted(solver) as scripted:
        once = wanted(scripted, tmp_path / "out")
        evaluate(once, chart=None, json=True)
        before, asked = (tmp_path / "out" / "results.jsonl").read_bytes(), len(scripted.bodies)
        for more, told in (
            ({"model": "another"}, "model was 'scripted', is 'another'"),
            ({"base_url": "http://elsewhere/v1"}, "base_url was"),
            ({"char_limit": 9_000}, "char_limit was 24000, is 9000"),
            ({"token_limit": 9_000}, "token_limit was None, is 9000"),
            ({"reply_limit": 90}, "reply_limit was None, is 90"),
            ({"max_turns": 9}, "max_turns was 40, is 9"),
            ({"context_window": 8_000}, "context_window was None, is 8000"),
            ({"temperature": "own"}, "temperature was 0.0, is None"),
        ):
            with pytest.raises(Refused, match=told) as refused:
                evaluate(once._replace(**more), chart=None, json=True)
            assert "-o DIR" in refused.value.hint
    assert ((tmp_path / "out" / "results.jsonl").read_bytes(), len(scripted.bodies)) == (before, asked)


def test_what_cannot_be_run_is_told_before_anything_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src", "mine.txt").write_text("mine")
    with Scripted(solver) as scripted:
        usual = wanted(scripted, Path("out"))
        for asked, chart, error, told in (
            (usual._replace(tasks="nonsense"), None, UsageError, "there is no task 'nonsense'"),
            (usual._replace(temperature="hot"), None, UsageError, "--temperature 'hot' is none"),
            (usual._replace(temperature="3"), None, UsageError, "--temperature '3' is none"),
            (usual._replace(model=None), None, UsageError, "which model"),
            (usual._replace(output="src"), None, Refused, "src holds other files"),
            (usual._replace(output="src/mine.txt"), None, UsageError, "mine.txt is no directory"),
            (usual, "chart.txt", UsageError, "cannot be drawn"),
            (usual, "nowhere/chart.svg", UsageError, "there is no directory nowhere"),
        ):
            with pytest.raises(error, match=told):
                evaluate(asked, chart=chart, json=True)
        with pytest.raises(Refused, match="src holds no evaluation"):
            report_on("src", chart=None, json=True)
    assert scripted.bodies == []
    assert [str(path) for path in sorted(Path().rglob("*"))] == ["src", "src/mine.txt"]


def test_an_endpoint_that_knows_no_such_model_ends_it_with_what_helps(tmp_path: Path) -> None:
    with (
        Scripted([Turn(status=404, body='{"error": {"message": "no such model"}}')]) as scripted,
        pytest.raises(EndpointFailed, match="no such model") as failed,
    ):
        evaluate(wanted(scripted, tmp_path / "out"), chart=None, json=True)
    assert "the same command goes on where this one was" in failed.value.hint


def test_the_chart_is_a_picture_with_each_task_and_the_same_for_the_same_results(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    one, two = (tmp_path / name for name in ("one.svg", "two.svg"))
    with Scripted(solver) as scripted:
        evaluate(wanted(scripted, tmp_path / "out", arm="both"), chart=str(one), json=True)
    report_on(str(tmp_path / "out"), chart=str(two), json=True)
    assert one.read_bytes() == two.read_bytes()
    words = "".join(ElementTree.parse(one).getroot().itertext())
    assert "19 permit" in words
    assert "Checkpoint and reset (B) beside plain ReAct (A): scripted" in words


def test_a_directory_is_written_by_one_evaluation_at_a_time(tmp_path: Path) -> None:
    with Results(tmp_path / "out", {}), pytest.raises(Refused, match="another evaluation writes to"):
        Results(tmp_path / "out", {})
    with Results(tmp_path / "out", {}) as results:
        assert results.records == []


@pytest.mark.parametrize("line", ["not json", "[]", '{"task": "permit"}'])
def test_a_line_that_cannot_be_read_is_named_and_nothing_is_run(tmp_path: Path, line: str) -> None:
    whole = {"task": "permit", "arm": "A", "repeat": 1, "success": True}
    with Results(tmp_path / "out", {}) as results:
        results.add(whole)
    path = tmp_path / "out" / "results.jsonl"
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(Damaged, match="line 2"):
        Results(tmp_path / "out", {})
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with Results(tmp_path / "out", {}) as results:
        assert results.has(Trial(PERMIT, "A", 1))
        assert not results.has(Trial(PERMIT, "A", 2))


def test_a_directory_in_which_a_killed_evaluation_had_only_begun_is_taken(tmp_path: Path) -> None:
    for name in (".gitignore", ".gitignore.new", "settings.json.new"):
        (tmp_path / name).write_text("hal")
    with Results(tmp_path, {"model": "m"}):
        pass
    assert json.loads((tmp_path / "settings.json").read_text()) == {"model": "m"}
    assert (tmp_path / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("content", ["{", "[]"])
def test_settings_that_cannot_be_read_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(Damaged, match="settings"):
        Results(tmp_path, {})
