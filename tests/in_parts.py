"""Run a long seeded test as a command, in parts that each begin in a fresh repository."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from project import create_template


def run_in_parts(act: Callable[[Path, int, int], None], *, document: str, steps: int, length: int, said: str) -> None:
    """Read `--steps` and `--seed`, call `act` with a template, the seed of the part and its number of steps, and print
    `said` at the end. Each part has at most `length` steps."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        os.environ["HOME"] = directory
        template = create_template(Path(directory) / "template")
        for number in range(0, options.steps, length):
            act(template, options.seed + number // length, min(length, options.steps - number))
            if number % 1000 == 0:
                print(f"{number} steps", flush=True)
    print(f"{options.steps} steps, seed {options.seed}: {said}")
