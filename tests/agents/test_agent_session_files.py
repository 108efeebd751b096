"""Session files, in the shapes that real clients write them: read as far as they are written, and then on from there."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from captured import NINE
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import bent
from stored import LINES, PROMPT, SESSION, TEXTS, messages

from gitckpt.agents.agent import Agent
from gitckpt.agents.session_file import MAX_DOCUMENT, Reading, SessionFile, Whereabouts, read_session
from gitckpt.agents.signals import Boundary, Lost, Opened, Signal
from gitckpt.agents.spoken import Spoken
from gitckpt.agents.stream import Channel
from gitckpt.agents.table import AGENTS


def agent(name: str) -> Agent:
    return next(agent for agent in AGENTS if agent.name == name)


def file_of(name: str) -> SessionFile:
    file = agent(name).session
    assert file is not None
    return file


def blocks(name: str, *signals: Signal) -> list[str]:
    spoken = Spoken(name)
    told = [told for signal in signals for told in spoken.hear(signal)] + spoken.close()
    return [t.block.id or t.block.kind for t in told]


def transcript(name: str, count: int = 9) -> bytes:
    rows = [row for number, said in enumerate(TEXTS[:count]) for row in LINES[name](number, said)]
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("name", LINES)
def test_all_blocks_of_a_transcript_are_read_once_with_the_session_and_the_calls(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript(name))
    signals, place = read_session(file_of(name), str(path))
    assert blocks(name, *signals) == NINE
    assert {signal.session for signal in signals if isinstance(signal, Opened)} == {SESSION}
    before = [signal.call for signal in signals if isinstance(signal, Boundary) and signal.kind == "before"]
    assert list(dict.fromkeys(before)) == [f"call_{number}" for number in range(9)]
    assert place.partition(".")[0] == str(path.stat().st_size)


@pytest.mark.parametrize("name", LINES)
def test_reading_goes_on_where_it_ended_though_a_line_was_half_written(name: str, tmp_path: Path) -> None:
    path, place, found = tmp_path / "session.jsonl", "", []
    whole = transcript(name)
    for end in range(0, len(whole) + 700, 700):
        path.write_bytes(whole[:end])
        reading = read_session(file_of(name), str(path), place=place)
        found += reading.signals
        place = reading.place
    assert blocks(name, *found) == NINE
    assert not [signal for signal in found if isinstance(signal, Lost)]
    assert read_session(file_of(name), str(path), place=place) == Reading((), place)


@pytest.mark.parametrize("name", LINES)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_no_line_of_whatever_shape_raises(name: str, data: st.DataObject) -> None:
    rows = [row for number in (0, 1) for row in LINES[name](number, TEXTS[number])]
    channel = Channel(file_of(name).decode())
    for row in data.draw(st.lists(st.sampled_from(rows), min_size=1, max_size=5)):
        blocks(name, *channel.feed(json.dumps(data.draw(bent(row))).encode() + b"\n"))


@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_no_document_of_whatever_shape_raises(data: st.DataObject) -> None:
    document = data.draw(bent(messages(2)))
    if isinstance(document, dict):
        blocks("cline", *file_of("cline").decode()(document))


def test_a_file_that_became_shorter_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript("codex"))
    place = read_session(file_of("codex"), str(path)).place
    path.write_bytes(transcript("codex", 2))
    assert blocks("codex", *read_session(file_of("codex"), str(path), place=place).signals) == ["C1"]


def test_a_file_that_was_written_anew_and_is_longer_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript("codex", 2))
    place = read_session(file_of("codex"), str(path)).place
    path.write_bytes(b'{"type": "compacted"}\n' + transcript("codex"))
    assert blocks("codex", *read_session(file_of("codex"), str(path), place=place).signals) == NINE


@pytest.mark.parametrize("name", LINES)
def test_what_a_client_wrote_behind_the_half_line_in_which_it_was_killed_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    whole = transcript(name)
    killed = [line[: len(line) // 2] for line in transcript(name, 3).splitlines()]
    for half in killed:
        path.write_bytes(half + whole)
        signals = read_session(file_of(name), str(path)).signals
        assert blocks(name, *signals) == NINE
        assert [signal.reason for signal in signals if isinstance(signal, Lost)] == ["a line that is no JSON"]


def test_a_place_on_record_that_has_no_checksum_is_gone_on_from(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(transcript("codex"))
    size = len(transcript("codex", 2))
    assert blocks("codex", *read_session(file_of("codex"), str(path), place=str(size)).signals) == NINE[1:]


@pytest.mark.parametrize("name", ["claude-code", "cline", "opencode"])
def test_what_is_not_there_or_no_file_of_the_kind_is_told_and_keeps_the_place(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "missing", tmp_path, tmp_path / "pipe"):
        reading = read_session(file_of(name), str(path), SESSION, "7")
        assert [type(signal) for signal in reading.signals if not isinstance(signal, Opened)] == [Lost]
        assert reading.place == "7"
    (tmp_path / "pipe").unlink()
    (tmp_path / "junk").write_bytes(b"\x00\xff{junk")
    reading = read_session(file_of(name), str(tmp_path / "junk"), SESSION)
    assert blocks(name, *reading.signals) == []
    assert [path.name for path in tmp_path.iterdir()] == ["junk"]


def test_a_file_that_is_written_anew_is_read_whole_each_time_and_its_blocks_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "id.messages.json"
    path.write_text(json.dumps(messages(4)))
    first = read_session(file_of("cline"), str(path))
    document = messages(9)
    del document["messages"][1:5]  # compacted
    path.write_text(json.dumps(document))
    second = read_session(file_of("cline"), str(path), place=first.place)
    assert blocks("cline", *first.signals) == ["C1", "C2"]
    assert blocks("cline", *first.signals, *second.signals) == NINE


def test_a_document_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "id.messages.json"
    with path.open("wb") as file:
        file.truncate(MAX_DOCUMENT + 1)
    [lost] = read_session(file_of("cline"), str(path)).signals
    assert lost == Lost("the session file: it is larger than 64 MiB")


def database(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)")
    connection.execute("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)")
    return connection


def put(
    connection: sqlite3.Connection,
    number: int,
    said: str,
    *,
    role: str = "assistant",
    ended: bool = True,
    session: str = SESSION,
) -> None:
    message, time = f"msg_{session}{number:03}", {"start": 1} | ({"end": 2} if ended else {})
    connection.execute(
        "INSERT OR REPLACE INTO message VALUES (?, ?, ?)",
        (message, session, json.dumps({"role": role, "summary": "assistant"})),
    )
    state = {"status": "completed", "input": {"filePath": "a"}, "output": PROMPT, "time": {"start": 1, "end": 2}}
    for kind, data in (
        ("a", {"type": "text", "text": said, "time": time}),
        ("b", {"type": "tool", "tool": "bash", "callID": f"call_{number}", "state": state}),
    ):
        id = f"prt_{number:03}{kind}{session}"
        connection.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?)", (id, message, session, json.dumps(data)))
    connection.commit()


def test_a_database_is_read_on_from_the_last_part_that_had_ended(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    connection = database(path)
    put(connection, 0, PROMPT, role="user", ended=False)  # which never ends
    put(connection, 0, PROMPT, session="ses_other")
    for number, said in enumerate(TEXTS[:4], 1):
        put(connection, number, said)
    put(connection, 5, TEXTS[4][:50], ended=False)
    first = read_session(file_of("opencode"), str(path), SESSION)
    assert blocks("opencode", *first.signals) == ["C1", "C2"]
    assert [s.call for s in first.signals if isinstance(s, Boundary)] == [f"call_{number}" for number in range(1, 5)]
    for number, said in enumerate(TEXTS[4:], 5):
        put(connection, number, said)
    second = read_session(file_of("opencode"), str(path), SESSION, first.place)
    assert blocks("opencode", *second.signals) == NINE[2:]
    assert blocks("opencode", *read_session(file_of("opencode"), str(path), SESSION, second.place).signals) == []


def test_a_message_in_which_the_client_was_killed_bars_none_after_it(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    connection = database(path)
    put(connection, 1, TEXTS[1], ended=False)
    assert blocks("opencode", *read_session(file_of("opencode"), str(path), SESSION).signals) == []
    put(connection, 2, TEXTS[3])
    assert blocks("opencode", *read_session(file_of("opencode"), str(path), SESSION).signals) == ["C1", "C2"]


def test_a_database_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    put(database(path), 1, TEXTS[1])
    before = path.read_bytes()
    assert blocks("opencode", *read_session(file_of("opencode"), str(path), SESSION).signals) == ["C1"]
    assert path.read_bytes() == before


def test_paths_that_can_be_computed_are() -> None:
    where = Whereabouts("/home/dev", "/home/dev/my project.x", "s-1")
    computed = {
        agent.name: agent.session.path(where) for agent in AGENTS if agent.session and agent.session.path(where)
    }
    assert computed == {
        "claude-code": "/home/dev/.claude/projects/-home-dev-my-project-x/s-1.jsonl",
        "qwen": "/home/dev/.qwen/projects/-home-dev-my-project-x/chats/s-1.jsonl",
        "opencode": "/home/dev/.local/share/opencode/opencode.db",
        "cline": "/home/dev/.cline/data/sessions/s-1/s-1.messages.json",
        "copilot": "/home/dev/.copilot/session-state/s-1/events.jsonl",
    }
