"""A client that runs under our hooks: replays the calls of a real one and writes its session file step by step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from captured import captured
from commandline import Answer, Place
from stored import LINES, SESSION, TEXTS, messages

Payload = dict[str, Any]

#: The clients whose hooks are programs.
CLIENTS = ("claude-code", "codex", "gemini", "qwen", "cline", "copilot")


class Client:
    """A client in a place. Its tool call number n writes `tool n` into a.txt."""

    def __init__(self, name: str, place: Place) -> None:
        self.name, self.place = name, place
        home = Path(place.env["HOME"])
        text = captured(f"{name}.hooks.jsonl").decode()
        text = text.replace("/home/dev/project", str(place.path)).replace("/home/dev", str(home))
        self.calls: list[tuple[str, Payload]] = [
            (row["event"], row["payload"]) for row in map(json.loads, text.splitlines())
        ]
        self.session = self._session()
        self.file = self._file(home)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.unlink(missing_ok=True)

    def _session(self) -> str:
        payload = self.calls[0][1]
        return str(payload.get("session_id") or payload.get("sessionId") or payload["taskId"])

    def _file(self, home: Path) -> Path:
        payload = self.calls[0][1]
        if "transcript_path" in payload:
            return Path(payload["transcript_path"])
        if self.name == "copilot":
            return home / f".copilot/session-state/{self.session}/events.jsonl"
        root = payload["sessionContext"]["rootSessionId"]
        return home / f".cline/data/sessions/{root}/{root}.messages.json"

    def call_id(self, number: int) -> str:
        payload = self.payload("before", number)
        told = payload.get("tool_call")
        return str(
            payload.get("tool_call_id") or payload.get("tool_use_id") or (told["id"] if told else f"call_{number}")
        )

    def payload(self, kind: str, number: int = 0) -> Payload:
        return self.event(kind, number)[1]

    def event(self, kind: str, number: int = 0) -> tuple[str, Payload]:
        names = {
            "opened": ("SessionStart", "sessionStart", "TaskStart"),
            "before": ("PreToolUse", "BeforeTool", "preToolUse"),
            "after": ("PostToolUse", "PostToolUseFailure", "AfterTool", "postToolUse"),
            "turn": ("Stop", "AfterAgent", "agentStop", "TaskComplete"),
            "closed": ("SessionEnd", "sessionEnd"),
        }[kind]  # fmt: skip
        return [call for call in self.calls if call[0] in names][number]

    def has(self, kind: str) -> bool:
        try:
            return bool(self.event(kind))
        except IndexError:
            return False

    def lines(self, number: int) -> list[bytes]:
        """Return the lines that the client adds to its session file in turn `number`."""
        texts = [json.dumps(row, ensure_ascii=False) for row in LINES[self.name](number, TEXTS[number])]
        call = self.call_id(number) if number < 8 else ""
        return [t.replace(SESSION, self.session).replace(f"call_{number}", call).encode() + b"\n" for t in texts]

    def write_turn(self, number: int) -> None:
        """Write the text and the call of a turn; most clients add the result of the tool only after it has run."""
        if self.name == "cline":
            document = messages(number + 1)
            for row in document["messages"]:
                for part in row["content"]:
                    if part.get("id"):
                        part["id"] = self.call_id(min(int(part["id"].removeprefix("call_")), 7))
            self.file.write_text(json.dumps(document, ensure_ascii=False))
            return
        with self.file.open("ab") as file:
            file.writelines(self.lines(number)[: -self.answers(number)])

    def note(self, kind: str, *numbers: int) -> None:
        """Write Copilot's note of the hook it calls; a hook before parallel tools is noted once."""
        event, payload = self.event(kind, *numbers[:1])
        payloads = [self.payload(kind, number) for number in numbers]
        calls = [
            {"id": f"call_{n}", "name": p["toolName"], "args": p["toolArgs"]}
            for n, p in zip(numbers, payloads, strict=True)
        ]
        told = {"toolCalls": calls} if kind == "before" else {"timestamp": payload["timestamp"]}
        line = {"type": "hook.start", "data": {"hookType": event, "input": {"sessionId": self.session} | told}}
        with self.file.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def answers(self, number: int) -> int:
        """Return how many lines of a turn come after its tool call."""
        return {"claude-code": 2, "codex": 2, "qwen": 1, "gemini": 1, "copilot": 1}.get(self.name, 0)

    def finish_turn(self, number: int) -> None:
        if lines := self.lines(number)[-self.answers(number) :] if self.answers(number) else []:
            with self.file.open("ab") as file:
                file.writelines(lines)

    def hook(self, kind: str, number: int = 0, **more: Any) -> Answer:
        event, payload = self.event(kind, number)
        return self.tell(payload | more, event)

    def tell(self, payload: object, event: str = "") -> Answer:
        """Call the hook with a payload; it must never refuse."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        words = (event,) if event and self.name in ("cline", "copilot") else ()
        answer = self.place.run("hook", self.name, *words, stdin=data)
        assert (answer.status, answer.err) == (0, ""), answer
        return answer

    def work(self, number: int) -> None:
        """Run turn `number`: text, the hook before the tool, the tool, the hook after it."""
        self.write_turn(number)
        assert self.hook("before", number).out == ""
        self.place.write("a.txt", f"tool {number}\n")
        self.hook("after", number)
        self.finish_turn(number)

    @property
    def log(self) -> list[Payload]:
        """All events on record, oldest first."""
        found: list[Payload] = self.place.json("log", "--all")["events"]
        return found

    @property
    def faults(self) -> list[str]:
        path = self.place.path / ".git/gitckpt/hooks.log"
        return path.read_text().splitlines() if path.exists() else []

    def is_late(self, event: Payload) -> bool:
        return "\nlate: true" in self.place.git("show", "-s", "--format=%B", event["commit"])

    def subject(self, event: Payload) -> str:
        return self.place.git("show", "-s", "--format=%s", event["commit"])

    def content(self, event: Payload, name: str = "a.txt") -> str:
        return self.place.git("show", f"{event['commit']}:{name}")
