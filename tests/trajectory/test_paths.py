"""Paths as data, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.trajectory.paths import at_or_above, data_path, is_at_or_below, path_data


@given(st.binary(max_size=20))
def test_every_path_reads_back(path: bytes) -> None:
    assert data_path(path_data(path)) == path
    assert data_path(json.loads(json.dumps(path_data(path)))) == path


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (b"src/app.py", "src/app.py"),
        ("名\n".encode(), "名\n"),
        (b"", ""),
        (b"\xff", {"b64": "/w=="}),
        (b"\xed\xa0\x80", {"b64": "7aCA"}),
    ],
)
def test_text_where_it_is_text(path: bytes, data: object) -> None:
    assert path_data(path) == data


@pytest.mark.parametrize(
    ("path", "tops", "below"),
    [
        (b"src/a", [b"src"], True),
        (b"src", [b"src"], True),
        (b"src2/a", [b"src"], False),
        (b"src", [b"src/a"], False),
        (b"a", [b"b", b""], True),
        (b"", [b"a"], False),
        (b"a", [], False),
    ],
)
def test_what_is_below_which(path: bytes, tops: list[bytes], below: bool) -> None:
    assert is_at_or_below(path, tops) is below


def test_the_nearest_directory_above_is_found() -> None:
    assert at_or_above(b"a/b/c", {b"a", b"a/b"}) == b"a/b"
    assert at_or_above(b"a", {b"a"}) == b"a"
    assert at_or_above(b"ab/c", {b"a", b""}) is None
