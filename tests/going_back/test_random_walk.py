"""Short random walks for every run, and a longer one from anywhere. `python tests/random_walk.py` walks as far as one likes."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from random_walk import LENGTH, walk


@pytest.mark.parametrize("seed", [1, 2])
def test_every_law_holds_after_each_step(template: Path, home: Path, seed: int) -> None:
    walk(template, seed, 12)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(25))
def test_every_law_holds_wherever_one_starts(template: Path, home: Path, number: int) -> None:
    walk(template, secrets.randbits(32), LENGTH)
