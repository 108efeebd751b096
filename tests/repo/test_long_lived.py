"""Who lives long records what is on disk, whatever others do meanwhile. `python tests/long_lived.py` goes on as far as one
likes."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from long_lived import live_long
from random_walk import LENGTH


@pytest.mark.parametrize("seed", [1, 106])
def test_every_checkpoint_is_what_was_on_disk(template: Path, home: Path, seed: int) -> None:
    live_long(template, seed, 15)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(25))
def test_every_checkpoint_is_what_was_on_disk_wherever_one_starts(template: Path, home: Path, number: int) -> None:
    live_long(template, secrets.randbits(32), LENGTH)
