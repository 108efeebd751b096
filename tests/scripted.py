"""A model endpoint that plays a script: a real HTTP server that streams as endpoints do.

A script is a list of turns, one per request, or a function of the messages sent. Every request is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Message = dict[str, Any]


class Turn(NamedTuple):
    """One answer: text and tool calls (name and arguments; a str is sent unchanged), or a refusal.

    `cut` ends the stream after that many events; with `usage` False no tokens are reported; `quirks` sends calls
    without index and id."""

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    cut: int = -1
    usage: bool = True
    quirks: bool = False
    finish: str = ""


def say(text: str, **more: Any) -> Turn:
    return Turn(text, **more)


def call(name: str, arguments: Any = None, /, **more: Any) -> Turn:
    """Return one tool call; the arguments are given by name, or as unparsed text."""
    return Turn(calls=((name, more if arguments is None else arguments),))


def calls(*turns: Turn) -> Turn:
    """Combine several calls in one reply."""
    return Turn(calls=tuple(one for turn in turns for one in turn.calls))


def refuse(status: int, message: str = "scripted refusal", **headers: str) -> Turn:
    body = json.dumps({"error": {"message": message, "type": "scripted", "code": None}})
    return Turn(status=status, body=body, headers=tuple((k.replace("_", "-"), v) for k, v in headers.items()))


def save(done: Sequence[str], todo: Sequence[str] = ("go on",), **more: Any) -> Turn:
    """Return a checkpoint call with one fact."""
    facts = more.pop("facts", [{"text": f"{len(done)} done", "source": "README.md:1"}])
    return call("checkpoint", {"goal": "the goal", "facts": facts, "done": list(done), "todo": list(todo), **more})


RESET = call("reset", {})
FINAL = say("FINAL: all is done")


class Scripted:
    """The server. `bodies` are the requests, `keys` the API keys sent with them."""

    def __init__(self, script: Sequence[Turn] | Callable[[list[Message]], Turn]) -> None:
        self.script = script
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __enter__(self) -> Scripted:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def turn(self, body: dict[str, Any]) -> Turn:
        self.bodies.append(body)
        if callable(self.script):
            return self.script(body["messages"])
        place = len(self.bodies) - 1
        return self.script[place] if place < len(self.script) else FINAL

    @property
    def last(self) -> list[Message]:
        """The messages of the last request."""
        messages: list[Message] = self.bodies[-1]["messages"]
        return messages


def answers(messages: list[Message]) -> list[str]:
    """Return the results of the tools."""
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


def tokens(messages: list[Message]) -> int:
    return len(json.dumps(messages)) // 4


def _events(turn: Turn, messages: list[Message], number: int) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        return json.dumps({**head, "choices": choices, **more})

    yield chunk({"role": "assistant", "content": ""})
    for start in range(0, len(turn.text), 7):
        yield chunk({"content": turn.text[start : start + 7]})
    for place, (name, arguments) in enumerate(turn.calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        named = {} if turn.quirks else {"index": place, "id": f"call_{number}_{place}", "type": "function"}
        yield chunk(
            {"tool_calls": [{**named, "function": {"name": name, "arguments": text[:5] if not turn.quirks else text}}]}
        )
        if not turn.quirks:
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": text[5:]}}]})
    yield chunk({}, turn.finish or ("tool_calls" if turn.calls else "stop"))
    if turn.usage:
        usage = {"prompt_tokens": tokens(messages), "completion_tokens": 10, "total_tokens": tokens(messages) + 10}
        yield json.dumps({**json.loads(chunk({})), "choices": [], "usage": usage})
    yield "[DONE]"


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            scripted.keys.append(self.headers.get("Authorization", ""))
            turn = scripted.turn(body)
            try:
                self.play(turn, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def play(self, turn: Turn, body: dict[str, Any]) -> None:
            self.send_response(turn.status)
            for name, value in turn.headers:
                self.send_header(name, value)
            if turn.body:
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(turn.body.encode())))
                self.end_headers()
                self.wfile.write(turn.body.encode())
                return
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for place, event in enumerate(_events(turn, body["messages"], len(scripted.bodies))):
                if place == turn.cut:
                    self.close_connection = True
                    return
                raw = f"data: {event}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    return Handler
