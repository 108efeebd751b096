"""Junk in our private directory, seen by somebody whom permission bits bind: it is mended, and nothing is followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Place


def directory(path: Path) -> None:
    path.mkdir()
    (path / "junk").write_text("junk\n")


def locked(path: Path) -> None:
    path.write_text("junk\n")
    path.chmod(0)


def closed(path: Path) -> None:
    path.mkdir()
    path.chmod(0)


def link(path: Path) -> None:
    path.symlink_to(path.parents[3] / "precious")


JUNK: list[tuple[str, Callable[[Path], None]]] = [
    ("sharedindex.*", os.mkfifo), ("sharedindex.*", directory), ("sharedindex.*", locked), ("HEAD", link),
    ("lock", locked), ("lock", link), ("refs", closed), ("info", closed), ("info/attributes", locked),
    ("scan.json", link), ("index", os.mkfifo), ("scratch", directory), ("staging", link), (".", closed),
]  # fmt: skip


@pytest.mark.parametrize(("name", "make"), JUNK, ids=[f"{name} {make.__name__}" for name, make in JUNK])
def test_junk_in_the_private_directory_is_mended(recorded: Place, name: str, make: Callable[[Path], None]) -> None:
    private = recorded.path / ".git" / "gitckpt"
    precious = recorded.path.parent / "precious"
    precious.write_text("precious\n")
    for path in [private] if name == "." else list(private.glob(name)) or [private / name]:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        make(path)
    recorded.write("a.txt", "new\n")
    assert recorded.bound("save") == (0, b"C4 saved (run/C4)\n", "")
    assert recorded.ok("show", "C4", "--path", "a.txt").out == "new\n"
    assert recorded.bound("rollback", "C1").status == 0
    assert (recorded.read("a.txt"), precious.read_text()) == ("a at C1\n", "precious\n")
