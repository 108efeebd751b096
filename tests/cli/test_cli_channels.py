"""`wrap` and `record` on the JSON of real clients: their blocks on record once, with the tools that ran, and what is lost
told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from commandline import Answer, Place, checkpoint

FIXTURES = Path(__file__).parents[1] / "agents" / "fixtures"

NINE = ["C1", "C2", "C3", "R1", "C4", "C5", "S1", "C6", "final"]

#: Shell functions of a client: `say` an event in JSON, `await` a ref of ours.
CLIENT = """#!/bin/sh
say() { printf '%s\\n' "$1"; }
await() {
    tries=0
    until git for-each-ref --format='%(refname)' refs/gitckpt | grep -q "$1" || [ $tries -gt 600 ]; do
        sleep 0.1; tries=$((tries + 1))
    done
}
"""


def said(text: str, id: str = "item_1") -> str:
    """The event in which codex says this, as a command of the script."""
    event = json.dumps({"type": "item.completed", "item": {"id": id, "type": "agent_message", "text": text}})
    return f"say '{event}'\n"


def ran(command: str, call: str, paths: tuple[str, ...] = (), status: str = "completed") -> str:
    """A tool of codex that runs this."""
    item = {"id": call, "type": "file_change", "status": status, "changes": [{"path": path} for path in paths]}
    started = json.dumps({"type": "item.started", "item": item | {"status": "in_progress"}})
    completed = json.dumps({"type": "item.completed", "item": item})
    return f"say '{started}'\n{command}\nsay '{completed}'\n"


OPENED = """say '{"type":"thread.started","thread_id":"thread-1"}'\n"""
TURN = """say '{"type":"turn.completed"}'\n"""


def client(place: Place, name: str, script: str) -> dict[str, str]:
    """An environment in which a program of this name runs the script."""
    program = place.path.parent / "clients" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(CLIENT + script)
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{place.env['PATH']}"}


def codex(place: Place, script: str, *options: str) -> Answer:
    """A run of `codex exec --json` that does what the script says."""
    env = client(place, "codex", script)
    return place.run(
        "wrap", "--session", "s", "--inject", "off", *options, "--", "codex", "exec", "--json", "go", env=env
    )


def show(place: Place, id: str) -> str:
    return place.ok("show", id, "--yaml").out


# -- record


@pytest.mark.parametrize(
    ("channel", "name"),
    [("claude-code", "claude-code.partial.jsonl"), ("codex", "codex.stream.jsonl"), ("gemini", "gemini.stream.jsonl")],
)
def test_a_saved_stream_is_recorded_and_not_again(place: Place, channel: str, name: str) -> None:
    command = ["record", "--channel", channel, "--on-retry", "fork", str(FIXTURES / name)]
    assert place.ok(*command).err == ""
    assert place.ids() == ["start", *NINE]
    refs = place.git("for-each-ref", "refs/gitckpt")
    shutil.rmtree(place.path / ".git" / "gitckpt")  # what is known is known from git alone
    assert place.ok(*command).err == "gitckpt: 9 blocks were on record already: not recorded again\n"
    assert place.git("for-each-ref", "refs/gitckpt") == refs


def test_a_stream_that_has_grown_gives_what_is_new(place: Place) -> None:
    lines = (FIXTURES / "codex.stream.jsonl").read_bytes().splitlines(keepends=True)
    place.ok("record", "--channel", "codex", stdin=b"".join(lines[:12]))
    assert place.ids() == ["start", "C1", "C2"]
    answer = place.ok("record", "--channel", "codex", "--on-retry", "fork", stdin=b"".join(lines))
    assert place.ids() == ["start", *NINE]
    assert answer.err == "gitckpt: 2 blocks were on record already: not recorded again\n"


def test_where_a_block_was_said_is_on_record(place: Place) -> None:
    place.ok("record", "--channel", "codex", "--on-retry", "fork", str(FIXTURES / "codex.stream.jsonl"))
    assert 'source: "codex 01a22a60-6244-70a0-97db-6292936718ff item_5 ' in show(place, "C1")


def test_the_same_stream_in_another_work_tree_is_news_there(place: Place, tmp_path: Path) -> None:
    place.git("worktree", "add", "-q", str(tmp_path / "other"))
    for cwd in (place.path, tmp_path / "other"):
        command = ["record", "--channel", "codex", "--on-retry", "fork", str(FIXTURES / "codex.stream.jsonl")]
        assert place.ok(*command, cwd=cwd).err == ""
    assert len(place.json("sessions", "--all")["sessions"]) == 2


def test_a_resumed_session_that_counts_anew_loses_nothing(place: Place) -> None:
    """The same client session, the same message id, other words."""
    assert codex(place, OPENED + said(checkpoint("1"))).status == 0
    env = client(place, "codex", OPENED + said(checkpoint("2")))
    place.run("wrap", "--session", "t", "--", "codex", "exec", "resume", "--json", env=env)
    assert place.ids() == ["start", "C2", "end"]


def test_what_could_not_be_read_is_told_and_makes_the_status_one(place: Place) -> None:
    text = json.dumps({"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": checkpoint("1")}})
    answer = place.run("record", "--channel", "codex", stdin='{"type": broken\n' + text + "\n" + text[:-50])
    assert (answer.status, place.ids()) == (1, ["start", "C1"])
    assert answer.err == (
        "gitckpt: could not be read: a line that is no JSON\n"
        "gitckpt: could not be read: the last line, which is cut off\n"
    )


def test_text_under_the_wrong_channel_records_nothing_and_is_no_fault(place: Place) -> None:
    assert place.run("record", "--channel", "codex", stdin=checkpoint("1")) == (0, b"", "")
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_a_mistake_names_the_channels(place: Place) -> None:
    answer = place.run("record", "--channel", "claude", stdin=b"")
    assert answer.status == 2
    assert "--channel is one of plain, claude-code, codex, gemini, qwen, opencode, cline, copilot, pi" in answer.err


# -- wrap


def test_a_client_is_known_by_its_command_and_its_blocks_are_recorded_untouched(place: Place) -> None:
    stream = FIXTURES / "codex.stream.jsonl"
    answer = codex(place, f"cat {stream}; echo noise >&2")
    assert (answer.status, answer.raw) == (0, stream.read_bytes())
    assert place.ids() == ["start", *NINE, "end"]
    events = place.json("log")["events"]
    assert (events[0]["agent"]["client"], events[0]["agent"]["channel"]) == ("codex", "codex")
    assert events[-1]["agent"] == {"exit": 0, "session": "01a22a60-6244-70a0-97db-6292936718ff"}
    first, second, *_ = answer.err.splitlines()
    assert (first, second) == ("gitckpt: reading codex's JSON events (--auto turn)", "noise")


def test_blocks_on_standard_error_of_a_client_are_not_its_words(place: Place) -> None:
    block = checkpoint("9").replace("\n", "\\n")
    assert codex(place, f"printf '{block}' >&2\n" + said(checkpoint("1"))).status == 0
    assert place.ids() == ["start", "C1", "end"]


def test_each_block_holds_the_files_of_its_moment(place: Place) -> None:
    script = OPENED
    for number in (1, 2):
        script += f"echo step {number} >a.txt\n{said(checkpoint(str(number)), f'item_{number}')}await tags/C{number}\n"
    codex(place, script + "echo after >a.txt\n")
    assert [place.ok("show", f"C{n}", "--path", "a.txt").out for n in (1, 2)] == ["step 1\n", "step 2\n"]


def test_what_a_mode_loses_is_told_with_what_helps(place: Place) -> None:
    env = client(place, "claude", "cat <<'EOF'\n" + checkpoint("1") + "EOF\n")
    answer = place.run("wrap", "--inject", "off", "--", "claude", "-p", "go", env=env)
    assert answer.err == (
        "gitckpt: reading claude-code's text (--auto off)\n"
        "gitckpt: claude-code: it prints its last message only, so blocks before that one are NOT recorded\n"
        "gitckpt:   → --output-format stream-json --verbose\n"
    )
    assert place.ids() == ["start", "C1", "end"]
    assert place.run("wrap", "--quiet", "--", "claude", "-p", "go", env=env).err == ""


def test_the_channel_may_be_named(place: Place) -> None:
    stream = FIXTURES / "gemini.stream.jsonl"
    place.ok("wrap", "--session", "g", "--channel", "gemini", "--", "cat", str(stream))
    assert place.ids() == ["start", *NINE, "end"]
    codex(place, f"cat {stream}", "--channel", "plain")
    assert place.ids() == ["start", "end"]


def test_what_cannot_be_read_of_a_live_stream_is_told_at_the_end(place: Place) -> None:
    answer = codex(
        place, "say '{\"type\": broken'\n" + said(checkpoint("1")) + 'printf \'{"type":"item.\'', "--auto", "off"
    )
    assert answer.err == (
        "gitckpt: reading codex's JSON events (--auto off)\n"
        "gitckpt: could not be read: a line that is no JSON; what was said in there is NOT recorded\n"
        "gitckpt: could not be read: the last line, which is cut off; what was said in there is NOT recorded\n"
    )
    assert place.ids() == ["start", "C1", "end"]


def test_a_block_without_an_end_names_its_line_among_the_words(place: Place) -> None:
    answer = codex(place, said("one\ntwo\n===CHECKPOINT 9===\nphase: implement\n"))
    assert "gitckpt: line 3 of the agent's words: the block CHECKPOINT 9 is not terminated" in answer.err


def test_events_on_a_terminal_are_read_as_those_in_a_pipe(place: Place) -> None:
    place.env |= client(place, "codex", f"cat {FIXTURES / 'codex.stream.jsonl'}")
    answer = place.typed("wrap", "--quiet", "--", "codex", "exec", "--json", "go")
    assert (answer.status, answer.raw) == (0, (FIXTURES / "codex.stream.jsonl").read_bytes())
    assert place.ids() == ["start", *NINE, "end"]


def test_a_damaged_session_bars_no_recording_of_another(place: Place) -> None:
    place.ok(
        "record", "--channel", "codex", "--session", "old", "--on-retry", "fork", str(FIXTURES / "codex.stream.jsonl")
    )
    commit = place.json("show", "old/C1")["commit"]
    (place.path / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    assert codex(place, OPENED + said(checkpoint("1"))).status == 0
    assert place.git("for-each-ref", "--format=%(refname)", "refs/gitckpt/s/tags") == "refs/gitckpt/s/tags/C1"


def test_blocks_that_are_late_are_marked_and_say_nothing_of_what_is_covered(place: Place) -> None:
    place.git("config", "gitckpt.maxFileSize", "1K")
    place.write("big.bin", b"x" * 2000)
    codex(
        place,
        f"cat {FIXTURES / 'codex.stream.jsonl'}; await tags/C6; rm big.bin; " + said(checkpoint("7"), "item_99"),
        "--auto",
        "off",
    )
    rows = place.ok("log").out.splitlines()
    assert sum("(late)" in row for row in rows) == 7
    changes = [row for row in rows if "covered" in row]
    assert len(changes) == 2 and "start" in changes[0] and "C7" in changes[1] and "(all covered again)" in changes[1]


def test_blocks_that_are_read_together_hold_the_files_of_one_moment(place: Place) -> None:
    """A writer that never rests would change them between the two."""
    writer = "(while :; do n=$((n + 1)); echo $n >a.txt; done) & writer=$!\n"
    codex(place, OPENED + writer + said(checkpoint("1") + checkpoint("2")) + "await tags/C2; kill $writer\n")
    assert place.git("rev-parse", "gitckpt/s/tags/C1^{tree}") == place.git("rev-parse", "gitckpt/s/tags/C2^{tree}")


def test_a_block_that_is_not_marked_late_holds_what_was_there_before_the_next_tool(place: Place) -> None:
    """The agent waits for nothing. Whether it has gone on is seen when it stands still."""
    place.write("a.txt", "tool 0\n")
    turns = [said(checkpoint(str(n)), f"m{n}") + ran(f"echo tool {n} >a.txt", f"t{n}") for n in range(1, 13)]
    codex(place, OPENED + "".join(turns) + said(checkpoint("13"), "m13"), "--auto", "off")
    for n in range(1, 14):
        is_late = "\nlate: true" in place.git("show", "-s", "--format=%B", f"gitckpt/s/tags/C{n}")
        assert is_late or place.git("show", f"gitckpt/s/tags/C{n}:a.txt") == f"tool {n - 1}"


# -- automatic checkpoints

AUTO = (
    OPENED + said(checkpoint("1")) + "await tags/C1\n"
    + ran("echo one >a.txt", "item_2", ("a.txt", "b.txt")) + "await_autos 1\n"
    + ran("cat a.txt >/dev/null", "item_3") + said(checkpoint("2"), "item_5") + "await tags/C2\n"
    + ran("echo half >a.txt", "item_4", status="failed") + "await_autos 2\n"
    + "echo three >a.txt\n" + TURN + "await_autos $TURNS\n"
)  # fmt: skip

AWAIT_AUTOS = """
autos() { git log --format=%s refs/gitckpt/s/heads/main | grep -c ^auto; }
await_autos() { tries=0; until [ "$(autos)" -ge "$1" ] || [ $tries -gt "$MOST" ]; do sleep 0.1; tries=$((tries + 1)); done; }
"""


def autos(place: Place) -> list[dict]:
    return [event for event in place.json("log", "--events")["events"] if event["kind"] == "auto"]


def test_after_each_tool_that_changed_something_there_is_a_checkpoint(place: Place) -> None:
    answer = codex(place, "MOST=600 TURNS=3\n" + AWAIT_AUTOS + AUTO, "--auto", "tool")
    assert answer.status == 0
    contents = [place.ok("show", event["commit"], "--path", "a.txt").out for event in autos(place)]
    assert contents == ["one\n", "half\n", "three\n"]
    listed = place.ok("log", "--events").out
    for words in ("after file_change a.txt, b.txt", "after file_change, which failed", "at the end of a turn"):
        assert words in listed
    record = show(place, autos(place)[0]["commit"])
    assert "boundary:\n  kind: after\n  tool: file_change\n  call: item_2\n  paths:\n  - a.txt\n  - b.txt\n" in record


@pytest.mark.parametrize(("option", "contents"), [([], ["three\n"]), (["--auto", "off"], [])])
def test_turns_alone_are_recorded_unless_told_otherwise(place: Place, option: list[str], contents: list[str]) -> None:
    codex(place, f"MOST=0 TURNS={len(contents)}\n" + AWAIT_AUTOS + AUTO, *option)
    assert [place.ok("show", event["commit"], "--path", "a.txt").out for event in autos(place)] == contents


def test_plain_text_shows_no_tools_and_says_so(place: Place) -> None:
    answer = place.ok("wrap", "--auto", "tool", "--", "echo", "hello")
    assert answer.err == "gitckpt: this output shows no tools and turns: --auto tool records nothing\n"
    assert "'always' is none of tool, turn, off" in place.run("wrap", "--auto", "always", "--", "true").err
