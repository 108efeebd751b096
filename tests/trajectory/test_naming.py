"""Names of sessions: told without an expression to compile, and by the same rule as ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.errors import UsageError
from gitckpt.protocol.ids import is_legal
from gitckpt.trajectory.naming import check_name, is_plain


@given(st.one_of(st.text(max_size=6), st.text("aZ0._-lock/ é٣\n", max_size=70)))
def test_a_session_may_have_any_name_that_an_id_may_have_and_no_other(name: str) -> None:
    assert is_plain(name) == is_legal(name)


def test_what_is_no_name_is_a_usage_error() -> None:
    check_name("run-1")
    with pytest.raises(UsageError, match=r"'a/b' is no name for a session"):
        check_name("a/b")
