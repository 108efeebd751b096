"""What a checkpoint says beside what its step has changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline import Timeline

from gitckpt.trajectory.claims import Claims, Paths, compare, is_compared, step_of, told_before

TREE = (
    b"README.md", b"package.json", b"src/api/time.ts", b"src/utils/date.ts", b"src/components/Timer.tsx",
    b"src/components/Calendar.tsx", "src/locales/中文日期.ts".encode(), b"tests/test_date.ts", b"web/package.json", b"Makefile",
)  # fmt: skip


def claimed(done: str, changed: tuple[bytes, ...] = (), repeated: tuple[str, ...] = (), **fields: Any) -> Claims:
    return compare({"phase": "implement", "done": [done], **fields}, changed, Paths(TREE), repeated)


def unchanged(*arguments: Any, **options: Any) -> tuple[bytes, ...]:
    return claimed(*arguments, **options).unchanged


def unnamed(*arguments: Any, **options: Any) -> tuple[bytes, ...]:
    return claimed(*arguments, **options).unnamed


@pytest.mark.parametrize(
    "said",
    [
        "replaced every call of src/utils/date.ts",
        "replaced every call of utils/date.ts.",
        "date.ts: done",
        "`./src/utils/date.ts:42` uses dayjs",
        "fixed (date.ts#L3-L9)",
        "替换src/utils/date.ts的全部调用",
    ],
)
def test_a_file_that_was_worked_on_and_is_as_it_was(said: str) -> None:
    assert unchanged(said) == (b"src/utils/date.ts",)
    assert unchanged(said, (b"src/utils/date.ts",)) == ()


@pytest.mark.parametrize(
    "said",
    [
        "replaced moment.unix and dayjs.extend in all of it",  # no file of the project
        "wrote src/gone.ts",  # nobody knows what that is
        "read src/utils/date.ts: 8 moment calls",
        "checked date.ts",
        "README.md keeps its words",
        "src/utils/date.ts left untouched",
        "added a test for src/utils/date.ts",
        "wrote it like `date.ts`",
        "扫描 src/utils/date.ts，识别 8 处调用",
        "为 src/utils/date.ts 添加测试",
        "replaced the components in src/components",  # a directory
        "Makefile has a target",  # might be a word
    ],
)
def test_nobody_is_accused_of_what_he_did_not_claim(said: str) -> None:
    assert unchanged(said) == ()


def test_one_of_several_files_of_a_name_is_enough() -> None:
    assert unchanged("added dayjs to package.json", (b"web/package.json",)) == ()
    assert unchanged("added dayjs to web/package.json", (b"package.json",)) == (b"web/package.json",)


@pytest.mark.parametrize("phase", ["explore", "verify"])
def test_where_files_are_looked_at_naming_one_is_no_claim(phase: str) -> None:
    assert unchanged("went through src/utils/date.ts", phase=phase) == ()


def test_what_was_told_before_is_not_done_again() -> None:
    assert unchanged("replaced src/utils/date.ts", (b"README.md",), ("replaced src/utils/date.ts",)) == ()


def test_the_state_counts_where_a_step_changed_nothing_at_all() -> None:
    assert unchanged("replaced the last 5 calls", state_ref={"current": "src/utils/date.ts"}) == (b"src/utils/date.ts",)
    assert unchanged("replaced the last 5 calls", (b"README.md",), state_ref={"current": "src/utils/date.ts"}) == ()
    assert unchanged("read all of it", state_ref={"current": "src/utils/date.ts"}) == ()


CHANGED = (b"src/api/time.ts", b"src/components/Timer.tsx")


def test_files_that_changed_and_that_nobody_named() -> None:
    assert unnamed("replaced src/api/time.ts", CHANGED) == (b"src/components/Timer.tsx",)
    assert unnamed("all is done", CHANGED) == CHANGED


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ("replaced src/api/time.ts and Timer.tsx", {}),
        ("time and Timer are done", {}),
        ("the api and its components", {}),
        ("replaced both", {"state_ref": {"files": ["src/api", "src/components"]}}),
        ("replaced both", {"rollback_hint": "git checkout src/api/time.ts src/components/Timer.tsx"}),
        ("replaced the other 2 files", {}),
        ("替换了其余 2 个文件", {}),
    ],
)
def test_a_file_is_named_by_any_word_that_can_be_meant_for_it(said: str, more: dict[str, Any]) -> None:
    assert unnamed(said, CHANGED, **more) == ()


def test_a_count_names_no_more_than_it_says() -> None:
    assert unnamed("replaced 1 file", CHANGED) == CHANGED


def test_names_in_wide_letters_need_no_blanks_around_them() -> None:
    assert unnamed("已修改中文日期.ts的格式", ("src/locales/中文日期.ts".encode(),)) == ()


def test_paths_that_are_not_utf_8_are_told_as_they_are() -> None:
    assert claimed("nothing", (b"caf\xe9.txt",)) == Claims(unnamed=[b"caf\xe9.txt"])


@given(
    st.text(),
    st.lists(st.sampled_from(TREE), unique=True),
    st.recursive(st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)),
)
def test_only_paths_of_the_project_are_ever_told(said: str, changed: list[bytes], state: Any) -> None:
    found = claimed(said, tuple(changed), state_ref=state)
    assert set(found.unnamed) <= set(changed)
    assert set(found.unchanged) <= set(TREE) - set(changed)


def test_a_step_reaches_back_to_the_checkpoint_before() -> None:
    timeline = Timeline()
    start = timeline.add("start")
    c1 = timeline.add("checkpoint", "C1", fields={"done": ["a"]})
    auto, summary = timeline.add("auto"), timeline.add("summary", "S1")
    c2 = timeline.add("checkpoint", "C2")
    session = timeline.session()
    assert step_of(c2, session) == [c2, summary, auto]
    assert step_of(c1, session) == [c1, start]
    assert (told_before(c2, session), told_before(c1, session)) == (["a"], [])
    assert [is_compared(event) for event in (start, c1, auto, summary)] == [False, True, False, False]
