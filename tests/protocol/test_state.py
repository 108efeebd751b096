"""The state of a checkpoint: facts have sources, the whole has a limit, and what is unfinished stays longest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitckpt.protocol.state import (
    MAX_STATE,
    State,
    is_progress,
    more_done,
    sourced,
    state_characters,
    within_limit,
)

TEXT = st.text(max_size=400)
STATES = st.fixed_dictionaries(
    {
        "goal": TEXT,
        "facts": st.lists(st.fixed_dictionaries({"text": TEXT, "source": TEXT}), max_size=8),
        "done": st.lists(TEXT, max_size=8),
        "todo": st.lists(TEXT, max_size=8),
        "open": st.lists(TEXT, max_size=8),
    }
)


def fact(text: str, source: str = "a.ts:1") -> dict[str, str]:
    return {"text": text, "source": source}


def test_a_fact_without_a_source_becomes_a_question() -> None:
    state = {"facts": [fact("known"), fact("guessed", ""), fact("asked", "  ")], "open": ["asked"]}
    assert sourced(state) == ({"facts": [fact("known")], "open": ["asked", "guessed"]}, ["guessed"])


def test_the_order_of_dropping() -> None:
    state: State = {
        "goal": "migrate",
        "facts": [fact("Timer.tsx needs a plugin"), fact("lodash stays"), fact("格式化函数在入口")],
        "done": ["oldest", "newest"],
        "todo": ["edit Timer.tsx", "later"],
        "open": ["入口还有别的吗"],
    }
    whole = state_characters(state)
    dropped = within_limit(state, 1)[1]
    assert dropped == [
        "done: oldest", "done: newest", "fact: lodash stays (source: a.ts:1)",
        "fact: Timer.tsx needs a plugin (source: a.ts:1)", "fact: 格式化函数在入口 (source: a.ts:1)",
        "open: 入口还有别的吗", "todo: later", "todo: edit Timer.tsx", "goal: migrate",
    ]  # fmt: skip
    assert within_limit(state, whole) == (state, [])
    assert within_limit(state, whole - 1)[1] == ["done: oldest"]
    assert state["done"] == ["oldest", "newest"]


@given(STATES, st.integers(1, 3000))
def test_it_is_within_the_limit_and_drops_no_more_than_it_must(state: State, limit: int) -> None:
    kept, dropped = within_limit(state, limit)
    assert state_characters(kept) <= limit
    assert bool(dropped) == (state_characters(state) > limit)
    if dropped and not dropped[-1].startswith("goal: "):
        assert state_characters(within_limit(state, limit)[0]) + len(dropped[-1]) > limit - len("done: ") * 2
    for name in ("facts", "done", "todo", "open"):
        assert all(item in state[name] for item in kept[name])


def test_the_limit_is_that_of_the_protocol() -> None:
    assert MAX_STATE == 2000
    kept, dropped = within_limit({"goal": "x" * 2001})
    assert (kept["goal"], dropped) == ("x" * 1999 + "…", ["goal: " + "x" * 2001])


def test_progress_is_a_new_fact_or_less_to_do() -> None:
    before: State = {"facts": [fact("a")], "todo": ["one", "two"], "done": ["zero"]}
    assert is_progress(None, {})
    assert is_progress(before, {**before, "facts": [fact("a"), fact("b")]})
    assert is_progress(before, {**before, "todo": ["two"]})
    assert not is_progress(before, before)
    assert not is_progress(before, {**before, "todo": ["one", "two", "three"], "done": ["zero", "again"]})
    assert more_done(None, {})
    assert more_done(before, {"done": ["zero", "one"]})
    assert not more_done(before, {"done": ["zero"]})
