"""Run something between two git calls: a script in front of the real git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


def install(directory: Path, patch: pytest.MonkeyPatch, script: str) -> None:
    """Put a shell script before git in PATH. In it, `$GIT` is the real git, and `$*` its arguments."""
    real = shutil.which("git")
    directory.mkdir()
    (directory / "git").write_text(f"#!/bin/sh\nGIT={real}\n{script}\n")
    (directory / "git").chmod(0o755)
    patch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
