"""Session files of one task, in the formats that real clients write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from captured import captured
from commandline import checkpoint

PROMPT = "After each step print a block like this one:\n" + checkpoint("99")

#: What the agent said in nine messages, as codex printed it.
TEXTS = [
    event["item"]["text"]
    for event in map(json.loads, captured("codex.stream.jsonl").splitlines())
    if event.get("type") == "item.completed" and event["item"]["type"] == "agent_message"
]

SESSION, CWD = "4c334b6c-4672-43a6-bf47-6297e15aeb3f", "/home/dev/project"

Row = dict[str, Any]


def claude(number: int, said: str) -> list[Row]:
    base = {"sessionId": SESSION, "cwd": CWD, "isSidechain": False}
    call = {"type": "tool_use", "id": f"call_{number}", "name": "Bash", "input": {"command": "ls"}}
    text = {"type": "text", "text": said}
    answer = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": PROMPT}
    return [
        {"type": "api-request", "sessionId": SESSION, "body": json.dumps({"messages": [PROMPT, *TEXTS]})},
        base | {"type": "assistant", "message": {"id": f"msg_{number}", "role": "assistant", "content": [text]}},
        base | {"type": "assistant", "message": {"id": f"msg_{number}", "role": "assistant", "content": [call]}},
        base | {"type": "user", "message": {"role": "user", "content": [answer]}},
        base | {"type": "assistant", "isSidechain": True, "message": {"id": "side", "content": [{"type": "text", "text": PROMPT}]}},
    ]  # fmt: skip


def codex(number: int, said: str) -> list[Row]:
    at = f"2026-11-30T03:14:4{number}.000Z"
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    prompt = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}
    call = {"type": "function_call", "name": "shell", "call_id": f"call_{number}", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": f"call_{number}", "output": PROMPT}
    head = [{"type": "session_meta", "payload": {"id": SESSION, "cwd": CWD}}] if number == 0 else []
    rows = [prompt, message, call, answer]
    event = {"type": "event_msg", "payload": {"type": "agent_message", "message": said}}
    return [*head, *({"timestamp": at, "type": "response_item", "payload": row} for row in rows), event]


def gemini(number: int, said: str) -> list[Row]:
    message = {"id": f"m{number}", "type": "gemini", "content": said}
    call = {"id": f"call_{number}", "name": "run_shell_command", "args": {"command": "ls"}, "result": [PROMPT]}
    head = (
        [{"sessionId": SESSION, "kind": "main"}, {"id": "u", "type": "user", "content": PROMPT}] if number == 0 else []
    )
    return [*head, message, {"$set": {"lastUpdated": "now"}}, message | {"toolCalls": [call]}]


def qwen(number: int, said: str) -> list[Row]:
    base = {"sessionId": SESSION, "cwd": CWD, "uuid": f"u{number}", "model": "m"}
    call = {"functionCall": {"id": f"call_{number}", "name": "run_shell_command", "args": {"command": "ls"}}}
    parts = [{"text": PROMPT, "thought": True}, {"text": said}, call]
    return [
        base | {"type": "user", "message": {"role": "user", "parts": [{"text": PROMPT}]}},
        base | {"type": "assistant", "message": {"role": "model", "parts": parts}},
        base | {"type": "tool_result", "message": {"role": "user", "parts": [{"text": PROMPT}]}},
    ]


def copilot(number: int, said: str) -> list[Row]:
    head = [{"type": "session.start", "data": {"sessionId": SESSION, "context": {"cwd": CWD}}}] if number == 0 else []
    return [
        *head,
        {"type": "user.message", "data": {"content": PROMPT}},
        {"type": "assistant.message", "data": {"messageId": f"m{number}", "content": said}},
        {"type": "tool.execution_start", "data": {"toolCallId": f"call_{number}", "toolName": "bash", "arguments": {}}},
        {"type": "tool.execution_complete", "data": {"toolCallId": f"call_{number}", "result": {"content": PROMPT}}},
    ]


def pi(number: int, said: str) -> list[Row]:
    head = [{"type": "session", "version": 3, "id": SESSION, "cwd": CWD}] if number == 0 else []
    call = {"type": "toolCall", "id": f"call_{number}", "name": "bash", "arguments": {}}
    message = {
        "role": "assistant",
        "timestamp": 1796007390578 + number,
        "content": [{"type": "text", "text": said}, call],
    }
    result = {"role": "toolResult", "content": [{"type": "text", "text": PROMPT}]}
    return [*head, {"type": "message", "id": f"e{number}", "message": message}, {"type": "message", "message": result}]


LINES: dict[str, Callable[[int, str], list[Row]]] = {
    "claude-code": claude, "codex": codex, "gemini": gemini, "qwen": qwen, "copilot": copilot, "pi": pi,
}  # fmt: skip


def messages(count: int) -> Row:
    rows: list[Row] = [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
    for number, said in enumerate(TEXTS[:count]):
        call = {"type": "tool_use", "id": f"call_{number}", "name": "run_commands", "input": {}}
        rows.append({"role": "assistant", "content": [{"type": "text", "text": said}, call]})
        rows.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"call_{number}", "content": PROMPT}]}
        )
    return {"version": 1, "messages": rows}
