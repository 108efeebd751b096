"""Word of what takes long: on a terminal, and nowhere else."""

from __future__ import annotations

import pytest
from commandline import Place

#: A git that takes its time over a tree.
SLOW = 'case " $* " in *" diff-files "*) sleep 1.5;; esac'


@pytest.mark.parametrize("command", [["save"], ["rollback", "C1", "--yes"], ["wrap", "--", "true"]])
def test_a_snapshot_that_takes_long_says_so_and_takes_its_words_back(recorded: Place, command: list[str]) -> None:
    slow = Place(recorded.path, recorded.env | recorded.before_git(SLOW), recorded.zygote)
    told = slow.typed(*command)
    assert told.status == 0
    assert "\rgitckpt: reading the work tree, " in told.out
    assert "\rgitckpt" not in told.out.rpartition("\r\x1b[K")[2]


def test_elsewhere_and_where_nothing_takes_long_nothing_is_said(recorded: Place) -> None:
    slow = Place(recorded.path, recorded.env | recorded.before_git(SLOW), recorded.zygote)
    assert slow.run("save") == (0, b"C4 saved (run/C4)\n", "")
    assert "reading" not in recorded.typed("status").out
