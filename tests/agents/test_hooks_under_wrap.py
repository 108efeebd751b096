"""A client under `wrap` that is given our hooks for the run: whoever hears a block first records it, and nobody twice."""

from __future__ import annotations

import fcntl
import json
import sys
from pathlib import Path

from captured import NINE
from commandline import Answer, Place
from hooked import Client
from stored import LINES, TEXTS

#: A Claude Code that says the nine messages, writes its session file, and calls the hooks that `--settings` names.
CLAUDE = f"""#!{sys.executable}
import json, os, subprocess, sys
from pathlib import Path

turns, place, log = json.loads(Path(os.environ["TURNS"]).read_text()), os.getcwd(), []
file = Path(os.environ["TURNS"]).with_name("session.jsonl")
arguments = sys.argv[1:]
hooks = json.loads(arguments[arguments.index("--settings") + 1])["hooks"] if "--settings" in arguments else {{}}
if os.environ.get("DEAF"):
    hooks = {{}}

def hook(event, **told):
    payload = {{"session_id": "s-1", "transcript_path": str(file), "cwd": place, "hook_event_name": event}} | told
    for group in hooks.get(event, []):
        for entry in group["hooks"]:
            done = subprocess.run(entry["command"], shell=True, input=json.dumps(payload).encode(), capture_output=True)
            log.append([event, done.returncode, done.stdout.decode(), done.stderr.decode()])

hook("SessionStart", source="startup")
for number, rows in enumerate(turns):
    with file.open("a") as out:
        out.writelines(json.dumps(row) + "\\n" for row in rows[:3])
    if "stream-json" in arguments:
        for row in rows[1:3]:
            print(json.dumps(row | {{"session_id": "s-1"}}), flush=True)
    if number < len(turns) - 1:
        hook("PreToolUse", tool_name="Bash", tool_use_id=f"call_{{number}}")
        Path("a.txt").write_text(f"tool {{number}}\\n")
        hook("PostToolUse", tool_name="Bash", tool_use_id=f"call_{{number}}")
hook("Stop", stop_hook_active=False)
hook("SessionEnd", reason="other")
Path(os.environ["TURNS"]).with_name("log.json").write_text(
    json.dumps({{"log": log, "argv": sys.argv, "session": os.environ.get("GITCKPT_SESSION"),
                "client": os.environ.get("GITCKPT_CLIENT")}})
)
"""


class Run:
    """A run of that client, and what it left."""

    def __init__(self, place: Place, *options: str, argv: str = "claude -p go", turns: int = 1, **env: str) -> None:
        self.place = place
        room = place.path.parent / "client"
        room.mkdir()
        program = room / "claude"
        program.write_text(CLAUDE)
        program.chmod(0o755)
        file = room / "turns.json"
        file.write_text(json.dumps([LINES["claude-code"](n, said) for n, said in enumerate(TEXTS[:turns])]))
        given = {"PATH": f"{room}:{place.env['PATH']}", "TURNS": str(file), **env}
        self.answer: Answer = place.run("wrap", *options, "--", *argv.split(), env=given)
        told = json.loads((room / "log.json").read_text())
        self.calls, self.argv, self.session = told["log"], told["argv"], told["session"]
        self.client_variable = told["client"]

    @property
    def client(self) -> Client:
        return Client("claude-code", self.place)

    @property
    def blocks(self) -> list[str]:
        found = [e for e in self.client.log if e["kind"] in ("checkpoint", "retry", "summary", "final")]
        return [e["kind"] if e["kind"] in ("retry", "final") else e["id"] for e in found]

    def has_exact_states(self) -> bool:
        events = {e["id"]: e for e in self.client.log}
        states = {id: self.client.content(events[id]) for id in ("C1", "C2", "C3", "C4", "C5", "C6")}
        late = [id for id, event in events.items() if self.client.is_late(event)]
        return not late and states == {
            "C1": "tool 0", "C2": "tool 2", "C3": "tool 3", "C4": "tool 5", "C5": "tool 6", "C6": "tool 7",
        }  # fmt: skip


STREAM = "claude -p go --output-format stream-json --verbose"


def test_hooks_record_each_block_once_in_the_session_of_the_run(place: Place) -> None:
    run = Run(place, "--session", "mine", argv=STREAM, turns=9)
    assert run.answer.status == 0 and run.session == "mine"
    assert run.blocks == NINE and run.has_exact_states()
    assert [s["id"] for s in place.json("sessions", "--all")["sessions"]] == ["mine"]
    assert [e["kind"] for e in run.client.log].count("end") == 1 and run.client.log[-1]["kind"] == "end"
    assert run.client.faults == [] and {(status, err) for _, status, _, err in run.calls} == {(0, "")}
    assert "NOT recorded" not in run.answer.err and "given hooks and tools" in run.answer.err


def test_nothing_that_was_written_for_the_run_is_left(place: Place) -> None:
    before = place.bytes()
    killed = place.path / ".git/gitckpt/inject/killed/settings.json"
    killed.parent.mkdir(parents=True)
    killed.write_text("{}")
    Run(place)
    assert place.bytes() == before
    private = place.path / ".git/gitckpt"
    assert not list(private.glob("inject/*")) and not list(private.glob("claims/*"))


def test_of_a_mode_that_prints_the_last_message_only_no_block_is_lost(place: Place) -> None:
    run = Run(place, turns=4)
    assert run.blocks == NINE[:2] and run.client.content(run.client.log[2]) == "tool 0"


def test_where_the_hooks_are_not_called_the_events_are_read(place: Place) -> None:
    run = Run(place, argv=STREAM, turns=9, DEAF="1")
    assert run.blocks == NINE and run.calls == []


def test_where_the_hooks_are_not_called_what_is_lost_is_told(place: Place) -> None:
    err = Run(place, DEAF="1").answer.err
    assert "were not called" in err and "prints its last message only" in err


def test_a_person_may_want_none(place: Place) -> None:
    run = Run(place, "--inject", "off")
    assert run.argv[1:] == ["-p", "go"] and run.session is None
    assert "prints its last message only" in run.answer.err


def test_what_a_person_gives_the_client_himself_stays(place: Place, tmp_path: Path) -> None:
    run = Run(place, argv="""claude -p go --settings {"hooks":{}}""")
    assert run.argv[1:] == ["-p", "go", "--settings", '{"hooks":{}}']
    assert "has --settings of its own" in run.answer.err


def test_a_turn_is_taught_the_protocol_unless_wrap_has_done_so(place: Place) -> None:
    run = Run(place)
    assert "additionalContext" in run.calls[0][2]


def test_an_agent_that_was_given_the_prompt_is_not_told_it_again(place: Place) -> None:
    run = Run(place, "--task", "move to dayjs", argv="claude -p {prompt}")
    assert run.calls[0][:3] == ["SessionStart", 0, ""]


def test_what_wrap_heard_first_hooks_leave_to_it(place: Place) -> None:
    """Hooks that come when `wrap` has recorded already, as those of a client do that has none for the start."""
    run = Run(place, argv=STREAM, turns=2, DEAF="1")
    [name] = [s["id"] for s in place.json("sessions", "--all")["sessions"]]
    before = run.client.log
    claims = place.path / ".git/gitckpt/claims"
    (claims / name).write_text("wrap")
    live = place.path / ".git/gitckpt/live"
    live.mkdir(exist_ok=True)
    with (live / name).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        client = run.client
        client.place.env["GITCKPT_SESSION"] = name
        client.write_turn(1)
        place.write("a.txt", "changed\n")
        for kind in ("before", "after", "turn"):
            client.hook(kind, 1 if kind != "turn" else 0)
    assert run.client.log == before


def test_a_client_of_another_kind_that_the_agent_starts_has_a_session_of_its_own(place: Place) -> None:
    run = Run(place)
    assert run.client_variable == "claude-code"
    live = place.path / ".git/gitckpt/live"
    live.mkdir(exist_ok=True)
    with (live / "run").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        for name in ("codex", "gemini"):
            client = Client(name, place)
            client.place.env |= {"GITCKPT_SESSION": "run", "GITCKPT_CLIENT": "gemini"}
            client.work(0)
            assert client.faults == []
    sessions = {s["id"] for s in place.json("sessions", "--all")["sessions"]}
    assert "run" in sessions and f"codex-{Client('codex', place).session}" in sessions and len(sessions) == 3
