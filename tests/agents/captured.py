"""The output of real clients for one task, reduced to the relevant events, and helpers that read it.

The task has nine blocks; its prompt contains an example, CHECKPOINT 99, which must never count as one of them."""

from __future__ import annotations

from pathlib import Path

from gitckpt.agents.signals import Boundary
from gitckpt.agents.spoken import Told
from gitckpt.agents.stream import Item, Stream
from gitckpt.agents.table import channel_named

FIXTURES = Path(__file__).parent / "fixtures"

#: The blocks of the task, by id or kind.
NINE = ["C1", "C2", "C3", "retry", "C4", "C5", "S1", "C6", "final"]

#: Every capture of JSON lines, by the channel that reads it.
STREAMS = {
    "claude-code": ["claude-code.stream.jsonl", "claude-code.partial.jsonl"],
    "codex": ["codex.stream.jsonl"],
    "gemini": ["gemini.stream.jsonl"],
    "qwen": ["qwen.stream.jsonl", "qwen.partial.jsonl", "qwen.json.jsonl"],
    "opencode": ["opencode.stream.jsonl"],
    "cline": ["cline.stream.jsonl"],
    "copilot": ["copilot.stream.jsonl"],
    "pi": ["pi.stream.jsonl"],
}
CAPTURES = [(channel, name) for channel, names in STREAMS.items() for name in names]


def captured(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def opened(channel: str) -> Stream:
    """Return a reader for a client's standard output."""
    stream = channel_named(channel).stream("stdout")
    assert stream is not None
    return stream


def read(channel: str, data: bytes, size: int = 1 << 16) -> list[Item]:
    """Return everything in a stream, read in chunks of `size` bytes."""
    stream = opened(channel)
    items = [item for start in range(0, len(data), size) for item in stream.feed(data[start : start + size])]
    return items + stream.close()


def told(items: list[Item]) -> list[Told]:
    return [item for item in items if isinstance(item, Told)]


def names(items: list[Item]) -> list[str]:
    """Return the blocks, each by its id or its kind."""
    return [told.block.id or told.block.kind for told in told(items)]


def boundaries(items: list[Item], kind: str) -> list[Boundary]:
    return [item for item in items if isinstance(item, Boundary) and item.kind == kind]
