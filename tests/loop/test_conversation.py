"""The loop, and every rule of it broken by a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from project import Project
from scripted import FINAL, RESET, Message, Scripted, Turn, answers, call, calls, refuse, save, say

from gitckpt.loop.actions import Action, Finished
from gitckpt.loop.conversation import Conversation, Limits, Observer, Outcome, characters
from gitckpt.loop.endpoint import ContextOverflow, Endpoint
from gitckpt.loop.memory import Memory
from gitckpt.loop.wording import BEGIN, CALL_CUT_OFF, CUT_OFF, NOT_SAVED, rules
from gitckpt.recorder import Recorder
from gitckpt.trajectory.events import Event

NEW = [{"text": "new", "source": "b:1"}]
LONG = "a long page " * 100


def _submit(given: dict[str, Any]) -> str:
    raise Finished(f"submitted {given['answer']}")


ACTIONS = [
    Action("look", "Look.", {"type": "object", "properties": {}}, lambda given: f"seen: {given.get('at', 'nothing')}"),
    Action("page", "A long page.", {"type": "object", "properties": {}}, lambda given: LONG),
    Action("submit", "Give the answer.", {"type": "object", "properties": {}}, _submit),
]


class Played:
    """A run that has ended: its outcome, the requests, and what is on record."""

    def __init__(self, project: Project, server: Scripted, limits: Limits, *, memory: bool = True) -> None:
        self.server, self.resets, self.told = server, [], []
        tree = project.tree()
        recorder = Recorder(tree, alone=True)
        if memory:
            recorder.open()
        self.memory = Memory(recorder, "the task") if memory else None
        self.conversation = Conversation(
            Endpoint("model", base_url=server.url, first_wait=0.001), system=rules(memory=memory), task="the task",
            actions=ACTIONS, memory=self.memory, limits=limits, observer=self._observer(),
        )  # fmt: skip
        self.outcome: Outcome = self.conversation.run()
        tree.close()
        self.events: list[Event] = recorder.session.events if recorder.session else []

    def _observer(self) -> Observer:
        played = self

        class Watching(Observer):
            def reset(self, forced: bool) -> None:
                played.resets.append(forced)

            def told(self, text: str) -> None:
                played.told.append(text)

        return Watching()

    resets: list[bool]
    told: list[str]

    @property
    def story(self) -> list[str]:
        return [event.id or event.kind for event in self.events]

    def requests(self) -> list[list[Message]]:
        return [body["messages"] for body in self.server.bodies]


def play(project: Project, script: Any, limits: Limits | None = None, *, memory: bool = True) -> Played:
    with Scripted(script) as server:
        return Played(project, server, limits or Limits(), memory=memory)


def test_a_run_forgets_all_but_its_state(project: Project) -> None:
    played = play(project, [call("look", at="the secret page"), save(["looked"]), RESET, FINAL])
    assert played.outcome == Outcome("done", "FINAL: all is done", 4, 1, 0)
    first, *_, last = played.requests()
    assert [message["role"] for message in first] == ["system", "user"]
    assert first[1]["content"] == BEGIN
    assert [message["role"] for message in last] == ["system", "user"]
    assert last[0] == first[0]
    assert "the task" in last[0]["content"]
    assert last[1]["content"].startswith("===CHECKPOINT 1===\ndone: [looked]\n")
    assert last[1]["content"].endswith("Name the next step, then take it.")
    assert "secret" not in json.dumps(last)
    assert played.story == ["start", "C1", "reset"]
    assert project.held(played.events[1].commit) == project.held(played.events[0].commit)


def test_the_two_tools_are_those_of_the_toolbox(project: Project) -> None:
    from gitckpt.toolbox.tools import TOOLS

    functions = [tool["function"] for tool in play(project, [FINAL]).server.bodies[0]["tools"]]
    assert [function["name"] for function in functions] == ["checkpoint", "reset", "look", "page", "submit"]
    for function in functions[:2]:
        tool = TOOLS[function["name"]]
        assert function["description"] == tool.description
        assert function["parameters"] == tool.arguments.model_json_schema(by_alias=True)


def test_a_reset_without_a_checkpoint_is_refused_with_the_reason(project: Project) -> None:
    played = play(project, [call("look", at="here"), RESET, save(["a"]), RESET, RESET, FINAL])
    requests = played.requests()
    assert answers(requests[2])[-1].startswith("error: reset is refused: no checkpoint yet")
    assert "seen: here" in answers(requests[2])
    assert answers(requests[5])[-1].startswith("error: reset is refused: no checkpoint since the last reset")
    assert played.story == ["start", "C1", "reset"]


def test_a_second_reset_with_no_more_done_is_refused(project: Project) -> None:
    script = [save(["a"]), call("reset", "null"), save(["a"], facts=NEW), RESET, save(["a", "b"]), RESET, FINAL]
    played = play(project, script)
    assert answers(played.requests()[4])[-1].startswith(
        "error: reset is refused: nothing more is done than at the last"
    )
    assert played.story == ["start", "C1", "reset", "C2", "C3", "reset"]


def test_checkpoints_without_progress_are_told_and_end_the_run_as_stuck(project: Project) -> None:
    played = play(project, lambda messages: save(["a"]))
    assert (played.outcome.kind, played.outcome.turns) == ("stuck", 4)
    told = answers(played.requests()[-1])
    assert ["No progress" in answer for answer in told] == [False, True, True]
    assert played.story == ["start", "C1", "C2", "C3", "C4"]


def test_progress_in_between_starts_the_count_anew(project: Project) -> None:
    script = [save(["a"]), save(["a"]), save(["a"]), save(["a", "b"]), save(["a", "b"]), save(["a", "b"]), FINAL]
    assert play(project, script).outcome.kind == "done"


def policy(*, checkpoints: bool, resets: bool) -> Callable[[list[Message]], Turn]:
    """A model that reads pages, and saves and resets when it is told to, or does not."""
    number = [0]

    def turn(messages: list[Message]) -> Turn:
        asked = str(messages[-1]["content"])
        if checkpoints and asked.startswith("Your context is nearly full. Call checkpoint"):
            number[0] += 1
            return save([f"page {n}" for n in range(number[0])])
        if resets and "Call reset now" in asked:
            return RESET
        return call("page")

    return turn


def most_characters(played: Played) -> int:
    return max(characters(messages) for messages in played.requests())


def test_over_the_limit_the_model_is_asked_to_checkpoint_then_to_reset(project: Project) -> None:
    played = play(project, policy(checkpoints=True, resets=True), Limits(turns=30, characters=8000))
    assert (played.outcome.kind, played.outcome.forced) == ("turns", 0)
    assert played.resets and not any(played.resets)
    assert played.story[:5] == ["start", "C1", "reset", "C2", "reset"]
    assert most_characters(played) < 8000 + 3 * len(LONG)


def test_a_model_that_never_checkpoints_is_cleared_by_the_host(project: Project) -> None:
    project.write("work.txt", "half done\n")
    played = play(project, policy(checkpoints=False, resets=True), Limits(turns=20, characters=8000))
    assert played.outcome.forced == played.outcome.resets == len(played.resets) > 1
    assert all(played.resets)
    first = next(event for event in played.events if event.kind == "checkpoint")
    assert (first.document["by_host"], first.fields["goal"], first.fields["open"]) == (True, "the task", [NOT_SAVED])
    assert project.held(first.commit)["work.txt"] == project.held(played.events[-1].commit)["work.txt"]
    cleared = next(messages for messages in played.requests() if NOT_SAVED in str(messages[-1]["content"]))
    assert [message["role"] for message in cleared] == ["system", "user"]
    assert most_characters(played) < 8000 + 3 * len(LONG)
    assert [event.document.get("forced") for event in played.events if event.kind == "reset"] == [True] * len(
        played.resets
    )


def test_the_host_gives_two_turns(project: Project) -> None:
    script = [call("page"), call("page"), call("look"), call("look"), FINAL]
    played = play(project, script, Limits(characters=2500))
    assert (len(played.told), played.resets) == (2, [True])
    assert len(played.requests()[-1]) == 2


def test_a_model_that_never_resets_is_cleared_with_the_state_that_it_saved(project: Project) -> None:
    played = play(project, policy(checkpoints=True, resets=False), Limits(turns=20, characters=8000))
    assert played.resets and all(played.resets)
    assert NOT_SAVED not in json.dumps(played.requests())
    states = [event.document["state"]["id"] for event in played.events if event.kind == "reset"]
    assert states[:2] == ["C1", "C2"]
    assert not any(event.document.get("by_host") for event in played.events)


def test_what_the_host_saved_is_not_held_against_the_model(project: Project) -> None:
    script = [save(["a"]), *[call("page")] * 5, save(["a"], facts=NEW), RESET, save(["a", "b"]), RESET, FINAL]
    played = play(project, script, Limits(characters=4000))
    assert (played.outcome.kind, played.resets) == ("done", [True, False])
    assert played.story == ["start", "C1", "C2", "reset", "C3", "C4", "reset"]
    assert (played.events[2].document["by_host"], played.events[2].fields["open"]) == (True, [NOT_SAVED])
    assert "No progress" not in " ".join(answers(played.server.last))


def test_who_saves_in_time_is_given_time_to_reset(project: Project) -> None:
    script = [save(["a"]), *[call("page")] * 4, save(["a", "b"]), call("look"), RESET, FINAL]
    played = play(project, script, Limits(characters=4000))
    assert (played.outcome.kind, played.resets, len(played.told)) == ("done", [False], 4)


def test_the_limit_in_tokens_is_as_the_endpoint_counts_them(project: Project) -> None:
    limits = Limits(turns=12, characters=None, tokens=3000)
    played = play(project, policy(checkpoints=True, resets=True), limits)
    assert played.resets
    assert characters(played.requests()[2]) < 12_000


def test_an_endpoint_that_finds_the_messages_too_long_has_the_context_cleared(project: Project) -> None:
    def turn(messages: list[Message]) -> Turn:
        too_long = characters(messages) > 6000
        return refuse(400, "maximum context length is 1500 tokens") if too_long else call("page")

    played = play(project, turn, Limits(turns=12))
    assert (played.outcome.kind, played.resets[0]) == ("turns", True)
    with pytest.raises(ContextOverflow):
        play(project, lambda messages: refuse(400, "maximum context length is 1500 tokens"))
    with pytest.raises(ContextOverflow):
        play(project, turn, Limits(turns=12), memory=False)


def test_without_a_memory_nothing_is_cleared(project: Project) -> None:
    played = play(project, [call("page")] * 5, Limits(characters=2000), memory=False)
    assert played.outcome == Outcome("done", "FINAL: all is done", 6, 0, 0)
    assert [tool["function"]["name"] for tool in played.server.bodies[0]["tools"]] == ["look", "page", "submit"]
    assert answers(played.server.last) == [LONG] * 5
    assert "checkpoint" not in played.server.last[0]["content"]
    assert played.events == []


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        (call("look", '{"at": '), "error: the arguments of look are no JSON"),
        (call("look", "[1]"), "error: the arguments of look are no JSON object"),
        (call("look", "[" * 10_000), "error: the arguments of look are no JSON"),
        (call("fly"), "error: there is no tool 'fly'\n→ the tools are checkpoint, reset, look, page, submit"),
        (call("checkpoint", {"goal": 1}), "error: checkpoint cannot be called so: goal: "),
        (call("reset", {"really": True}), "error: reset cannot be called so: really: "),
    ],
)
def test_a_call_that_makes_no_sense_is_told_and_loses_nothing(project: Project, wrong: Turn, answer: str) -> None:
    played = play(project, [call("look", at="before"), wrong, FINAL])
    assert played.outcome.kind == "done"
    assert answers(played.server.last)[0] == "seen: before"
    assert answers(played.server.last)[1].startswith(answer)
    called = [one["function"]["arguments"] for message in played.server.last for one in message.get("tool_calls", ())]
    assert all(isinstance(json.loads(arguments), dict) for arguments in called)
    assert played.story == ["start"]


@pytest.mark.parametrize("odd", ["half \\ud800 of a character", "a \\u0000 in it", "\\u202e\\u001b[2J"])
def test_odd_characters_come_through_as_far_as_they_can(project: Project, odd: str) -> None:
    state = f'{{"goal": "{odd}", "facts": [], "done": ["{odd}"], "todo": ["{odd}"]}}'
    script = [call("look", f'{{"at": "{odd}"}}'), call("checkpoint", state), RESET, say(json.loads(f'"FINAL {odd}"'))]
    played = play(project, script)
    assert (played.outcome.kind, played.story) == ("done", ["start", "C1", "reset"])
    assert len(played.server.bodies) == 4


def test_several_calls_in_one_reply_are_done_in_order_and_none_after_a_reset(project: Project) -> None:
    script = [
        calls(call("look", at="one"), call("look", at="two")),
        calls(save(["a"]), RESET, call("look", at="late")),
        FINAL,
    ]
    played = play(project, script)
    assert answers(played.requests()[1]) == ["seen: one", "seen: two"]
    ids = [message["tool_call_id"] for message in played.requests()[1] if message["role"] == "tool"]
    assert ids == [one["id"] for one in played.requests()[1][2]["tool_calls"]]
    assert len(played.requests()[2]) == 2
    assert "late" not in json.dumps(played.requests()[2])


def test_a_reply_that_calls_nothing_is_asked_to_go_on_and_three_are_stuck(project: Project) -> None:
    played = play(project, [say("I shall look."), call("look"), say("FINALLY nothing"), FINAL])
    assert (played.outcome.kind, len(played.told)) == ("done", 2)
    played = play(project, lambda messages: say("I shall look."))
    assert (played.outcome.kind, played.outcome.turns) == ("stuck", 3)


def test_a_reply_that_is_cut_off_is_told_as_such(project: Project) -> None:
    cut = Turn("I shall first of all", finish="length"), call("look", '{"at": "a')._replace(finish="length")
    played = play(project, [*cut, call("look")._replace(finish="length"), FINAL])
    assert played.told == [CUT_OFF]
    assert [CALL_CUT_OFF in answer for answer in answers(played.server.last)] == [True, False]


@pytest.mark.parametrize("text", ["FINAL", "It is done.\n\n**FINAL:** 3 files", "===FINAL===\nresult: x\n===END==="])
def test_the_end_in_the_models_words(project: Project, text: str) -> None:
    assert play(project, [say(text)]).outcome == Outcome("done", text, 1, 0, 0)


def test_what_a_model_says_to_itself_is_no_end(project: Project) -> None:
    played = play(project, [say("<think>\nFINAL comes later\n</think>I look."), say("<think>so\n</think>\nFINAL: 3")])
    assert (played.outcome.text, played.outcome.turns) == ("FINAL: 3", 2)


def test_an_action_may_end_the_run(project: Project) -> None:
    assert play(project, [call("submit", answer=42)]).outcome == Outcome("done", "submitted 42", 1, 0, 0)


def test_out_of_turns(project: Project) -> None:
    played = play(project, lambda messages: call("look"), Limits(turns=3))
    assert (played.outcome.kind, played.outcome.turns, len(played.server.bodies)) == ("turns", 3, 3)
