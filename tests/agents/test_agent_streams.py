"""The JSON lines of every client that is known: its own words, each block once, and where its tools begin and end."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from captured import CAPTURES, NINE, STREAMS, boundaries, captured, names, opened, read, told
from commandline import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import bent

from gitckpt.agents.signals import Lost, Opened
from gitckpt.agents.spoken import Told
from gitckpt.agents.stream import Item
from gitckpt.agents.table import CHANNELS

every_capture = pytest.mark.parametrize(("channel", "name"), CAPTURES, ids=[name for _, name in CAPTURES])


def test_every_channel_has_a_capture() -> None:
    assert {"plain", *STREAMS} == set(CHANNELS)


@every_capture
def test_all_blocks_are_found_each_once_and_none_of_the_prompt(channel: str, name: str) -> None:
    items = read(channel, captured(name))
    assert names(items) == NINE
    assert not [item for item in items if isinstance(item, Lost)]


@every_capture
def test_what_a_block_says_arrives_whole(channel: str, name: str) -> None:
    c1, c2, *_ = [told.block.fields for told in told(read(channel, captured(name)))]
    assert c1["done"] == ["扫描项目，发现 4 个文件引用 moment，总 9 处"]
    assert c2["state_ref"]["note"] == "**this line is long on purpose** so that a renderer that wraps has to wrap it"


@every_capture
def test_sources_tell_all_blocks_apart(channel: str, name: str) -> None:
    sources = [str(told.source) for told in told(read(channel, captured(name)))]
    assert len(set(sources)) == 9
    assert all(source.startswith(f"{channel} ") and len(source.split()) == 4 for source in sources)
    assert sources == [str(told.source) for told in told(read(channel, captured(name), 100))]


@every_capture
def test_each_of_the_eight_tools_ends_once_and_the_one_that_failed_says_so(channel: str, name: str) -> None:
    items = read(channel, captured(name))
    after = boundaries(items, "after")
    assert len({boundary.call for boundary in after}) == len(after) == 8
    assert all(boundary.tool for boundary in after)
    if channel != "opencode":  # a tool is printed when it has ended
        assert [b.call for b in boundaries(items, "before")] == [b.call for b in after]
    if channel not in ("pi", "gemini", "opencode", "copilot"):  # to these a command that fails is a tool that worked
        assert [boundary.failed for boundary in after] == [False] * 4 + [True] + [False] * 3
    assert len(boundaries(items, "turn")) == 1


@every_capture
def test_any_chunks_give_the_same(channel: str, name: str) -> None:
    data = captured(name)
    whole = timeless(read(channel, data))
    for size in (1, 7, 4096):
        assert timeless(read(channel, data, size)) == whole


def timeless(items: list[Item]) -> list[Item]:
    """The items without what depends on how much was read at a time."""
    return [item._replace(late=False) if isinstance(item, Told) else item for item in items]


def ended(items: list[Item]) -> list[str]:
    """The sources of the blocks that have a footer."""
    return [str(told.source) for told in told(items) if told.block.terminated]


@every_capture
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_a_stream_that_breaks_off_gives_what_it_had_said(channel: str, name: str, data: st.DataObject) -> None:
    text = captured(name)
    end = data.draw(st.integers(0, len(text)))
    whole = [str(told.source) for told in told(read(channel, text))]
    found = ended(read(channel, text[:end]))
    assert found == whole[: len(found)]


@every_capture
@given(data=st.data())
@settings(max_examples=6, deadline=None)
def test_damaged_bytes_raise_nothing_and_make_no_blocks_up(channel: str, name: str, data: st.DataObject) -> None:
    text = bytearray(captured(name))
    for place in data.draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=20)):
        text[place] = data.draw(st.integers(0, 255))
    assert "C99" not in names(read(channel, bytes(text)))


@pytest.mark.parametrize("channel", STREAMS)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_no_event_of_whatever_shape_raises(channel: str, data: st.DataObject) -> None:
    lines = captured(STREAMS[channel][0]).splitlines()
    chosen = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=5))
    events = [data.draw(bent(json.loads(line))) for line in chosen]
    read(channel, b"\n".join(json.dumps(event).encode() for event in events))


@pytest.mark.parametrize("channel", STREAMS)
def test_what_is_no_event_is_left_out(channel: str) -> None:
    events = captured(STREAMS[channel][0])
    noise = b'warning: {"type":"text"}\n\n[info] hello\n\x1b[31mred\x1b[0m\n[]\n[1,"two",null]\n{"type":"brand.new","x":{}}\n{}\n'
    assert names(read(channel, noise + events + noise)) == NINE
    assert not [item for item in read(channel, noise) if isinstance(item, Lost)]


@pytest.mark.parametrize("channel", STREAMS)
def test_carriage_returns_of_a_terminal_do_not_matter(channel: str) -> None:
    assert names(read(channel, captured(STREAMS[channel][0]).replace(b"\n", b"\r\n"))) == NINE


@pytest.mark.parametrize("channel", STREAMS)
def test_lines_that_are_no_json_are_told_and_the_others_read(channel: str) -> None:
    lines = captured(STREAMS[channel][0]).splitlines(keepends=True)
    bad = [b'{"type": "text", nonsense}\n', b"{" * 100_000 + b"\n", b'{"a":' + b"[" * 100_000 + b"\n", b'[{"a":\n']
    items = read(channel, b"".join(bad) + b"".join(lines) + b'{"type":"assist')
    assert names(items) == NINE
    reasons = [item.reason for item in items if isinstance(item, Lost)]
    assert reasons == ["a line that is no JSON"] * 4 + ["the last line, which is cut off"]


def test_a_line_of_a_hundred_megabytes_is_passed_over_and_costs_a_buffer() -> None:
    stream, chunk = opened("codex"), b'{"type":"x","y":"' + b"x" * (1 << 20)
    tracemalloc.start()
    items = [item for _ in range(100) for item in stream.feed(chunk)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    items += stream.feed(b'"}\n' + captured("codex.stream.jsonl"))
    assert peak < 24 * 1024 * 1024
    assert items[0] == Lost("a line of more than 8 MiB")
    assert names(items) == NINE


# -- whose words


def line(**event: object) -> bytes:
    return json.dumps(event).encode() + b"\n"


def claude_says(text: str, **more: object) -> bytes:
    content = [{"type": "text", "text": text}]
    return line(type="assistant", session_id="s", message={"id": "m", "content": content}, **more)


def test_a_subagents_words_are_not_the_agents() -> None:
    theirs = claude_says(checkpoint("1"), parent_tool_use_id="toolu_1") + claude_says(checkpoint("2"), isSidechain=True)
    assert names(read("claude-code", theirs + claude_says(checkpoint("3"), parent_tool_use_id=None))) == ["C3"]
    piece = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": checkpoint("4")}}
    assert names(read("claude-code", line(type="stream_event", parent_tool_use_id="toolu_1", event=piece))) == []
    other = line(type="text", sessionID="ses_1", part={"id": "a", "text": checkpoint("1")})
    other += line(type="text", sessionID="ses_2", part={"id": "b", "text": checkpoint("2")})
    assert names(read("opencode", other)) == ["C1"]
    copilot = line(
        type="assistant.message", data={"messageId": "m", "parentToolCallId": "c", "content": checkpoint("1")}
    )
    assert names(read("copilot", copilot)) == []


def test_what_tools_print_and_users_say_is_not_the_agents() -> None:
    block = checkpoint("1")
    result = [{"type": "tool_result", "tool_use_id": "t", "content": block}, {"type": "text", "text": block}]
    assert names(read("claude-code", line(type="user", message={"content": result}))) == []
    done = {"id": "i", "type": "command_execution", "aggregated_output": block, "exit_code": 0}
    assert names(read("codex", line(type="item.completed", item=done))) == []
    assert names(read("gemini", line(type="message", role="user", content=block))) == []
    assert names(read("pi", line(type="message_end", message={"role": "user", "content": result}))) == []


def test_a_document_that_holds_the_last_message_alone_gives_that() -> None:
    assert names(read("claude-code", captured("claude-code.json.jsonl"))) == ["C6", "final"]


def test_the_session_of_the_client_is_told() -> None:
    for channel, captures in STREAMS.items():
        sessions = [item.session for item in read(channel, captured(captures[0])) if isinstance(item, Opened)]
        assert len(sessions) == (channel != "copilot"), channel  # which tells it when all is over


def test_files_that_a_tool_names_are_told() -> None:
    after = boundaries(read("claude-code", captured("claude-code.stream.jsonl")), "after")
    assert (after[2].tool, after[2].paths) == ("Edit", ("/home/dev/project/src/utils/date.js",))
    change = {"id": "i", "type": "file_change", "changes": [{"path": "a.py", "kind": "update"}, {"path": "b.py"}]}
    [after_change] = boundaries(read("codex", line(type="item.completed", item=change)), "after")
    assert (after_change.tool, after_change.paths) == ("file_change", ("a.py", "b.py"))


# -- late


def test_a_block_that_is_read_together_with_its_tool_is_late() -> None:
    lines = captured("codex.stream.jsonl").splitlines(keepends=True)
    together = read("codex", b"".join(lines))
    assert [told.late for told in told(together)] == [True] * 7 + [False] * 2
    apart = [item for stream in [opened("codex")] for text in lines for item in stream.feed(text)]
    assert [told.late for told in told(apart)] == [False] * 9


def test_a_block_in_pieces_is_given_with_the_piece_that_ends_it() -> None:
    stream = opened("gemini")
    for piece in (checkpoint("1")[:30], checkpoint("1")[30:-9]):
        assert told(stream.feed(line(type="message", role="assistant", content=piece, delta=True, timestamp="t"))) == []
    rest = line(type="message", role="assistant", content=checkpoint("1")[-9:] + "prose", delta=True, timestamp="u")
    assert names(stream.feed(rest)) == ["C1"]
