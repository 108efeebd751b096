"""JSON of any shape, and events with parts replaced by it."""

from __future__ import annotations

from hypothesis import strategies as st

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just("\ud83d")
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3))  # fmt: skip


def mutated(value: object, draw: st.DrawFn, odds: int) -> object:
    """Return the event with some of its parts replaced by anything."""
    if draw(st.integers(0, odds)) == 0:
        return draw(anything)
    if isinstance(value, dict):
        return {key: mutated(item, draw, odds) for key, item in value.items()}
    return [mutated(item, draw, odds) for item in value] if isinstance(value, list) else value


@st.composite
def bent(draw: st.DrawFn, event: object) -> object:
    """An event with some of its parts replaced by anything."""
    return mutated(event, draw, 6)
