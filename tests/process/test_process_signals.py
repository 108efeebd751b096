"""Signals to us reach the agent, once, after the checkpoint in progress; nothing that they were meant for lives on."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from workshop import SOON, Workshop, eventually, number_in, state

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]

#: Counts in `hits` how often it gets an INT.
COUNTER = "trap 'echo hit >> hits' INT; echo ready; i=0; while [ $i -lt 5 ]; do sleep 0.05; i=$((i+1)); done; exit 42"


@pytest.mark.parametrize("mode", ["pipe", "pty"])
@pytest.mark.parametrize("number", SIGNALS)
def test_signal_ends_agent_and_its_tree(workshop: Workshop, number: int, mode: str) -> None:
    process = workshop.start("sh", "-c", "sh -c 'echo $$ > pid; exec sleep 333'; :", mode=mode)
    number_in(workshop.directory / "pid")
    process.send_signal(number)
    assert process.wait(SOON) == 128 + number
    assert workshop.processes() == []
    assert workshop.event("exit") == {"event": "exit", "status": 128 + number, "signal": number, "leftover": []}


def test_background_child_that_a_shell_has_made_deaf_to_int_is_no_orphan(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "sh -c 'sleep 333 & echo $! > pid; wait'; :")
    number_in(workshop.directory / "pid")
    process.send_signal(signal.SIGINT)
    assert process.wait(SOON) == 130
    assert workshop.processes() == []
    assert workshop.event("exit")["leftover"] == []


def test_tool_in_a_session_of_its_own_is_reached(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "setsid -w sh -c 'echo $$ > pid; exec sleep 333'; :")
    tool = number_in(workshop.directory / "pid")
    process.terminate()
    assert process.wait(SOON) == 143
    assert state(tool) == ""


def test_helper_that_the_agent_has_let_go_is_spared(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "(setsid sh -c 'echo $$ > pid; exec sleep 100' &); sleep 333; :")
    helper = number_in(workshop.directory / "pid")
    process.terminate()
    assert process.wait(SOON) == 143
    assert workshop.event("exit")["leftover"] == [[helper, "sleep 100"]]
    assert state(helper) == "S"


def test_status_of_an_agent_that_answers_a_signal_is_its_own(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "trap 'exit 3' TERM; echo $$ > pid; sleep 333 & wait")
    number_in(workshop.directory / "pid")
    process.terminate()
    assert process.wait(SOON) == 3
    assert workshop.processes() == []


def test_agent_that_heeds_no_term_is_killed_in_the_end(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "trap '' TERM; echo $$ > pid; while :; do sleep 333; done", patience=0.3)
    number_in(workshop.directory / "pid")
    process.terminate()
    assert process.wait(SOON) == 137
    assert workshop.processes() == []


def test_int_is_passed_on_where_a_shell_has_switched_it_off(workshop: Workshop) -> None:
    argv = workshop.argv("sh", "-c", "echo $$ > pid; exec sleep 333")
    shell = workshop.popen(["sh", "-c", '"$@" & echo $! > ours; wait $!', "sh", *argv])
    number_in(workshop.directory / "pid")
    os.kill(number_in(workshop.directory / "ours"), signal.SIGINT)
    assert shell.wait(SOON) == 130


def test_nohup_is_kept(workshop: Workshop) -> None:
    nohup = ["nohup", *workshop.argv("sh", "-c", "echo $$ > pid; sleep 0.3; exit 6")]
    process = workshop.popen(nohup, stdout=subprocess.DEVNULL)
    number_in(workshop.directory / "pid")
    process.send_signal(signal.SIGHUP)
    assert process.wait(SOON) == 6


def test_checkpoint_in_progress_is_finished_first(workshop: Workshop) -> None:
    gone, gate = workshop.directory / "gone", workshop.directory / "gate"
    script = f"trap 'touch {gone}; exit 9' TERM; echo block; while :; do sleep 0.02; done"
    process = workshop.start("sh", "-c", script, wait=gate, gone=gone)
    assert eventually(lambda: len(workshop.events) == 2)
    process.terminate()
    assert not eventually(gone.exists, 0.2)
    gate.touch()
    assert process.wait(SOON) == 9
    assert workshop.events[2] == {"event": "returned", "gone": False}


def test_signal_while_the_reader_takes_nothing(workshop: Workshop) -> None:
    process = workshop.start("yes", quiet=True)
    assert eventually(lambda: len(workshop.processes()) == 3)
    assert not eventually(lambda: process.poll() is not None, 0.3)
    process.terminate()
    assert process.wait(SOON) == 143
    assert workshop.processes() == []


@pytest.mark.parametrize("mode", ["pipe", "pty"])
def test_a_wrap_within_a_wrap_passes_output_and_status_on(workshop: Workshop, mode: str) -> None:
    inner = workshop.argv("sh", "-c", "echo deep; echo $$ > pid; read line; exit 9", mode=mode)
    assert (result := workshop.run(*inner, mode=mode)).returncode == 9
    assert result.stdout.split() == [b"deep"]


def test_nested_signal_is_passed_all_the_way(workshop: Workshop) -> None:
    process = workshop.start(*workshop.argv("sh", "-c", "echo $$ > pid; exec sleep 333"))
    agent = number_in(workshop.directory / "pid")
    process.terminate()
    assert process.wait(SOON) == 143
    assert state(agent) == ""


@pytest.mark.parametrize("mode", ["pipe", "pty"])
def test_when_we_are_killed_the_agent_is_hung_up(workshop: Workshop, mode: str) -> None:
    process = workshop.start("sh", "-c", "setsid -w sleep 333 & echo $$ > pid; wait", mode=mode)
    number_in(workshop.directory / "pid")
    process.kill()
    process.wait()
    assert eventually(lambda: workshop.processes() == []), "something lives on"


def test_when_the_monitor_is_killed_we_end(workshop: Workshop) -> None:
    process = workshop.start("sh", "-c", "echo $PPID; exec sleep 333")
    assert eventually(lambda: workshop.output().endswith(b"\n"))
    os.kill(int(workshop.output()), signal.SIGKILL)
    assert process.wait(SOON) == 137
    assert eventually(lambda: workshop.processes() == [])


def hits(directory: Path) -> str:
    return (directory / "hits").read_text()


def test_ctrl_c_on_the_agents_own_terminal_is_one_interrupt(workshop: Workshop) -> None:
    screen = workshop.screen("bash", "-c", COUNTER)
    screen.see(b"ready")
    screen.type(b"\x03")
    assert screen.wait() == 42
    assert hits(workshop.directory) == "hit\n"


def test_ctrl_c_on_a_terminal_that_we_share_is_one_interrupt(workshop: Workshop) -> None:
    argv = workshop.argv("bash", "-c", COUNTER)
    screen = workshop.screen_of(["sh", "-c", 'trap : INT; "$@" | cat; exit 0', "sh", *argv])
    assert eventually(lambda: workshop.output() == b"ready\n")
    screen.type(b"\x03")
    screen.wait()
    assert workshop.event("exit")["status"] == 42
    assert hits(workshop.directory) == "hit\n"


def test_signal_to_us_alone_or_to_our_group_is_one_interrupt(workshop: Workshop) -> None:
    argv = workshop.argv("bash", "-c", COUNTER)
    for to_group in (False, True):
        (workshop.directory / "hits").write_text("")
        workshop.log.write_text("")
        # The shell leads the session; a group that it starts with job control on has the same terminal.
        screen = workshop.screen_of(
            ["bash", "-mc", '"$@" </dev/null >/dev/null 2>&1 & echo $! > ours; wait', "bash", *argv]
        )
        assert eventually(lambda: workshop.output() == b"ready\n")
        ours = number_in(workshop.directory / "ours")
        os.killpg(ours, signal.SIGINT) if to_group else os.kill(ours, signal.SIGINT)
        assert workshop.event("exit")["status"] == 42
        screen.wait()
        assert hits(workshop.directory) == "hit\n"
