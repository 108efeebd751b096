"""A scripted local model that speaks the clients' protocols: Anthropic's Messages, OpenAI's Chat Completions and
Responses, Gemini's generateContent. The request determines which turn is next."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]

#: The names under which clients offer a shell tool, and those of its command argument.
SHELLS = ("Bash", "bash", "exec_command", "shell", "shell_command", "run_shell_command", "run_commands")
COMMANDS = ("command", "cmd", "commands")

#: Text that an agent is given if it stops without the block it owes: it gets one more turn.
OWED = "no block tells of it"

#: An argument that the model takes from a tool's answer, and where it appears there.
PLAN = "{plan}"
PLANNED = re.compile(r"apply: ([0-9a-f]{8,64})")

#: Text of a prompt that teaches this edit format.
EDITS = "SEARCH/REPLACE"

USAGE = {"input_tokens": 9, "output_tokens": 9}


class Turn(NamedTuple):
    """What the model says, and the shell command it then calls, or the gitckpt tool with its arguments.

    PLAN among the arguments is the hash of the plan in the last tool result."""

    text: str
    command: str = ""
    tool: str = ""
    arguments: Json = {}  # noqa: RUF012


class Tool(NamedTuple):
    name: str
    schema: Json
    namespace: str = ""


class Call(NamedTuple):
    id: str
    name: str
    arguments: Json
    namespace: str


class Answer(NamedTuple):
    text: str
    call: Call | None


def _pieces(text: str) -> list[str]:
    return [text[at : at + 40] for at in range(0, len(text), 40)]


def _sample(schema: Json) -> Any:
    """Return a small value that matches the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if properties := schema.get("properties"):
        return {name: _sample(properties[name]) for name in schema.get("required") or properties}
    kind = str(schema.get("type")).lower()
    return {"string": "go", "boolean": False, "array": [], "object": {}}.get(kind, 1)


def _shell(tools: Sequence[Tool], command: str) -> tuple[Tool, Json]:
    tool = next(tool for name in SHELLS for tool in tools if tool.name == name)
    properties = tool.schema.get("properties") or {}
    key = next(name for name in COMMANDS if name in properties)
    given: Any = command
    if properties[key].get("type") == "array":
        given = [command] if key == "commands" else ["bash", "-c", command]
    required = {name: _sample(properties[name]) for name in tool.schema.get("required", ()) if name in properties}
    return tool, required | {key: given}


def _ours(tools: Sequence[Tool], name: str, arguments: Json) -> tuple[Tool, Json]:
    """Return our tool of this name, or the generic caller that some clients offer instead of MCP tools."""
    offered = [tool for tool in tools if "gitckpt" in tool.namespace + tool.name and tool.name.endswith(name)]
    if offered:
        return offered[0], arguments
    caller = next(tool for tool in tools if tool.name == "tool_call")
    return caller, {"name": f"mcp__gitckpt__{name}", "arguments": arguments}


def _called(turn: Turn, number: int, tools: Sequence[Tool], request: str) -> Call | None:
    if turn.command:
        tool, arguments = _shell(tools, turn.command)
    elif turn.tool:
        plans = PLANNED.findall(request)
        arguments = {key: plans[-1] if value == PLAN and plans else value for key, value in turn.arguments.items()}
        tool, arguments = _ours(tools, turn.tool, arguments)
    else:
        return None
    return Call(f"turn{number}", tool.name, arguments, tool.namespace)


# -- the four dialects: tools and results of a request, and the events of an answer


def _anthropic_request(body: Json) -> tuple[list[Tool], int]:
    tools = [Tool(row["name"], row["input_schema"]) for row in body.get("tools") or () if "input_schema" in row]
    return tools, json.dumps(body.get("messages")).count('"tool_result"')


def _anthropic_whole(answer: Answer) -> Json:
    call = answer.call
    used = [{"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.arguments}] if call else []
    about = {"id": f"msg_{hash(answer.text)}", "type": "message", "role": "assistant", "model": "scripted"}
    content = [*([{"type": "text", "text": answer.text}] if answer.text else []), *used]
    return about | {
        "content": content,
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": USAGE,
    }


def _anthropic(answer: Answer) -> Iterator[Json]:
    whole = _anthropic_whole(answer)
    yield {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        is_text = block["type"] == "text"
        empty = block | ({"text": ""} if is_text else {"input": {}})
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for piece in _pieces(block["text"] if is_text else json.dumps(block["input"])):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": USAGE}
    yield {"type": "message_stop"}


def _chat_request(body: Json) -> tuple[list[Tool], int]:
    functions = [row["function"] for row in body.get("tools") or () if "function" in row]
    tools = [Tool(row["name"], row.get("parameters") or {}) for row in functions]
    return tools, sum(row.get("role") == "tool" for row in body.get("messages") or ())


def _chat_call(call: Call) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    return {"index": 0, "id": f"call_{call.id}", "type": "function", "function": function}


def _chat_whole(answer: Answer) -> Json:
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.call:
        message["tool_calls"] = [_chat_call(answer.call)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.call else "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return {
        "id": "chat",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": usage,
    }


def _chat(answer: Answer) -> Iterator[Json]:
    head = {"id": "chat", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(answer.text):
        yield chunk({"content": piece})
    if answer.call:
        yield chunk({"tool_calls": [_chat_call(answer.call)]})
    yield chunk({}, "tool_calls" if answer.call else "stop")
    yield head | {"choices": [], "usage": _chat_whole(answer)["usage"]}


def _responses_request(body: Json) -> tuple[list[Tool], int]:
    tools: list[Tool] = []
    for row in body.get("tools") or ():
        for function in row.get("tools", ()) if row.get("type") == "namespace" else (row,):
            if function.get("type") == "function":
                namespace = row["name"] if row is not function else ""
                tools.append(Tool(function["name"], function.get("parameters") or {}, namespace))
    given = body.get("input")
    items = given if isinstance(given, list) else []
    return tools, sum(str(item.get("type")).endswith("_call_output") for item in items)


def _responses_whole(answer: Answer) -> Json:
    call, items = answer.call, list[Json]()
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        about = {"type": "message", "id": f"msg_{hash(answer.text)}", "role": "assistant", "status": "completed"}
        items.append(about | {"content": content})
    if call:
        about = {"type": "function_call", "id": f"fc_{call.id}", "call_id": f"call_{call.id}", "name": call.name}
        within = {"namespace": call.namespace} if call.namespace else {}
        items.append(about | within | {"arguments": json.dumps(call.arguments), "status": "completed"})
    return {"id": "resp", "object": "response", "status": "completed", "model": "scripted", "output": items,
            "usage": USAGE | {"total_tokens": 18}}  # fmt: skip


def _responses(answer: Answer) -> Iterator[Json]:
    whole = _responses_whole(answer)
    yield {"type": "response.created", "response": whole | {"status": "in_progress", "output": []}}
    for index, item in enumerate(whole["output"]):
        started = item | ({"content": []} if item["type"] == "message" else {"arguments": ""})
        yield {"type": "response.output_item.added", "output_index": index, "item": started | {"status": "in_progress"}}
        for piece in _pieces(answer.text) if item["type"] == "message" else ():
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield {"type": "response.output_text.delta", **place, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


def _gemini_request(body: Json) -> tuple[list[Tool], int]:
    rows = [row for group in body.get("tools") or () for row in group.get("functionDeclarations") or ()]
    tools = [Tool(row["name"], row.get("parametersJsonSchema") or row.get("parameters") or {}) for row in rows]
    return tools, json.dumps(body.get("contents")).count('"functionResponse"')


def _gemini_frame(parts: Sequence[Json], finish: str = "") -> Json:
    candidate: Json = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], "usageMetadata": usage}


def _gemini_call(call: Call) -> Json:
    return {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}, "thoughtSignature": "c2NyaXB0"}


def _gemini_whole(answer: Answer) -> Json:
    return _gemini_frame([{"text": answer.text}, *([_gemini_call(answer.call)] if answer.call else [])], "STOP")


def _gemini(answer: Answer) -> Iterator[Json]:
    for piece in _pieces(answer.text):
        yield _gemini_frame([{"text": piece}])
    if answer.call:
        yield _gemini_frame([_gemini_call(answer.call)])
    yield _gemini_frame([{"text": ""}], "STOP")


#: By the end of the path: the parser of a request, the whole answer, its events when streamed.
DIALECTS = {
    "/messages": (_anthropic_request, _anthropic_whole, _anthropic),
    "/chat/completions": (_chat_request, _chat_whole, _chat),
    "/responses": (_responses_request, _responses_whole, _responses),
    "enerateContent": (_gemini_request, _gemini_whole, _gemini),
}


class Model(BaseHTTPRequestHandler):
    """Answers requests that offer tools by the script, all others with a fixed word."""

    turns: Sequence[Turn] = ()
    #: Problems while answering requests; tests expect an empty list.
    faults: list[str]

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"data": [{"id": "scripted", "object": "model"}], "object": "list"}))

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        body = json.loads(text)
        path = self.path.partition("?")[0]
        dialect = next((found for end, found in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._send("application/json", json.dumps({"input_tokens": 9, "totalTokens": 9}))
            return
        read, whole, events = dialect
        wanted = body.get("generationConfig") or {}
        schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
        answer = Answer(json.dumps(_sample(schema)), None) if schema else self._answer(*read(body), text)
        if body.get("stream") or "streamGenerateContent" in path:
            lines = [
                f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" if "type" in e else f"data: {json.dumps(e)}\n\n"
                for e in events(answer)
            ]
            self._send("text/event-stream", "".join(lines) + ("data: [DONE]\n\n" if events is _chat else ""))
        else:
            self._send("application/json", json.dumps(whole(answer)))

    def _answer(self, tools: Sequence[Tool], results: int, request: str) -> Answer:
        if not tools:
            return Answer(self._edits(request) if EDITS in request else "ok", None)
        number = min(results + (OWED in request), len(self.turns) - 1)
        try:
            return Answer(self.turns[number].text, _called(self.turns[number], number, tools, request))
        except StopIteration:
            self.faults.append(f"no tool for {self.turns[number]} among {[tool.name for tool in tools]}")
            return Answer("that is all", None)

    def _edits(self, request: str) -> str:
        """Return the first turn not yet said, for a client whose model edits files through its text."""
        rows = json.loads(request)["messages"]
        said = [str(row.get("content")).strip() for row in rows if row.get("role") == "assistant"]
        return next((turn.text for turn in self.turns if turn.text.strip() not in said), self.turns[-1].text)

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Suppress messages on standard error."""


@contextmanager
def model_of(turns: Sequence[Turn], faults: list[str]) -> Iterator[str]:
    """Run a model with this script and yield its address; problems are added to `faults`."""
    handler = type("Scripted", (Model,), {"turns": turns, "faults": faults})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
