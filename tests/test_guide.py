"""The guide is true: what it says to type is typed in that order, in one shell, and shows what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from commandline import HANG
from guides import GUIDE, installs, is_shown, typed
from places import environment

from gitckpt import errors

__all__ = ["environment"]

PAGE = GUIDE.read_text(encoding="utf-8")
STEPS = [step for step in typed(PAGE) if not installs(step)]

#: In place of the second that the agent of the guide waits: until as many of its blocks are on record as it has printed.
SLEEP = """#!/bin/sh
echo block >> "$0.blocks"
for attempt in $(seq 100); do
    recorded=$(git log --glob='refs/gitckpt/*' --format=%s | grep -cE '^([CRS][0-9]|final:)')
    test "$recorded" -lt "$(wc -l < "$0.blocks")" || exit 0
    {sleep} 0.1
done
"""


@pytest.fixture
def reader(environment: dict[str, str], tmp_path: Path) -> Mapping[str, str]:
    """The environment of somebody who reads the guide."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "sleep").write_text(SLEEP.format(sleep=shutil.which("sleep")))
    (programs / "sleep").chmod(0o755)
    return environment | {"PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_what_the_guide_says_to_type_shows_what_it_shows(reader: Mapping[str, str], tmp_path: Path) -> None:
    script = "".join(f"{step.text}\nprintf '<%s>\\n' {step.line}\n" for step in STEPS)
    command = ["sh", "-e", "-c", f"exec 2>&1\n{script}"]
    done = subprocess.run(
        command, cwd=tmp_path, env=reader, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=HANG * 5
    )
    outputs = re.split(r"^<\d+>\n", done.stdout.decode(), flags=re.MULTILINE)
    assert len(outputs) == len(STEPS) + 1, f"{GUIDE}:{STEPS[len(outputs) - 1].line}: {outputs[-1]}"
    for step, output in zip(STEPS, outputs, strict=False):
        assert step.shown is None or is_shown(output, step.shown), f"{GUIDE}:{step.line}: {step.text}{output}"
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("output", "shown", "expected"),
    [
        ("a 1 b\n", "a … b\n", True),
        ("a 1 b\n", "a … c\n", False),
        ("a\nx\ny\nb\n", "a\n…\nb\n", True),
        ("a\nb\n", "a\n…\nb\n", True),
        ("a\nx\n", "a\n", False),
        ("a\nb x\n", "a …\n", False),
    ],
)
def test_an_output_that_is_not_shown_is_told_from_one_that_is(output: str, shown: str, expected: bool) -> None:
    assert is_shown(output, shown) == expected


def test_every_kind_of_error_is_in_the_guide() -> None:
    kinds = {kind.exit_status for kind in vars(errors).values() if isinstance(kind, type)}
    assert kinds <= {int(status) for status in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
