"""Writing blocks: what was read, written and read again is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_texts import MIGRATION, THREE_BLOCKS

from gitckpt.protocol.reader import read_text
from gitckpt.protocol.writer import block_text, spans


@pytest.mark.parametrize("text", [MIGRATION, THREE_BLOCKS], ids=["migration", "three blocks"])
def test_the_blocks_of_the_source_survive(text: str) -> None:
    read, _ = read_text(text)
    again, _ = read_text("\n".join(block_text(block.kind, block.id, block.fields) for block in read))
    assert [(block.kind, block.id, block.fields) for block in again] == [
        (block.kind, block.id, block.fields) for block in read
    ]


@pytest.mark.parametrize("items", [["a, b", "c; d"], ["- a", "b"], ["f(a, b)", "[c]"], ["a，b"], ["don't", "can't"]])
def test_items_that_brackets_would_split_stay_whole(items: list[str]) -> None:
    (block,), _ = read_text(block_text("checkpoint", "C7", {"done": items, "todo": items}))
    assert (block.fields["done"], block.fields["todo"]) == (items, items)


WORDS = st.text(st.sampled_from("ab7 ,;:=[](){}'\"`-，。中文/._→"), min_size=1, max_size=12).map(
    lambda text: " ".join(text.split())
)
ITEMS = st.lists(WORDS.filter(lambda word: any(char.isalnum() for char in word)), min_size=1, max_size=4)


@given(ITEMS, ITEMS)
def test_no_item_is_lost_or_split(done: list[str], todo: list[str]) -> None:
    fields = {
        "phase": "verify",
        "done": done,
        "next": "go",
        "state_ref": ["a"],
        "rollback_hint": "read-only",
        "todo": todo,
    }
    (block,), _ = read_text(block_text("checkpoint", "C7", fields))
    joined = [" ".join(block.fields[name]) for name in ("done", "todo")]
    assert [_letters(text) for text in joined] == [_letters(" ".join(items)) for items in (done, todo)]


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        ([], ""),
        (["C1"], "C1"),
        (["C1", "C2", "C3"], "C1-C3"),
        (["C1", "C2", "C4", "setup", "S1", "S2"], "C1-C2, C4, setup, S1-S2"),
        (["C3", "C2"], "C3, C2"),
    ],
)
def test_ids_in_a_row_are_written_as_a_span(ids: list[str], written: str) -> None:
    assert spans(ids) == written
