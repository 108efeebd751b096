"""From words to blocks: each message by itself, each block once, and where in the words it stood."""

from __future__ import annotations

from commandline import checkpoint, retry

from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.spoken import MOST_MESSAGES, Spoken, Told
from gitckpt.agents.stream import TextStream

C1, C2 = checkpoint("1"), checkpoint("2")


def heard(*signals: Signal, spoken: Spoken | None = None) -> list[str]:
    spoken = spoken or Spoken("agent")
    return [told.block.id or told.block.kind for signal in signals for told in spoken.hear(signal)]


def whole(text: str, message: str = "m") -> Said:
    return Said(text, message, whole=True)


def piece(text: str, message: str = "m", part: str = "0") -> Said:
    return Said(text, message, whole=False, part=part)


def test_a_message_that_is_told_again_gives_nothing_again() -> None:
    assert heard(whole(C1), whole(C1), whole(C1 + "\n"), whole(f"more\n{C1}{C2}")) == ["C1", "C2"]


def test_the_same_block_in_another_message_is_another() -> None:
    assert heard(whole(C1, "a"), whole(C1, "b"), whole(C1, "a")) == ["C1", "C1"]


def test_the_same_message_of_another_session_is_another() -> None:
    assert heard(Opened("s"), whole(C1), Opened("t"), whole(C1), Opened("t"), whole(C1)) == ["C1", "C1"]


def test_pieces_and_then_the_whole_give_each_block_once() -> None:
    pieces = [piece((C1 + C2)[at : at + 7]) for at in range(0, len(C1 + C2), 7)]
    assert heard(*pieces, whole(C1 + C2)) == ["C1", "C2"]
    assert heard(*pieces[: len(pieces) // 2 + 2], whole(C1 + C2)) == ["C1", "C2"]
    assert heard(*pieces[3:], whole(C1 + C2)) == ["C2", "C1"]  # the beginning was not heard


def test_a_block_without_its_footer_is_given_when_its_message_ends_and_then_not_again() -> None:
    cut = C1.removesuffix("===END===\n")
    ends: list[Signal] = [piece("hello", "n"), Boundary("before", "Bash"), Boundary("turn"), Opened("other")]
    for end in ends:
        spoken = Spoken("agent")
        assert heard(piece(cut), spoken=spoken) == []
        [told] = spoken.hear(end)
        assert (told.block.id, told.block.terminated) == ("C1", False)
        assert spoken.close() == []
    spoken = Spoken("agent")
    assert heard(piece(cut), whole(C1), spoken=spoken) == ["C1"]
    assert spoken.close() == []


def test_words_of_one_message_are_no_continuation_of_anothers() -> None:
    head, tail = C1[:60], C1[60:]
    assert heard(whole(head, "a"), whole(tail, "b")) == []
    assert heard(piece(head, "a"), piece(tail, "b")) == []
    assert heard(piece(head, "m", "0"), piece(tail, "m", "1")) == []


def test_a_block_that_a_retry_brings_again_is_given_again_but_not_with_a_repetition() -> None:
    text = C1 + C2 + retry("C1") + C2
    spoken = Spoken("agent")
    told = spoken.hear(whole(text)) + spoken.hear(whole(text + "\n"))
    assert [t.block.id or t.block.kind for t in told] == ["C1", "C2", "retry", "C2"]
    assert len({str(t.source) for t in told}) == 4


def test_characters_that_pieces_cut_in_two_are_whole_again() -> None:
    done = checkpoint("1", "\U0001f600 done").replace("\U0001f600", "\ud83d\ude00")
    at = done.index("\ude00")
    [told] = Spoken("agent").hear(piece(done)) or [None]
    spoken = Spoken("agent")
    [apart] = spoken.hear(piece(done[:at])) + spoken.hear(piece(done[at:]))
    assert apart.block.fields["done"] == told.block.fields["done"] == ["\U0001f600 done"]
    [lone] = heard_blocks(Spoken("agent"), piece(checkpoint("1", "\ud83d done")))
    assert lone.block.fields["done"] == ["\ufffd done"]


def heard_blocks(spoken: Spoken, *signals: Signal) -> list[Told]:
    return [told for signal in signals for told in spoken.hear(signal)]


def test_lines_count_in_the_words_alone() -> None:
    spoken = Spoken("agent")
    told = heard_blocks(spoken, whole("a\nb", "a"), whole(f"c\n{C1}", "b"), piece(C2, "c"))
    assert [(t.block.line, t.block.end_line) for t in told] == [(4, 10), (12, 18)]
    spoken.hear(whole("===CHECKPOINT 3===\nphase: implement\n", "d"))
    [found] = spoken.take_diagnostics()
    assert (found.code, found.line) == ("P003", 20)
    assert spoken.take_diagnostics() == []


def test_a_template_that_the_agent_repeats_is_no_block() -> None:
    assert heard(whole(checkpoint("{{step_id}}") + C1)) == ["C1"]


def test_memory_of_messages_is_bounded_and_of_late_use() -> None:
    spoken = Spoken("agent")
    for number in range(MOST_MESSAGES + 10):
        spoken.hear(whole(C1, str(number)))
        spoken.hear(piece("x", f"piece {number}"))
    assert len(spoken._given) <= MOST_MESSAGES + 1 and len(spoken._parts) == 1
    assert heard(whole(C1, str(MOST_MESSAGES)), spoken=spoken) == []


def test_plain_text_has_no_source_and_is_late_where_more_follows() -> None:
    stream = TextStream()
    [first, second] = stream.feed(f"hello\n{C1}{C2}".encode())
    assert isinstance(first, Told) and isinstance(second, Told)
    assert (first.late, second.late, first.source) == (True, False, None)
    [third] = stream.feed(checkpoint("3").encode() + b"Now I go on")
    assert isinstance(third, Told) and third.late
