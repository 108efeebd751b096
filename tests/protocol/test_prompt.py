"""The prompt: what is filled in stays as it is, and an echo of it records nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.errors import UsageError
from gitckpt.protocol.prompt import protocol_prompt
from gitckpt.protocol.reader import read_text

LANGUAGES = ("zh", "en")
BLOCK = (
    "===CHECKPOINT 7===\nphase: 实施\ndone: [x]\nnext: [y]\nstate_ref: [z]\n"
    "rollback_hint: [git checkout .]\n===END===\n"
)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_says_what_the_protocol_asks_for(lang: str) -> None:
    prompt = protocol_prompt("migrate", lang=lang)  # type: ignore[arg-type]
    asked = "phase: done: next: state_ref: rollback_hint: goal facts todo open from: reason: new_strategy: result:"
    marks = ["===SUMMARY S1 (covers C1-C5)===", "===RETRY===", "===FINAL===", "===END===", "git checkout src/a.ts"]
    assert [word for word in [*asked.split(), *marks] if word not in prompt] == []


def test_the_chinese_prompt_keeps_the_form_of_its_source() -> None:
    form = (
        "   ===CHECKPOINT {{step_id}}===\n"
        "   phase: {{探索|实施|验证|收尾}}\n"
        "   done: [已完成步骤的一句话清单]\n"
        "   next: [下一步要做什么 + 预期工具调用]\n"
        "   state_ref: [若调用过工具，记录关键状态引用，如文件路径/变量名/分支名]\n"
        "   rollback_hint: [若这步失败，回退到哪个 checkpoint + 如何回退]\n"
        "   ===END===\n"
    )
    assert form in protocol_prompt()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_slots_stay_where_nothing_is_given(lang: str) -> None:
    prompt = protocol_prompt(lang=lang)  # type: ignore[arg-type]
    assert (prompt.count("\n{{task}}\n"), prompt.count("\n{{prior_context}}\n")) == (1, 1)


@pytest.mark.parametrize(("lang", "nothing"), [("zh", "（无）"), ("en", "(none)")])
def test_a_task_without_context_says_so(lang: str, nothing: str) -> None:
    prompt = protocol_prompt("migrate", lang=lang)  # type: ignore[arg-type]
    assert "{{task}}" not in prompt
    assert f"\n{nothing}\n" in prompt


def test_what_is_filled_in_is_not_filled_again() -> None:
    prompt = protocol_prompt("keep {{prior_context}} and {{task}}, {x} and \\1", "the context {{task}}")
    assert "\nkeep {{prior_context}} and {{task}}, {x} and \\1\n" in prompt
    assert "\nthe context {{task}}\n" in prompt


def test_blocks_in_task_and_context_are_quoted() -> None:
    prompt = protocol_prompt("go on", f"{BLOCK}then this")
    quoted = "".join(f"| {line}\n" for line in [*BLOCK.splitlines(), "then this"])
    assert f"\n{quoted}" in prompt


def test_another_language_is_refused() -> None:
    with pytest.raises(UsageError, match="'fr'"):
        protocol_prompt(lang="fr")  # type: ignore[arg-type]


PASSAGE = st.lists(
    st.sampled_from(
        [
            BLOCK,
            "===RETRY===\n",
            "===FINAL===",
            "===END===",
            "> ===CHECKPOINT 8===\n",
            "＝＝＝SUMMARY S1＝＝＝",
            "\r",
            "\n",
            "text ",
            "{{task}}",
        ]
    ),
    max_size=6,
).map("".join)


@given(PASSAGE, PASSAGE, st.sampled_from(LANGUAGES))
def test_an_echo_records_nothing(task: str, context: str, lang: str) -> None:
    blocks, diagnostics = read_text(protocol_prompt(task, context, lang))  # type: ignore[arg-type]
    assert (blocks, [found for found in diagnostics if found.code != "P004"]) == ([], [])
