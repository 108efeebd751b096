"""The replayer: what the source's own script cannot find, forks, hints, and the whole as JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol_samples import block, retry, summary
from source_texts import MIGRATION, THREE_BLOCKS

from gitckpt.errors import UnknownId
from gitckpt.protocol.replay import Checkpoint, find_rollback_target, parse_trajectory, replay_to, trajectory_json


@dataclass
class SourceStep:
    """What the source's script keeps of a step, all of it plain text."""

    step_id: str
    rollback_hint: str


def source_parse(raw: str) -> list[SourceStep]:
    found = re.finditer(r"===CHECKPOINT (\S+)===(.*?)===END===", raw, re.DOTALL)
    hints = ((match[1], re.search(r"rollback_hint:\s*(.*)", match[2])) for match in found)
    return [SourceStep(id, hint[1].strip() if hint else "") for id, hint in hints]


def source_replay_to(steps: list[SourceStep], target_id: str) -> SourceStep | None:
    return next((step for step in steps if step.step_id == target_id), None)


def source_rollback_target(steps: list[SourceStep], failed_id: str) -> SourceStep | None:
    failed = source_replay_to(steps, failed_id)
    found = re.search(r"C\w+", failed.rollback_hint) if failed else None
    return source_replay_to(steps, found[0]) if found else None


SIX_AND_SEVEN = block(6) + THREE_BLOCKS


def test_the_source_looks_for_the_word_checkpoint_and_this_one_for_the_step() -> None:
    # The hint of step 7 says 回退到 CHECKPOINT 6. `C\w+` finds the word CHECKPOINT in it, and no step is called that.
    assert source_rollback_target(source_parse(SIX_AND_SEVEN), "7") is None
    target = find_rollback_target(parse_trajectory(SIX_AND_SEVEN), "7")
    assert target is not None
    assert target.step_id == "C6"


def test_the_source_looks_for_c6_among_steps_called_6_and_this_one_finds_it() -> None:
    text = block(6) + block(7, rollback_hint="[回退到 C6，git checkout a.ts]")
    assert source_rollback_target(source_parse(text), "7") is None
    target = find_rollback_target(parse_trajectory(text), "7")
    assert target is not None
    assert target.step_id == "C6"


@pytest.mark.parametrize("spelling", ["6", "C6", "c6", "CHECKPOINT 6", "checkpoint C6", "检查点 6", "步骤 6"])
def test_every_spelling_of_an_id(spelling: str) -> None:
    step = replay_to(parse_trajectory(SIX_AND_SEVEN), spelling)
    assert step is not None
    assert (step.step_id, step.written, step.done) == ("C6", "6", ["step 6"])


def test_fields_come_in_their_shapes() -> None:
    (step,) = parse_trajectory(THREE_BLOCKS)
    assert step == Checkpoint(
        step_id="C7",
        phase="implement",
        done=["已读取 package.json 发现 moment 依赖", "已扫描出 12 个引用 moment 的文件"],
        next="逐个替换 moment 为 dayjs，先从 src/utils/date.ts 开始，工具：edit_file",
        state_ref={
            "affected_files": ["src/utils/date.ts", "src/api/time.ts", "..."],
            "current_file": "src/utils/date.ts",
        },
        rollback_hint="若 edit_file 失败，回退到 CHECKPOINT 6（替换前），用 git checkout src/utils/date.ts 撤销",
        written="7",
        line=5,
    )


def rollback_ids(text: str) -> dict[str, str | None]:
    steps = parse_trajectory(text)
    targets = {step.step_id: find_rollback_target(steps, step.step_id) for step in steps}
    return {id: target.step_id if target else None for id, target in targets.items()}


def test_rollback_targets_of_the_migration() -> None:
    assert rollback_ids(MIGRATION) == {
        "C1": None,  # nothing before it
        "C2": "C1",
        "C6": None,  # C5 is left out of the text
        "C8": "C6",  # C7 failed before it could report, and was retried from C6
    }


def test_a_step_that_never_reported_is_where_its_retry_went_back_to() -> None:
    step = replay_to(parse_trajectory(MIGRATION), "7")
    assert step is not None
    assert (step.step_id, step.answers_to) == ("C6", ["C7"])


def test_without_a_name_in_the_hint_it_is_the_step_before_on_its_line() -> None:
    assert rollback_ids(block(1) + block(2) + block(3)) == {"C1": None, "C2": "C1", "C3": "C2"}
    assert rollback_ids(block(1) + block(2) + block(3) + retry(1) + block(4))["C4"] == "C1"


def test_after_a_retry_the_later_of_two_ids_is_meant() -> None:
    text = block(1) + block(2, done="[first try]") + retry(1) + block(2, done="[second try]")
    steps = parse_trajectory(text + block(3, rollback_hint="[back to C2]"))
    second, target = replay_to(steps, "C2"), find_rollback_target(steps, "C3")
    assert second is not None
    assert (second.done, second is target) == (["second try"], True)
    assert [step.step_id for step in steps[-1].history()] == ["C3", "C2", "C1"]
    assert [step.done for step in steps[-1].history()] == [["step 3"], ["second try"], ["step 1"]]


def test_a_hint_does_not_reach_over_to_another_line() -> None:
    text = block(1) + block(2) + block(3) + retry(1) + block(4, rollback_hint="[back to C3]")
    assert rollback_ids(text)["C4"] is None


def test_what_is_not_there() -> None:
    steps = parse_trajectory(block(1))
    assert (replay_to(steps, "C9"), find_rollback_target(steps, "C9"), replay_to([], "1")) == (None, None, None)
    assert parse_trajectory("no block at all") == []


def test_the_whole_migration_as_json() -> None:
    document = trajectory_json(MIGRATION)
    assert (document["schema"], document["diagnostics"]) == ("gitckpt.replay/1", [])
    assert [(row["kind"], row["id"], row["line"]) for row in document["blocks"]] == [
        ("checkpoint", "C1", 3),
        ("checkpoint", "C2", 11),
        ("summary", "S1", 21),
        ("checkpoint", "C6", 25),
        ("retry", None, 33),
        ("checkpoint", "C8", 39),
        ("final", None, 49),
    ]
    assert [row["id"] for row in document["summaries"]] == ["S1"]
    assert document["summaries"][0]["covers"] == ["C1", "C2", "C3", "C4", "C5"]
    assert document["retries"] == [
        {
            "id": "R1",
            "from": "C7",
            "reason": "time.ts 第 42 行 moment.duration 不兼容",
            "new_strategy": "改用 dayjs-duration 插件，先安装再改 import",
        }
    ]
    assert document["phases"] == [
        {"phase": "explore", "from": "C1", "to": "C1"},
        {"phase": "implement", "from": "C2", "to": "C8"},
    ]
    assert document["final"]["result"] == "12 个文件全部迁移完成，47 处调用替换，新增 1 个插件依赖"
    assert document["state"] == {
        "id": "C8",
        "answers_to": [],
        "phase": "implement",
        "done": ["安装 dayjs-duration，替换 time.ts 全部调用"],
        "next": "替换下一个文件 src/components/Timer.tsx",
        "state_ref": {"current": "src/components/Timer.tsx", "progress": "2/12"},
        "rollback_hint": "回退到 C7，git checkout src/api/time.ts",
        "history": ["C1", "C2", "C6", "C8"],
        "rollback_target": "C6",
    }


def test_the_state_at_a_step_has_what_was_known_by_then() -> None:
    text = (
        block(1, goal="migrate", todo="[a, b]")
        + block(2, todo="[b]", facts="\n- 12 files (source: src)")
        + block(3, todo="[]", open="[why]")
    )
    state = trajectory_json(text, to="CHECKPOINT 2")["state"]
    assert state is not None
    assert {name: state.get(name) for name in ("id", "goal", "facts", "todo", "open")} == {
        "id": "C2",
        "goal": "migrate",
        "facts": [{"text": "12 files", "source": "src"}],
        "todo": ["b"],
        "open": None,
    }


def test_an_unknown_step_names_the_nearest() -> None:
    with pytest.raises(UnknownId, match="'C70'") as refused:
        trajectory_json(block(7) + block(8), to="C70")
    assert refused.value.hint == "it has C7, C8"
    assert trajectory_json("", to=None)["state"] is None


STEPS = st.lists(
    st.one_of(st.integers(1, 6).map(block), st.integers(1, 7).map(retry), st.just(summary("S1", "C1"))), max_size=12
)


def histories(parts: list[str]) -> list[list[int]]:
    """For each step, the lines of the steps on its line of history."""
    return [[earlier.line for earlier in step.history()] for step in parse_trajectory("\n".join(parts))]


@given(STEPS, STEPS)
@settings(max_examples=40)
def test_what_comes_later_changes_nothing_before_it(parts: list[str], later: list[str]) -> None:
    before = histories(parts)
    assert histories(parts + later)[: len(before)] == before


@given(STEPS)
@settings(max_examples=40)
def test_a_rollback_target_stands_on_the_line_of_the_failed_step(parts: list[str]) -> None:
    steps = parse_trajectory("".join(parts))
    for step in steps:
        target = find_rollback_target(steps, step.step_id)
        newest = replay_to(steps, step.step_id)
        assert target is None or (newest is not None and any(target is earlier for earlier in newest.history()))
