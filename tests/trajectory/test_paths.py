"""Paths as data, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.trajectory.paths import data_path, path_data


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
