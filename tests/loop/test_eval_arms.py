"""Both arms on real HTTP, with a model that knows only what it is sent."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from reading_model import ReadingModel, Step, filling, needed, perfect, way_through
from scripted import RESET, Message, Scripted, Turn, call, refuse, save, tokens

from gitckpt.loop.conversation import Limits
from gitckpt.loop.endpoint import Endpoint, EndpointFailed
from gitckpt.loop.evaluation.evaluation import evaluate, settings_of, trials_of
from gitckpt.loop.evaluation.facts import planted_facts
from gitckpt.loop.evaluation.results import Results
from gitckpt.loop.evaluation.tasks import chosen_tasks
from gitckpt.loop.evaluation.trial import Setup, Trial, run_trial

[SUPPLIERS] = chosen_tasks(["suppliers"])
[RIVER] = chosen_tasks(["river"])

#: Supplier → its price and the auditor of its report, in the words of the pages.
PRICES = {
    "Alder Archive": "Up to 200 users: EUR 120,000",
    "Birch Box": "Company (up to 200 users): EUR 90,000",
    "Cedar Vault": "Paid in advance for one year, Archive 200: EUR 100,000",
}
REPORTS = {
    "Alder Archive": "SOC 2 Type II report, period ended in June, written by Novak Assurance",
    "Cedar Vault": "SOC 2 Type II: finished, auditor Holm & Partners",
}
NO_REPORT = "SOC 2 Type II: observation period begins next spring"

#: Cedar first, so that it has to be remembered longest.
SUPPLIER_STEPS: list[Step] = [
    ("search", "Cedar Vault plans price"),
    ("open_page", "https://cedar.example/plans"),
    ("search", "Cedar Vault assurance SOC 2 report"),
    ("open_page", "https://cedar.example/assurance"),
    ("open_page", "https://birch.example/trust"),
    ("search", "Birch Box security trust compliance"),
    ("open_page", "https://birch.example/company/security-and-trust"),
    ("open_page", "https://birch.example/prices"),
    ("open_page", "https://alder.example/pricing"),
    ("open_page", "https://alder.example/security"),
    *filling(SUPPLIERS),
]


#: B's context is cleared before the model loses sight of its beginning.
BELOW_SIGHT = Limits(characters=16_000)


def cheapest(known: Sequence[str]) -> dict[str, Any]:
    """The cheapest of those of whom it knows both the price and a finished report."""
    fit = {
        supplier: int(re.findall(r"EUR ([\d,]+)", PRICES[supplier])[0].replace(",", ""))
        for supplier, report in REPORTS.items()
        if report in known and PRICES[supplier] in known
    }
    supplier = min(fit, key=lambda name: fit[name], default="Birch Box")
    auditor = re.split("written by |auditor ", REPORTS.get(supplier, "auditor nobody"))[1]
    return {"supplier": supplier, "price": fit.get(supplier, 90_000), "auditor": auditor}


def buyer(sight: int) -> ReadingModel:
    sentences = [*PRICES.values(), *REPORTS.values(), NO_REPORT]
    found = {text: next(page.url for page in SUPPLIERS.pages if text in page.text) for text in sentences}
    return ReadingModel(SUPPLIERS, SUPPLIER_STEPS, sight=sight, recognised=found, conclude=cheapest)


def trial_run(
    trial: Trial, script: Any, directory: Path, *, window: int | None = None, limits: Limits = BELOW_SIGHT
) -> dict[str, Any]:
    """Run one trial with a script at the HTTP end: its record."""
    with Scripted(script) as scripted:
        endpoint = partial(Endpoint, "scripted", base_url=scripted.url, api_key="k", first_wait=0.01)
        return run_trial(trial, directory, Setup(endpoint, limits, window))


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The same in a directory of this test's own."""
    return lambda trial, script, **more: trial_run(trial, script, tmp_path / f"{trial.arm}-{trial.repeat}", **more)


class Both(NamedTuple):
    """The example of the suppliers in both arms; `counted` are the input tokens of B's requests, as they were sent."""

    plain: dict[str, Any]
    kept: dict[str, Any]
    counted: list[int]
    directory: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    directory, counted, model = tmp_path_factory.mktemp("suppliers"), [], buyer(24_000)

    def script(messages: list[Message]) -> Turn:
        counted.append(tokens(messages))
        return model(messages)

    plain = trial_run(Trial(SUPPLIERS, "A", 1), model, directory / "A")
    kept = trial_run(Trial(SUPPLIERS, "B", 1), script, directory / "B")
    return Both(plain, kept, counted, directory / "B")


def test_what_a_context_without_reset_forgets_a_checkpoint_keeps(both: Both) -> None:
    plain, kept = both.plain, both.kept
    assert (plain["success"], plain["submitted"]) == (False, True)
    assert plain["fields"] == {"supplier": False, "price": False, "auditor": False}
    assert (kept["success"], kept["outcome"]) == (True, "done")
    assert kept["resets"] >= 1
    assert kept["facts"] == {"asked": 5, "kept": 5}


def test_with_a_context_that_holds_all_both_arms_are_right(run: Callable[..., dict[str, Any]]) -> None:
    assert [run(Trial(SUPPLIERS, arm, 1), buyer(1_000_000))["success"] for arm in "AB"] == [True, True]


def test_every_checkpoint_of_a_run_is_a_git_checkpoint_with_the_form(both: Both) -> None:
    record = both.kept
    git = partial(subprocess.run, cwd=both.directory, capture_output=True, text=True, check=True)
    tags = git(["git", "for-each-ref", "--format=%(refname)", f"refs/gitckpt/{record['session']}/tags"]).stdout.split()
    assert len(tags) == sum(step[0] == "open_page" for step in SUPPLIER_STEPS)
    form = json.loads(git(["git", "show", f"{tags[0]}:form.json"]).stdout)
    assert form == {"supplier": None, "price": None, "auditor": None}
    log = git(["git", "log", "--format=%s", f"refs/gitckpt/{record['session']}/heads/main"]).stdout.splitlines()
    assert log[0] == "end: done"
    assert sum("the context is cleared" in line for line in log) == record["resets"]


def test_forty_turns_cost_at_most_a_quarter_of_the_input_tokens(run: Callable[..., dict[str, Any]]) -> None:
    pages = [step for step in way_through(RIVER) if step[0] == "open_page"]
    again = [(name, f"{url}/") for name, url in pages] + [(name, url.upper()) for name, url in pages[:3]]
    steps = [("open_page", "https://river.example/elder/2024"), *way_through(RIVER), *again, *filling(RIVER)]
    steps.insert(-5, ("search", "Elder flood"))
    model = partial(
        ReadingModel, RIVER, steps, sight=1_000_000, recognised=needed(RIVER), conclude=perfect(RIVER), thorough=False
    )
    plain = run(Trial(RIVER, "A", 1), model(), limits=Limits())
    kept = run(Trial(RIVER, "B", 1), model(), limits=Limits(turns=80))
    assert (plain["success"], plain["turns"], plain["requests"]) == (True, 40, 40)
    assert (kept["success"], kept["forced"], kept["estimated"]) == (True, 0, 0)
    assert kept["requests"] > 40  # what it takes to save and to reset is counted
    assert kept["input_tokens"] / plain["input_tokens"] <= 1 / 4


def test_tokens_are_those_that_the_endpoint_reports_without_the_questions_of_the_measuring(both: Both) -> None:
    assert both.kept["requests"] == len(both.counted) - 5
    assert both.kept["input_tokens"] == sum(both.counted[:-5])


def test_refusals_that_pass_change_nothing_of_the_result(run: Callable[..., dict[str, Any]], both: Both) -> None:
    model, asked, answered = buyer(24_000), [], []

    def busy(messages: list[Message]) -> Turn:
        asked.append(messages)
        if len(asked) % 3 == 1:
            return refuse(429, Retry_After="0")
        answered.append(tokens(messages))
        return model(messages)

    disturbed = run(Trial(SUPPLIERS, "B", 1), busy)
    same = ("success", "turns", "requests", "output_tokens", "resets", "facts", "errors")
    assert {name: disturbed[name] for name in same} == {name: both.kept[name] for name in same}
    assert len(asked) > len(answered)
    assert disturbed["input_tokens"] == sum(answered[: disturbed["requests"]])


def test_what_does_not_fit_the_window_falls_out_the_oldest_first(run: Callable[..., dict[str, Any]]) -> None:
    sent: list[list[Message]] = []
    model = buyer(1_000_000)

    def script(messages: list[Message]) -> Turn:
        sent.append(messages)
        return model(messages)

    record = run(Trial(SUPPLIERS, "A", 1), script, window=4_000)
    assert record["fallen_out"] > 0
    assert not record["success"]
    assert max(map(tokens, sent)) < 4_600
    assert {messages[0]["content"] for messages in sent} == {sent[0][0]["content"]}
    for messages in sent:  # an answer goes with its call
        ids = [called["id"] for message in messages for called in message.get("tool_calls", [])]
        assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ids


def test_an_endpoint_that_refuses_a_long_conversation_ends_a_run_of_a_and_not_of_b(
    run: Callable[..., dict[str, Any]],
) -> None:
    model = buyer(1_000_000)

    def script(messages: list[Message]) -> Turn:
        too_long = tokens(messages) > 8_000
        return refuse(400, "maximum context length is 8000 tokens") if too_long else model(messages)

    plain = run(Trial(SUPPLIERS, "A", 1), script)
    assert (plain["success"], plain["outcome"], plain["submitted"]) == (False, "overflow", False)
    assert "maximum context length" in plain["why"]
    assert run(Trial(SUPPLIERS, "B", 1), script)["success"]


MOVED = call("open_page", url="https://birch.example/trust")
MISSING = call("open_page", {"url": "https://birch.example/nothing"})
ILL = call("fill_form", field="price", value="cheap")


@pytest.mark.parametrize(
    ("after", "errors"),
    [
        ([call("search", query="Birch")], {"before_reset": 2, "recurred": 0}),
        ([MOVED, MOVED], {"before_reset": 2, "recurred": 1}),
        ([MOVED, ILL], {"before_reset": 2, "recurred": 2}),
        ([MISSING, RESET], {"before_reset": 2, "recurred": 0}),
    ],
)
def test_an_error_recurs_where_the_same_call_fails_again_after_a_reset(
    run: Callable[..., dict[str, Any]], after: list[Turn], errors: dict[str, int]
) -> None:
    record = run(Trial(SUPPLIERS, "B", 1), [MOVED, ILL, MOVED, save(["a"]), RESET, *after])
    assert record["errors"] == errors


def test_without_a_reset_neither_facts_nor_errors_are_measured(run: Callable[..., dict[str, Any]]) -> None:
    record = run(Trial(SUPPLIERS, "B", 1), [MOVED, save(["a"])])
    assert (record["facts"], record["errors"], record["failed_calls"]) == (None, None, 1)
    assert run(Trial(SUPPLIERS, "A", 1), [MOVED, MOVED])["errors"] is None


def test_facts_that_the_model_does_not_carry_on_are_lost(run: Callable[..., dict[str, Any]]) -> None:
    facts = planted_facts(SUPPLIERS)

    def answer(messages: list[Message]) -> Turn:
        """Knows what stands before it; its second checkpoint leaves out all but two of what was planted."""
        told = str(messages[-1]["content"])
        asked = next((fact for fact in facts if fact.question in told), None)
        if "answer: unknown" in told and asked is not None:
            return Turn(asked.value if asked.value in told else "unknown")
        return script.pop(0)

    kept = [{"text": fact.text, "source": fact.source} for fact in facts[:2]]
    script = [save(["a"]), RESET, save(["a", "b"], facts=kept), RESET, Turn("FINAL: enough")]
    record = run(Trial(SUPPLIERS, "B", 1), answer)
    assert (record["facts"], record["resets"]) == ({"asked": 5, "kept": 2}, 2)


def test_a_run_that_gives_up_or_never_ends_is_a_failure_with_its_reason(run: Callable[..., dict[str, Any]]) -> None:
    silent = run(Trial(SUPPLIERS, "A", 1), lambda messages: Turn("I wonder."))
    endless = run(Trial(SUPPLIERS, "A", 2), lambda messages: call("search", query="Birch"), limits=Limits(turns=3))
    final = run(Trial(SUPPLIERS, "A", 3), [Turn("FINAL: Cedar Vault, of course")])
    assert [record["outcome"] for record in (silent, endless, final)] == ["stuck", "turns", "done"]
    assert [record["success"] for record in (silent, endless, final)] == [False] * 3


def test_an_endpoint_that_was_given_up_is_no_result(tmp_path: Path) -> None:
    model, said = buyer(24_000), []
    broken = [False]

    def script(messages: list[Message]) -> Turn:
        return refuse(401, "who are you?") if broken[0] else model(messages)

    def once_done(text: str) -> None:
        said.append(text)
        broken[0] = True

    trials = trials_of([SUPPLIERS], "AB", 1)
    settings = settings_of("scripted", "http://u:secret@host/v1/", Limits(), window=None, temperature=0)
    with Scripted(script) as scripted:
        setup = Setup(partial(Endpoint, "scripted", base_url=scripted.url, api_key="k"), BELOW_SIGHT, None)
        with (
            Results(tmp_path / "out", settings) as results,
            pytest.raises(EndpointFailed, match="who are you") as failed,
        ):
            evaluate(trials, results, setup, lambda done, total: None, once_done)
        assert "goes on where this one was" in failed.value.hint
        broken[0] = False
        with Results(tmp_path / "out", settings) as results:
            assert [record["arm"] for record in results.records] == ["A"]
            evaluate(trials, results, setup, lambda done, total: None, said.append)
            assert [(record["arm"], record["success"]) for record in results.records] == [("A", False), ("B", True)]
    assert [line.split(":")[0] for line in said] == ["01 suppliers, A, 1", "01 suppliers, B, 1"]
    assert "secret" not in (tmp_path / "out" / "settings.json").read_text()
