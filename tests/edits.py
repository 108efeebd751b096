"""Random edits of a small work tree, as data: what a user or an agent may do between two checkpoints."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

Edit = tuple[Any, ...]

#: Names that collide: files and directories of the same name, ignored ones, tracked ones, one that is not ASCII.
PATHS = (
    "a",
    "a/x",
    "a/x/y",
    "d/e/f",
    "d/e/名",
    "d/k.log",
    "build/o",
    "src/app.py",
    "src/lib",
    "src/lib/core.py",
    "tests",
)

CONTENTS = (b"", b"one\n", b"two\n", b"longer text\r\nwithout end", b"\0\xff")
MODES = (0o644, 0o755, 0o600, 0o444)
RULES = (b"", b"*.log\nbuild/\n", b"a\n", b"d/\n!d/e\n", b"*\n!.gitignore\n")
LINKS = ("nowhere", "../outside", "src", ".")

paths = st.sampled_from(PATHS)
edit: st.SearchStrategy[Edit] = st.one_of(
    st.tuples(st.just("write"), paths, st.sampled_from(CONTENTS), st.sampled_from(MODES)),
    st.tuples(st.just("remove"), paths),
    st.tuples(st.just("link"), paths, st.sampled_from(LINKS)),
    st.tuples(st.just("mkdir"), paths),
    st.tuples(st.just("chmod"), paths, st.sampled_from((0o755, 0o700, 0o644, 0o600))),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("rules"), st.sampled_from(RULES)),
)
scripts = st.lists(edit, min_size=1, max_size=8)


def apply(root: Path, script: Iterable[Edit]) -> None:
    """Apply the edits; skip those that cannot be applied."""
    carry_out: dict[str, Callable[..., None]] = {
        "write": _write, "remove": _remove, "link": _link, "mkdir": _mkdir, "chmod": _chmod, "rename": _rename, "rules": _rules,
    }  # fmt: skip
    for verb, *details in script:
        carry_out[verb](root, *details)


def _make_way(root: Path, path: str) -> Path:
    """Remove what is at a path, and files in place of its parent directories; create those directories."""
    _remove(root, path)
    full = root / path
    for parent in list(full.relative_to(root).parents)[-2::-1]:
        if (root / parent).is_symlink() or (root / parent).is_file():
            (root / parent).unlink()
    full.parent.mkdir(parents=True, exist_ok=True)
    return full


def _write(root: Path, path: str, content: bytes, mode: int) -> None:
    full = _make_way(root, path)
    full.write_bytes(content)
    full.chmod(mode)


def _remove(root: Path, path: str) -> None:
    full = root / path
    if _is_behind_a_link(root, path):
        return
    if full.is_dir() and not full.is_symlink():
        shutil.rmtree(full)
    elif os.path.lexists(full):
        full.unlink()


def _link(root: Path, path: str, target: str) -> None:
    _make_way(root, path).symlink_to(target)


def _mkdir(root: Path, path: str) -> None:
    _make_way(root, path).mkdir()


def _chmod(root: Path, path: str, mode: int) -> None:
    full = root / path
    if full.exists() and not full.is_symlink() and not _is_behind_a_link(root, path):
        full.chmod(mode | 0o700 if full.is_dir() else mode)


def _is_behind_a_link(root: Path, path: str) -> bool:
    return any((root / parent).is_symlink() for parent in Path(path).parents)


def _rename(root: Path, source: str, target: str) -> None:
    if os.path.lexists(root / source) and not target.startswith(source) and not source.startswith(target):
        if _is_behind_a_link(root, source):
            return
        aside = root / ".aside"
        (root / source).rename(aside)
        aside.rename(_make_way(root, target))


def _rules(root: Path, rules: bytes) -> None:
    (root / ".gitignore").write_bytes(rules)
