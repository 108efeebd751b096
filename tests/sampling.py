"""Which of many like cases belong to every run, and which to the slow one alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def others_slow(values: Iterable[Any], fast: Callable[[Any], bool]) -> list[Any]:
    """The values as parameters of a test; all but the `fast` ones are for the slow run."""
    return [value if fast(value) else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    arguments = value if isinstance(value, tuple) else (value,)
    return pytest.param(*arguments, marks=pytest.mark.slow)
