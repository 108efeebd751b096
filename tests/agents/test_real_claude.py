"""Claude Code itself, where it is installed, against a model that is a script on this machine: under `wrap`, and set up by
`init`."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from commandline import Place, checkpoint

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("claude") is None, reason="Claude Code is not installed"),
]

KEY = "dummy-key-of-the-suite"

#: What the model says, turn by turn, and the shell command that it wants then.
TURNS = [
    (checkpoint("1") + "\nNow I write.", "echo one > a.txt"),
    (checkpoint("2"), "echo two > a.txt"),
    (checkpoint("3"), ""),
]


def content(number: int) -> list[dict[str, Any]]:
    said, command = TURNS[number]
    tool = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": command}}
    return [{"type": "text", "text": said}, *([tool] if command else [])]


def stream(number: int) -> Iterator[dict[str, Any]]:
    """A message as the API streams it."""
    usage = {"input_tokens": 9, "output_tokens": 9}
    about = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": about | {"stop_reason": None, "stop_sequence": None, "usage": usage}}
    for index, block in enumerate(content(number)):
        empty = block | ({"text": ""} if block["type"] == "text" else {"input": {}})
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if block["type"] == "text"
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if TURNS[number][1] else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    """Which turn is next is read off the results that the request holds."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        number = json.dumps(body.get("messages")).count('"tool_result"')
        if body.get("stream") and body.get("tools"):
            events = stream(min(number, len(TURNS) - 1))
            self._answer("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))
        else:
            text = [{"type": "text", "text": "ok"}]
            usage = {"input_tokens": 1, "output_tokens": 1}
            side = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": text}
            self._answer("application/json", json.dumps(side | {"stop_reason": "end_turn", "usage": usage}))

    def _answer(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said on standard error."""


@pytest.fixture
def claude(place: Place, tmp_path: Path) -> Iterator[Place]:
    """A place in which `claude` talks to that model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = tmp_path / "owner"
    home.mkdir()
    trust = {"projects": {str(place.path): {"hasTrustDialogAccepted": True}}, "hasCompletedOnboarding": True}
    approved = {"customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}}
    (home / ".claude.json").write_text(json.dumps(trust | approved))
    place.env |= {
        "HOME": str(home), "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_MODEL": "scripted", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }  # fmt: skip
    yield place
    server.shutdown()


COMMAND = ["claude", "--dangerously-skip-permissions", "-p", "go"]


def states(place: Place) -> dict[str, str]:
    """Checkpoint → what was in a.txt."""
    events = [event for event in place.json("log", "--all")["events"] if event["kind"] == "checkpoint"]
    return {event["id"]: place.git("show", f"{event['commit']}:a.txt") for event in events}


def test_under_wrap_its_blocks_are_recorded_before_the_tools_after_them(claude: Place) -> None:
    first = claude.read("a.txt").rstrip("\n")
    answer = claude.run("wrap", "--", *COMMAND)
    assert answer.status == 0, answer
    assert states(claude) == {"C1": first, "C2": "one", "C3": "two"}
    assert not (claude.path / ".git/gitckpt/hooks.log").exists()


def test_set_up_by_init_it_needs_no_wrap(claude: Place) -> None:
    first = claude.read("a.txt").rstrip("\n")
    claude.ok("init", "--agent", "claude-code")
    done = subprocess.run(
        COMMAND, cwd=claude.path, env=claude.env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done
    assert states(claude) == {"C1": first, "C2": "one", "C3": "two"}
    assert claude.json("log", "--all")["events"][-1]["kind"] == "end"
