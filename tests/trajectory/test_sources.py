"""Sources: what tells a block from all others, written and read back, and found again."""

from __future__ import annotations

import pytest

from gitckpt.protocol.blocks import Block
from gitckpt.trajectory.sources import Source, Sources, digest_of, read_source

SOURCE = Source("claude-code", "4c334b6c-4672", "msg_1", "abc")


def test_a_source_is_one_line_and_reads_back() -> None:
    assert str(SOURCE) == "claude-code 4c334b6c-4672 msg_1 abc"
    assert read_source(str(SOURCE)) == SOURCE


@pytest.mark.parametrize("id", ["a b", "x" * 81, "\n", 'quo"te', "back\\slash", "编号", "\ud83d", "\x1b[31m"])
def test_an_odd_id_is_kept_as_a_hash_and_still_tells_apart(id: str) -> None:
    one, other = str(SOURCE._replace(message=id)), str(SOURCE._replace(message=id + "!"))
    assert one != other and one.isprintable() and one.isascii() and len(one.split(" ")) == 4
    assert Sources([one]).holds(str(SOURCE._replace(message=id)))


@pytest.mark.parametrize("text", ["", "a b c", "a b c d e", "a  c d", "\x00"])
def test_what_is_no_source_is_none(text: str) -> None:
    assert read_source(text) is None
    assert not Sources([text, str(SOURCE)]).holds(text)


def test_only_what_was_taken_up_is_held() -> None:
    sources = Sources([str(SOURCE)])
    assert sources.holds(str(SOURCE))
    for other in ({"client": "qwen"}, {"session": "s"}, {"message": "msg_2"}, {"digest": "abd"}):
        assert not sources.holds(str(SOURCE._replace(**other)))


def test_a_message_that_nobody_has_named_is_any_of_its_session() -> None:
    nameless = str(SOURCE._replace(message=""))
    assert nameless.split(" ")[2] == "*"
    assert Sources([str(SOURCE)]).holds(nameless)
    assert Sources([nameless]).holds(str(SOURCE)) and Sources([nameless]).holds(nameless)
    assert not Sources([nameless]).holds(str(SOURCE._replace(session="s")))


def test_a_copy_of_a_session_under_another_id_is_known_by_ids_that_no_other_message_can_have() -> None:
    copied = SOURCE._replace(message="msg_01XFDUDYJgAACzvnptvVoYEL")
    sources = Sources([str(copied), str(SOURCE)])
    assert sources.holds(str(copied._replace(session="s")))
    assert not sources.holds(str(SOURCE._replace(session="s")))
    for other in ({"client": "qwen"}, {"digest": "abd"}):
        assert not sources.holds(str(copied._replace(session="s", **other)))


def test_a_digest_is_of_what_the_block_says_and_not_of_where_it_stands() -> None:
    block = Block("checkpoint", "C1", "1", {"done": ["a"]}, line=3)
    assert digest_of(block) == digest_of(Block("checkpoint", "C1", "1", {"done": ["a"]}, line=9))
    assert digest_of(block) != digest_of(Block("checkpoint", "C1", "1", {"done": ["b"]}))
    assert digest_of(block, 2) == f"{digest_of(block)}.2"
