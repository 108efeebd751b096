"""Helpers that an agent leaves behind: they live, are named, and keep nobody waiting."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from workshop import SOON, Workshop, number_in, state


@pytest.mark.parametrize(("mode", "away"), [("pipe", ""), ("pipe", "setsid "), ("pty", ""), ("pty", "nohup ")])
def test_helper_that_keeps_our_pipe(workshop: Workshop, mode: str, away: str) -> None:
    began = time.monotonic()
    result = workshop.run("sh", "-c", f"{away}sleep 100 & echo $! > helper; head -c 50000 /dev/zero; exit 5", mode=mode)
    assert time.monotonic() - began < SOON / 2
    assert (result.returncode, result.stdout.count(b"\0")) == (5, 50000)
    ((helper, command),) = workshop.event("exit")["leftover"]
    assert (helper, command) == (number_in(workshop.directory / "helper"), "sleep 100")
    assert state(helper) == "S"


def test_daemon_that_has_left_everything_is_named(workshop: Workshop) -> None:
    workshop.run(
        "sh", "-c", "(setsid sh -c 'echo $$ > helper; exec sleep 101' >/dev/null 2>&1 </dev/null &) ; sleep 0.2"
    )
    helper = number_in(workshop.directory / "helper")
    assert workshop.event("exit")["leftover"] == [[helper, "sleep 101"]]
    assert state(helper) == "S"


def test_last_words_of_a_child_that_outlives_the_agent(workshop: Workshop) -> None:
    assert workshop.run("sh", "-c", "(sleep 0.15; echo late) & echo early").stdout == b"early\nlate\n"


def test_helper_that_never_stops_writing_does_not_keep_us(workshop: Workshop) -> None:
    result = workshop.run("sh", "-c", "while :; do echo y; done & exit 4", quiet=True)
    assert result.returncode == 4
    assert set(result.stdout) <= set(b"y\n")


def test_no_end_of_output_is_no_end_of_the_agent(workshop: Workshop, tmp_path: Path) -> None:
    result = workshop.run("sh", "-c", "exec >&- 2>&-; sleep 0.3; echo done > done; exit 6")
    assert (result.returncode, (tmp_path / "done").read_text()) == (6, "done\n")


def test_terminal_that_is_closed_and_opened_again(workshop: Workshop) -> None:
    result = workshop.run("sh", "-c", "exec >&- 2>&-; sleep 0.1; echo again > /dev/tty", mode="pty")
    assert result.stdout == b"again\r\n"
