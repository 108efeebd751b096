"""Choose which of many similar cases belong to every run, and which only to the slow one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def others_slow(values: Iterable[Any], fast: Callable[[Any], bool]) -> list[Any]:
    """Return the values as test parameters; all except the `fast` ones are marked slow."""
    return [value if fast(value) else _slow(value) for value in values]


def _slow(value: Any) -> Any:
    arguments = value if isinstance(value, tuple) else (value,)
    return pytest.param(*arguments, marks=pytest.mark.slow)
