"""Which agent clients call gitckpt, and which of them do not run the hooks that they were given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitckpt.agents.homes import placed
from gitckpt.agents.named import hooked_agent
from gitckpt.doctor.patient import Patient, Remark

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Maximum bytes of a configuration file that are read.
LARGEST = 4 * 1024 * 1024


def codex_trust(patient: Patient) -> Iterator[Remark]:
    """Whether Codex has been told to trust our hooks; otherwise it silently runs none of them."""
    home, moved = os.environ.get("HOME", ""), hooked_agent("codex").moved
    hooks, config = (placed(f".codex/{name}", home, moved, os.environ) for name in ("hooks.json", "config.toml"))
    if b"gitckpt" in _content(hooks) and os.fsencode(f'[hooks.state."{hooks}:') not in _content(config):
        yield Remark(
            "note", "Codex runs new hooks only when they have been trusted once, on its screen: ours are not yet",
            "codex",
        )  # fmt: skip


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST)
    except OSError:
        return b""
