"""What real clients told their hooks: whose session, which boundary, and the words that come with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from captured import captured
from commandline import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from gitckpt.agents.agent import Agent
from gitckpt.agents.hook import Hooked
from gitckpt.agents.session_file import Whereabouts
from gitckpt.agents.signals import Boundary, Closed, Opened, Said
from gitckpt.agents.spoken import Spoken
from gitckpt.agents.table import AGENTS

CAPTURES = {
    "claude-code": "claude-code.hooks.jsonl",
    "codex": "codex.hooks.jsonl",
    "gemini": "gemini.hooks.jsonl",
    "qwen": "qwen.hooks.jsonl",
    "cline": "cline.hooks.jsonl",
    "copilot": "copilot.hooks.jsonl",
}
HOOKED = [agent for agent in AGENTS if agent.name in CAPTURES]

every_client = pytest.mark.parametrize("agent", HOOKED, ids=[agent.name for agent in HOOKED])


def payloads(agent: Agent) -> list[tuple[str, dict[str, Any]]]:
    rows = [json.loads(line) for line in captured(CAPTURES[agent.name]).splitlines()]
    return [(row["event"], row["payload"]) for row in rows]


def calls(agent: Agent) -> list[Hooked]:
    assert agent.hook is not None
    return [agent.hook(payload, event) for event, payload in payloads(agent)]


def boundaries(agent: Agent, kind: str) -> list[Boundary]:
    found = [signal for call in calls(agent) for signal in call.signals if isinstance(signal, Boundary)]
    return [boundary for boundary in found if boundary.kind == kind]


@every_client
def test_every_call_names_the_session_and_where_it_runs(agent: Agent) -> None:
    found = calls(agent)
    [session] = {call.session for call in found}
    assert session
    assert {call.cwd for call in found} == {"/home/dev/project"}
    assert all(
        call.signals[0] == Opened(session, call.signals[0].model, call.cwd) for call in found if call.event != "notify"
    )


@every_client
def test_each_of_the_eight_tools_has_a_beginning_and_an_end(agent: Agent) -> None:
    before, after = boundaries(agent, "before"), boundaries(agent, "after")
    assert len(before) == len(after) == 8
    assert [(b.tool, b.call) for b in before] == [(a.tool, a.call) for a in after]
    assert all(boundary.tool for boundary in before)
    assert len({b.call for b in before}) == (1 if agent.name in ("gemini", "copilot") else 8)  # which tell no id


@pytest.mark.parametrize("name", ["claude-code", "qwen"])
def test_a_tool_that_failed_says_so(name: str) -> None:
    [agent] = [agent for agent in HOOKED if agent.name == name]
    assert [boundary.failed for boundary in boundaries(agent, "after")] == [False] * 4 + [True] + [False] * 3


def test_files_that_a_tool_is_given_are_told() -> None:
    for agent in HOOKED:
        named = {path for boundary in boundaries(agent, "before") for path in boundary.paths}
        expected = set() if agent.name == "codex" else {"/home/dev/project/src/dayjs_setup.js"}
        assert expected <= named, agent.name


@pytest.mark.parametrize("name", ["claude-code", "codex", "qwen", "cline"])
def test_the_end_of_a_turn_brings_the_last_words_before_it(name: str) -> None:
    [agent] = [agent for agent in HOOKED if agent.name == name]
    turns = [call for call in calls(agent) if Boundary("turn") in call.signals]
    assert len(turns) == (2 if name == "codex" else 1)  # the hook, and `notify`
    for call in turns:
        spoken = Spoken(name)
        told = [told for signal in call.signals for told in spoken.hear(signal)]
        assert [told.block.id or told.block.kind for told in told] == ["C6", "final"]
        assert str(told[0].source).startswith(f"{name} {call.session} * ")


def test_a_session_that_ends_says_why() -> None:
    for agent in HOOKED:
        closed = [signal for call in calls(agent) for signal in call.signals if isinstance(signal, Closed)]
        assert len(closed) == (agent.name not in ("cline", "qwen")), agent.name


@every_client
def test_the_session_file_is_named_or_can_be_computed(agent: Agent) -> None:
    assert agent.session is not None
    found = calls(agent)
    named = {call.transcript for call in found if call.transcript}
    computed = agent.session.path(Whereabouts("/home/dev", found[0].cwd, found[0].stored or found[0].session))
    if agent.name == "cline":
        id = "1796008506800_lpikl"
        assert (named, computed) == (set(), f"/home/dev/.cline/data/sessions/{id}/{id}.messages.json")
    elif computed:
        assert named == {computed}
    else:
        assert named and agent.name in ("codex", "gemini")


def test_a_subagents_last_words_are_not_the_agents() -> None:
    [claude] = [agent for agent in HOOKED if agent.name == "claude-code"]
    assert claude.hook is not None
    stop = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": checkpoint("1")}
    assert any(isinstance(signal, Said) for signal in claude.hook(stop, "").signals)
    assert not any(isinstance(signal, Said) for signal in claude.hook(stop | {"agent_id": "a"}, "").signals)
    assert claude.hook(stop | {"hook_event_name": "SubagentStop"}, "").signals == ()
    [cline] = [agent for agent in HOOKED if agent.name == "cline"]
    assert cline.hook is not None
    ended = {"hookName": "agent_end", "turn": {"outputText": checkpoint("1")}, "parent_agent_id": "agent_1"}
    assert cline.hook(ended, "TaskComplete").signals == ()


@every_client
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_no_payload_of_whatever_shape_raises(agent: Agent, data: st.DataObject) -> None:
    assert agent.hook is not None
    event, payload = data.draw(st.sampled_from(payloads(agent)))
    values = (
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.none(), max_size=2) | st.just({})
    )
    for key in data.draw(st.lists(st.sampled_from(sorted(payload)), max_size=5)):
        payload[key] = data.draw(values)
    call = agent.hook(payload, event)
    assert isinstance(call.session, str) and isinstance(call.transcript, str)
