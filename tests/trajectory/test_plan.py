"""The plan of a rollback: one step for each path, and the reason for it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.trajectory.plan import Plan, Situation, Step, make_plan


@dataclass
class Difference:
    """What a plan needs to know of a path that differs."""

    status: str
    path: bytes
    content_changed: bool = True


def steps(differences: list[Difference], situation: Situation) -> list[tuple[str, bytes, str]]:
    plan = make_plan("s/C6", "staged", differences, situation)
    return [(step.action, step.path, step.reason) for step in plan.steps]


@pytest.mark.parametrize(
    ("difference", "step"),
    [
        (Difference("A", b"a"), ("restore", b"a", "missing now")),
        (Difference("M", b"a"), ("restore", b"a", "changed since")),
        (Difference("T", b"a"), ("restore", b"a", "of another kind now")),
        (Difference("D", b"a"), ("delete", b"a", "newer than the target")),
        (Difference("M", b"a", content_changed=False), ("mode", b"a", "the executable bit")),
    ],
)
def test_each_kind_of_difference(difference: Difference, step: tuple[str, bytes, str]) -> None:
    assert steps([difference], Situation()) == [step]


def test_what_the_target_ignores_is_not_deleted() -> None:
    situation = Situation(ignored={b"a", b"b"})
    assert steps([Difference("D", b"a"), Difference("M", b"b"), Difference("D", b"c")], situation) == [
        ("leave", b"a", "ignored by the rules of the target: it may have been there all along"),
        ("restore", b"b", "changed since"),
        ("delete", b"c", "newer than the target"),
    ]


@pytest.mark.parametrize(("newer", "wanted"), [(b"a", b"a/b/c"), (b"a/b/c", b"a"), (b"a/b/c", b"a/b")])
def test_what_is_in_the_way_of_the_targets_goes_whatever_ignores_it(newer: bytes, wanted: bytes) -> None:
    found = [Difference("D", newer), Difference("A", wanted), Difference("D", b"a.c")]
    situation = Situation(ignored={newer, b"a.c"}, unheld={newer: "too large"})
    assert sorted(steps(found, situation)) == [
        ("delete", newer, "in the way of the target's"),
        ("leave", b"a.c", "ignored by the rules of the target: it may have been there all along"),
        ("restore", wanted, "missing now"),
    ]
    assert {action for action, _, _ in steps(found, Situation(ignored={newer, b"a.c"}, blocked={wanted: "x"}))} == {
        "leave"
    }


def test_what_is_blocked_is_left_and_blocks() -> None:
    plan = make_plan(
        "s/C6", "files", [Difference("A", b"a"), Difference("D", b"b")], Situation(blocked={b"a": "a FIFO"})
    )
    assert plan.steps == (Step("leave", b"a", "a FIFO", blocked=True), Step("delete", b"b", "newer than the target"))
    assert (plan.blocked, plan.changing) == (plan.steps[:1], plan.steps[1:])


def test_what_a_person_has_touched_is_marked() -> None:
    differences = [Difference("M", b"a"), Difference("M", b"b"), Difference("D", b"c"), Difference("A", b"d")]
    situation = Situation(touched={b"a", b"c", b"m"}, blocked={b"d": "x"}, modes_then={b"m": 0o600})
    plan = make_plan("s/C6", "staged", differences, situation)
    assert {step.path: step.changed_since_last_event for step in plan.steps} == {
        b"a": True, b"b": False, b"c": True, b"d": False, b"m": True,
    }  # fmt: skip


def test_modes_and_empty_directories_and_what_is_not_covered() -> None:
    situation = Situation(
        uncovered={b"big": "too large", b"changed": "unstable"},
        modes_now={b"same": 0o600, b"now": 0o600, b"changed": 0o400, b"d/": 0o700},
        modes_then={b"same": 0o600, b"then": 0o400, b"changed": 0o600},
        empty_now=[b"newer", b"both"],
        empty_then=[b"gone", b"both"],
    )
    assert steps([Difference("M", b"changed")], situation) == [
        ("leave", b"big", "too large"),
        ("restore", b"changed", "changed since"),
        ("mode", b"d/", "permission bits as git gives them"),
        ("restore", b"gone/", "an empty directory"),
        ("delete", b"newer/", "an empty directory that is newer"),
        ("mode", b"now", "permission bits as git gives them"),
        ("mode", b"then", "permission bits 400"),
    ]


def test_a_directory_that_comes_or_goes_does_so_whatever_its_bits() -> None:
    situation = Situation(
        empty_now=[b"newer"], empty_then=[b"gone"], modes_now={b"newer/": 0o700}, modes_then={b"gone/": 0o700}
    )
    found = [(step.action, step.path) for step in make_plan("s/C1", "files", [], situation).steps]
    assert found == [("restore", b"gone/"), ("delete", b"newer/")]


def test_a_directory_that_the_target_could_not_look_into_is_not_closed_over_what_it_holds_now() -> None:
    situation = Situation(
        unheld={b"d": "closed", b"e": "closed"}, modes_then={b"d/": 0o300, b"e/": 0o300, b"f/": 0o700}, empty_now=[b"e"]
    )
    assert steps([Difference("D", b"d/x")], situation) == [
        ("leave", b"d/x", "the target did not hold what was there: closed"),
        ("mode", b"e/", "permission bits 300"),
        ("mode", b"f/", "permission bits 700"),
    ]


def test_nothing_to_do() -> None:
    plan = make_plan("s/C6", "staged", [], Situation(), ["npm uninstall x"])
    assert (plan.steps, plan.changing, plan.blocked, plan.by_hand) == ((), (), (), ("npm uninstall x",))


differences = st.lists(
    st.builds(Difference, st.sampled_from("AMDT"), st.binary(min_size=1, max_size=3), st.booleans()),
    unique_by=lambda difference: difference.path,
    max_size=6,
)
paths = st.binary(min_size=1, max_size=3)
situations = st.builds(
    Situation,
    blocked=st.dictionaries(paths, st.just("why")), ignored=st.sets(paths), touched=st.sets(paths),
    uncovered=st.dictionaries(paths, st.just("why")), modes_now=st.dictionaries(paths, st.integers(0, 0o777)),
    modes_then=st.dictionaries(paths, st.integers(0, 0o777)), empty_now=st.sets(paths), empty_then=st.sets(paths),
)  # fmt: skip


@given(differences, situations)
def test_every_path_has_one_step_and_the_order_is_that_of_the_paths(
    found: list[Difference], situation: Situation
) -> None:
    plan = make_plan("s/C6", "staged", found, situation)
    listed = [step.path for step in plan.steps]
    assert listed == sorted(set(listed))
    assert {difference.path for difference in found} <= set(listed)
    blocked = {step.path for step in plan.blocked}
    assert {difference.path for difference in found} & set(situation.blocked) <= blocked <= set(situation.blocked)
    assert not {step.path for step in plan.changing} & set(situation.blocked)
    deleted = {step.path for step in plan.steps if step.action == "delete" and not step.path.endswith(b"/")}
    assert not deleted & set(situation.ignored)


@given(differences, situations)
def test_the_same_plan_has_the_same_hash(found: list[Difference], situation: Situation) -> None:
    plan = make_plan("s/C6", "staged", found, situation)
    assert plan.hash == make_plan("s/C6", "staged", found[::-1], situation).hash
    others = [
        Plan("s/C5", "staged", plan.steps),
        Plan("s/C6", "all", plan.steps),
        Plan("s/C6", "staged", (*plan.steps, Step("delete", b"zzzz"))),
    ]
    assert plan.hash not in {other.hash for other in others}
