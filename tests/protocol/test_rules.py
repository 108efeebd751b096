"""The rules beyond their examples in docs/protocol.md: edges, places, selection, and the two examples of the source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol_samples import FIELDS, block, blocks, final, retry, summary
from source_texts import MIGRATION, PROMPT, THREE_BLOCKS

from gitckpt.errors import UsageError
from gitckpt.protocol.reader import read_text
from gitckpt.protocol.rules import RULES, Finding, check, selected_codes


def findings(text: str, **options: object) -> list[Finding]:
    read, diagnostics = read_text(text, keep_all=True)
    return check(read, diagnostics, text_lines=text.split("\n"), **options)  # type: ignore[arg-type]


def codes(text: str, **options: object) -> list[str]:
    return [found.code for found in findings(text, **options)]


def test_what_the_three_blocks_of_the_source_deserve() -> None:
    assert [(found.line, found.code) for found in findings(THREE_BLOCKS)] == [
        (10, "P007"),  # the hint goes back to C6, which is not in the text
        (17, "P007"),  # the summary covers C6 and C8-C10, which are not in the text either
        (17, "P009"),  # and has two sentences, not three
        (17, "P010"),  # and of its range only C7 was recorded before it
    ]
    # Nothing about the RETRY: C7 is there. Nothing about the number 7: a text may begin anywhere, as a resumed run's.
    # No FINAL is missed: nothing says that the run is over.


def test_what_the_migration_of_the_source_deserves() -> None:
    assert findings(MIGRATION) == [
        # Steps are left out on purpose here; the reader is told of each gap once, where it is. The hint that goes back
        # to C5, the range C1-C5 and the FINAL that lists C9-C12 with S2 and S3 name what the gaps hold: not told again.
        Finding(
            *("", 19, 1, "P013", "warning"),
            "C3-C5 left out: nobody can read, or go back to, what is not written; write the blocks",
        ),
        # Two sentences where the protocol asks for three.
        Finding("", 21, 1, "P009", "warning", "SUMMARY S1 has 2 sentences; write exactly three"),
        Finding(
            *("", 47, 1, "P013", "warning"),
            "C9-C12 left out: nobody can read, or go back to, what is not written; write the blocks",
        ),
        # RETRY from C7: the step after C6 failed before it could report, and the RETRY stands for it. So C8 follows in
        # order, its hint may go back to C7, and the FINAL may list RETRY→C7.
    ]


def test_the_prompt_of_the_source_deserves_one_word_about_its_placeholder() -> None:
    assert [(found.line, found.code) for found in findings(PROMPT)] == [(7, "P004")]


def test_the_texts_of_the_source_in_one() -> None:
    found = [(found.code, found.message.partition(";")[0]) for found in findings(PROMPT + THREE_BLOCKS + MIGRATION)]
    assert found == [
        ("P004", "'{{step_id}}' only stands for an id"),
        ("P007", "CHECKPOINT C7 names C6, but no such block stands before it"),
        # What the migration leaves out (C9-C12) now explains a part of the range.
        ("P007", "SUMMARY S2 names C6 and C8, but no such block stands before it"),
        ("P009", "SUMMARY S2 has 2 sentences"),
        ("P010", "SUMMARY S2 covers C6 and C8, not recorded before it"),
        # The one text holds two runs with no FINAL between them, so that the second seems to count backwards.
        ("P013", "CHECKPOINT C1 runs backwards behind C7"),
        ("P013", "C3-C5 left out: nobody can read, or go back to, what is not written"),
        ("P009", "SUMMARY S1 has 2 sentences"),
        ("P013", "SUMMARY S1 runs backwards behind S2"),
        ("P013", "C9-C12 left out: nobody can read, or go back to, what is not written"),
    ]


def test_strict_counts_the_gaps_as_prose_too() -> None:
    assert [found.line for found in findings(MIGRATION, strict=True, select=["P012"])] == [1, 19, 47]


def test_a_finding_stands_on_the_line_of_its_field() -> None:
    text = "intro\n> " + block(7, phase="doing", rollback_hint="[回滚]").replace("\n", "\n> ")
    assert [(found.code, found.line, found.column) for found in findings(text)] == [("P002", 3, 3), ("P006", 7, 3)]


def test_the_file_and_the_level_are_given() -> None:
    read, diagnostics = read_text(block(7, next=None), keep_all=True)
    message = "CHECKPOINT C7 has no `next`; write `next: [what comes next and the tool call expected]`"
    assert check(read, diagnostics, file="a.md") == [Finding("a.md", 1, 1, "P001", "error", message)]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ([], [], ["P001", "P006"]),
        (["P006"], [], ["P006"]),
        (["p00"], ["P001"], ["P006"]),
        ([], ["P0"], []),
    ],
)
def test_select_and_ignore(select: list[str], ignore: list[str], expected: list[str]) -> None:
    assert codes(block(7, next=None, rollback_hint="[undo]"), select=select, ignore=ignore) == expected


def test_a_code_that_no_rule_has_is_refused() -> None:
    with pytest.raises(UsageError, match="'P19'"):
        selected_codes(["P19"])
    with pytest.raises(UsageError, match="''"):
        selected_codes([], [""])


def test_one_row_for_each_rule() -> None:
    assert [rule.code for rule in RULES] == [f"P{number:03}" for number in range(1, 19)]
    warnings = [rule.code for rule in RULES if rule.level == "warning"]
    assert warnings == ["P009", "P012", "P013", "P016", "P017", "P018"]


@pytest.mark.parametrize("missing", list(FIELDS))
def test_p001_each_required_field(missing: str) -> None:
    assert codes(block(7, **{missing: None})) == ["P001"]
    assert codes(block(7, **{missing: ""})) == ["P001"]


def test_p001_a_run_without_summaries_lists_none() -> None:
    assert codes(block(1) + final("C1")) == []
    assert codes(block(1) + final("C1").replace("summaries: []\n", "")) == ["P001"]


@pytest.mark.parametrize("phase", ["探索", "实施", "验证", "收尾", "explore", "Implement", "VERIFY", "finish"])
def test_p002_the_phases_in_both_languages(phase: str) -> None:
    assert codes(block(7, phase=phase)) == []


def test_p003_and_p004_come_from_reading() -> None:
    assert codes("===END===\n") == ["P003"]
    assert codes(block(7).replace("===END===\n", "") + block(8)) == ["P003"]
    assert [codes(block(id)) for id in ("{{step_id}}", "<id>", "N", "../x")] == [["P004"]] * 4


def test_p005_only_on_one_line_of_history() -> None:
    assert codes(block(1) + block(1)) == ["P005"]
    assert codes(block(1) + retry(1) + block(1)) == []
    assert codes(block(1) + final("C1") + block(1) + final("C1")) == []


def test_p007_names_that_exist() -> None:
    assert codes(block(1) + block(2, rollback_hint="[back to C1]")) == []
    assert codes(block(1) + block(2, rollback_hint="[back to C3]") + block(3)) == ["P007"]
    assert codes(block(1) + retry(2) + block(3, rollback_hint="[back to C2]")) == []
    assert codes(block(1) + retry(1) + block(2, rollback_hint="[back to R1]")) == []
    assert codes(block(1) + retry(99)) == ["P007"]
    assert codes(retry(1) + block(2)) == []
    assert codes(retry(3)) == ["P007"]
    assert codes(block(1) + final("C1, C2")) == ["P007"]
    assert codes(block(1) + final("C1, RETRY→C2")) == ["P007"]
    assert codes(block(1) + final("C1", "S1(C1)")) == ["P007"]


def test_p008_once_for_each_stretch() -> None:
    assert codes(blocks(1, 5) + summary("S1", "C1-C5") + blocks(6, 10)) == []
    assert [found.line for found in findings(blocks(1, 9))] == [5 * 7 + 1]
    assert codes(blocks(1, 4) + retry(3) + blocks(4, 5) + summary("S1", "C1-C5")) == []


def test_p010_ranges_against_the_blocks() -> None:
    five = blocks(1, 5)
    assert codes(five + summary("S1", "C1-C4")) == ["P010"]
    assert codes(five + summary("S1", "C1-C5") + block(6) + summary("S2", "C5-C6")) == ["P010"]
    assert codes(five + summary("S1", "C1-C5") + block(6) + summary("S2", "C6-C7")) == ["P007", "P010"]
    assert codes(five + "===SUMMARY S1===\nOne. Two. Three.\n===END===\n") == ["P010"]
    assert codes(five + summary("S1", "C1-C5") + final("C1-C5", "S1(C1-C4)")) == ["P010"]
    assert codes(five + summary("S1", "C1-C5") + final("C1-C5", "S1(C1-C5)")) == []


def test_p010_a_step_done_again_may_be_covered_again_or_not() -> None:
    again = blocks(1, 2) + summary("S1", "C1-C2") + retry(2) + blocks(2, 3)
    assert codes(again + summary("S2", "C2-C3")) == []
    assert codes(again + summary("S2", "C3")) == []


def test_p010_a_later_summary_may_make_up_for_a_gap() -> None:
    text = blocks(1, 3) + summary("S1", "C1-C2") + block(4) + summary("S2", "C3-C4")
    assert [(found.code, found.message) for found in findings(text)] == [
        ("P010", "SUMMARY S1 leaves out C3; write (covers C1-C3)")
    ]


def test_p010_says_what_to_write() -> None:
    (found,) = findings(blocks(1, 5) + summary("S1", "C1-C4"))
    assert found.message == "SUMMARY S1 leaves out C5; write (covers C1-C5)"


def test_p011_a_final_lists_everything() -> None:
    run = blocks(1, 2) + summary("S1", "C1-C2")
    assert codes(run + final("C1, C2", "S1(C1-C2)")) == []
    assert codes(run + final("C1", "S1(C1-C2)")) == ["P011"]
    assert codes(run + final("C1-C2")) == ["P011"]


def test_p011_when_a_run_counts_as_finished() -> None:
    last = block(2, phase="finish", next="[无]")
    assert codes(block(1) + last) == ["P011"]
    assert codes(block(1) + last, finished=False) == []
    assert codes(blocks(1, 2), finished=True) == ["P011"]
    assert codes(block(1) + block(2, phase="finish", next="[run the tests once more]")) == []
    assert codes("", finished=True) == []


def test_p012_one_finding_for_each_stretch_of_prose() -> None:
    text = "I begin.\nNow.\n\n```text\n" + block(1) + "```\n\n> \nthen on\n" + block(2)
    assert [found.line for found in findings(text, strict=True)] == [1, 15]
    assert codes(text) == []


def test_p013_order() -> None:
    assert codes(block(1) + block(3)) == ["P013"]
    assert codes(block(3) + block(2)) == ["P013"]
    assert codes(blocks(1, 3) + retry(2) + block(2)) == []
    assert codes(blocks(1, 3) + retry(2) + block(3)) == []
    assert codes(blocks(1, 3) + retry(2) + block(4)) == []
    assert codes(blocks(1, 3) + retry(2) + block(6)) == ["P013"]
    assert codes(block(1) + retry(2) + retry(1) + block(3)) == []
    assert codes(block(1) + "C2-C3 omitted here\n" + block(5)) == ["P013", "P013"]
    assert codes(block("setup") + block(7) + block("api-2") + block(8)) == []
    assert codes(block(1) + summary("S1", "C1") + block(2) + summary("S3", "C2")) == ["P013"]


def test_p014_counts_all_state_fields_and_no_others() -> None:
    assert codes(block(1, goal="x" * 1994)) == []  # with the six characters of `step 1`
    assert codes(block(1, goal="x" * 1995)) == ["P014"]
    assert codes(block(1, next="x" * 5000, state_ref="x" * 5000)) == []


def test_p015_a_fact_needs_a_source() -> None:
    assert codes(block(1, facts="\n- A costs 12 (source: https://a.example/pricing)")) == []
    assert codes(block(1, facts="\n- A costs 12")) == ["P015"]


def test_p016_too_many_or_too_little() -> None:
    thirty = "".join(blocks(n, n + 4) + summary(f"S{n // 5 + 1}", f"C{n}-C{n + 4}") for n in range(1, 31, 5))
    assert codes(thirty) == []
    assert codes(thirty + block(31)) == ["P016"]
    same = {"done": "[the same]", "state_ref": "[a.ts]"}
    assert codes("".join(block(id, **same) for id in range(1, 4))) == []
    assert codes("".join(block(id, **same) for id in range(1, 6))) == ["P016"]


def test_p017_only_for_checkpoints_with_a_state() -> None:
    fact = "\n- A costs 12 (source: a.md:1)"
    assert codes(block(1, facts=fact, todo="[b, c]") + block(2, facts=fact, todo="[b, c]")) == ["P017"]
    assert codes(block(1, facts=fact, todo="[b, c]") + block(2, facts=fact, todo="[c]")) == []
    assert codes(block(1, todo="[b]") + block(2, facts=fact, todo="[b]")) == []
    assert codes(block(1) + block(2)) == []


def test_p018_backwards_only_without_a_retry() -> None:
    assert codes(block(1, phase="verify") + block(2, phase="explore")) == ["P018"]
    assert codes(block(1, phase="verify") + retry(1) + block(2, phase="explore")) == []
    assert codes(block(1, phase="explore") + block(2, phase="finish")) == []


def test_a_long_line_of_prose_leaves_no_steps_out() -> None:
    assert codes(block(1) + "I skipped nothing but what C3 would do, since " + "it is much to tell " * 20 + "\n") == []


def test_counts_that_tests_print_leave_no_steps_out() -> None:
    assert codes(block(1) + "12 passed, 3 skipped in 0.4 s\n" + block(2)) == []


def test_a_message_quotes_no_more_than_a_line_of_what_the_agent_wrote() -> None:
    (found,) = findings(block(1, phase="x" * 5000))
    assert len(found.message) < 200


PARTS = st.lists(
    st.one_of(
        st.integers(0, 9).map(block),
        st.integers(0, 9).map(retry),
        st.tuples(st.sampled_from(["S1", "S2", "x"]), st.sampled_from(["C1-C3", "C3-C1", "C2", "", "C1-C9999"])).map(
            lambda pair: summary(*pair)
        ),
        st.sampled_from([final("C1"), final("C1-C3", "S1(C1-C3), S2"), final("{{ids}}"), "===END===\n", "=== \n"]),
        st.sampled_from(
            ["... (C3-C5 省略)\n", "prose\n", "===CHECKPOINT 4===\nphase: x\n", "===CHECKPOINT {{id}}===\n"]
        ),
        st.text(max_size=20),
    ),
    max_size=12,
).map("".join)


@given(PARTS, st.booleans(), st.sampled_from([None, True, False]))
@settings(max_examples=40)
def test_any_text_can_be_checked(text: str, strict: bool, finished: bool | None) -> None:
    found = findings(text, strict=strict, finished=finished)
    assert found == sorted(found)
    assert [finding for finding in found if not 1 <= finding.line <= text.count("\n") + 1] == []


@given(PARTS, st.sets(st.sampled_from([rule.code for rule in RULES]), min_size=1))
@settings(max_examples=40)
def test_selecting_is_the_same_as_leaving_out_the_rest(text: str, chosen: set[str]) -> None:
    everything = findings(text)
    assert findings(text, select=chosen) == [found for found in everything if found.code in chosen]
    assert findings(text, ignore=chosen) == [found for found in everything if found.code not in chosen]
