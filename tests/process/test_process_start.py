"""What an agent is started with, and the commands that cannot be started."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from workshop import Workshop

from gitckpt.errors import UsageError
from gitckpt.process import AgentExit, AgentNotStarted, run_agent
from gitckpt.process.command import find_program
from gitckpt.process.tree import process_table


def ignoring(*numbers: int) -> object:
    def ignore() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    return ignore


@pytest.mark.parametrize("code", [0, 7, 255])
def test_exit_status_is_the_agents(workshop: Workshop, code: int) -> None:
    assert workshop.run("sh", "-c", f"exit {code}").returncode == code
    assert workshop.event("exit") == {"event": "exit", "status": code, "signal": None, "leftover": []}


def test_death_by_a_signal(workshop: Workshop) -> None:
    assert workshop.run("sh", "-c", "kill -9 $$").returncode == 137
    assert workshop.event("exit") == {"event": "exit", "status": 137, "signal": 9, "leftover": []}


def test_commands_that_cannot_run(workshop: Workshop) -> None:
    directory = workshop.directory
    (directory / "plain").write_text("echo hi\n")
    (directory / "broken").write_bytes(b"#!/no/such/interpreter\n")
    (directory / "broken").chmod(0o755)
    expected = {
        "no-such-program": (
            127,
            "no-such-program: command not found\nis it installed, and is its directory in PATH?\n",
        ),
        "/no/such/program": (
            127,
            "/no/such/program: command not found\nis it installed, and is its directory in PATH?\n",
        ),
        "./plain": (126, "./plain: permission denied\nis it a program? `chmod +x` makes a script one: ./plain\n"),
        "/": (126, "/: permission denied\nis it a program? `chmod +x` makes a script one: /\n"),
        "./broken": (127, "./broken: command not found\nis it installed, and is its directory in PATH?\n"),
    }
    for command, (status, message) in expected.items():
        result = workshop.run(command)
        assert (result.returncode, result.stdout, result.stderr.decode()) == (status, b"", message)
    assert [event["event"] for event in workshop.events] == [
        "before_start"
    ]  # ./broken was found, but its interpreter not


def never(*_arguments: object) -> None:
    raise AssertionError


def test_no_command_and_no_directory() -> None:
    for argv in ([], [""]):
        with pytest.raises(UsageError, match="no command was given"):
            run_agent(argv, on_output=never, before_start=never)
    with pytest.raises(UsageError, match="/no/such/place: there is no such directory"):
        run_agent(["true"], on_output=never, before_start=never, cwd="/no/such/place")


def test_a_nul_in_an_argument_is_an_error_of_ours() -> None:
    with pytest.raises(AgentNotStarted, match="echo: cannot be run: Invalid argument") as caught:
        run_agent(["echo", "a\0b"], on_output=never)
    assert caught.value.exit_status == 126


def test_search_skips_what_cannot_run(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text("#!/bin/sh\n")
    (tmp_path / "two" / "tool").chmod(0o755)
    path = f"{tmp_path}/none:{tmp_path}/one:{tmp_path}/two"
    assert find_program(["tool"], {"PATH": path}, ".") == f"{tmp_path}/two/tool"
    assert find_program(["./two/tool"], {"PATH": path}, str(tmp_path)) == "./two/tool"
    with pytest.raises(AgentNotStarted) as caught:
        find_program(["tool"], {"PATH": f"{tmp_path}/one"}, ".")
    assert caught.value.exit_status == 126


def test_a_script_without_a_first_line_for_its_interpreter(workshop: Workshop) -> None:
    script = workshop.directory / "script"
    script.write_text("echo $0 $1\n")
    script.chmod(0o755)
    assert workshop.run("./script", "argument").stdout == b"./script argument\n"


def test_before_start_comes_first_and_cwd_is_the_agents(workshop: Workshop) -> None:
    place = workshop.directory / "place"
    place.mkdir()
    result = workshop.run("sh", "-c", f"cp {workshop.log} then; pwd -P", cwd=place)
    assert result.stdout.decode() == f"{place}\n"
    assert (place / "then").read_text() == '{"event": "before_start"}\n'


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_CTYPE": "C.UTF-8"}])
def test_nothing_of_ours_is_in_the_environment(workshop: Workshop, locale: dict[str, str]) -> None:
    kept = {name: value for name, value in workshop.env.items() if not name.startswith(("LC_", "LANG"))}
    workshop.env = kept | locale
    plain = subprocess.run(["env", "-0"], env=workshop.env, capture_output=True).stdout
    assert workshop.run("env", "-0").stdout == plain


@pytest.mark.parametrize("mode", ["pipe", "pty"])
def test_descriptors_are_those_we_were_given(workshop: Workshop, mode: str) -> None:
    given = os.open("/dev/null", os.O_RDONLY)
    plain = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, pass_fds=[given]).stdout
    process = workshop.start("ls", "/proc/self/fd", mode=mode, popen={"pass_fds": [given]})
    os.close(given)
    assert process.stdout is not None
    assert process.stdout.read().split() == plain.split()


@pytest.mark.parametrize(
    ("mode", "ignored"),
    [("pty", ()), ("pipe", (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU)), ("pipe", (signal.SIGHUP,))],
)
def test_signals_are_as_at_a_login_but_nohup_stays(workshop: Workshop, mode: str, ignored: tuple[int, ...]) -> None:
    popen = {"preexec_fn": ignoring(*ignored), "restore_signals": False}
    process = workshop.start("cat", "/proc/self/status", mode=mode, popen=popen)
    assert process.stdout is not None
    fields = dict(line.split(b":\t", 1) for line in process.stdout.read().splitlines())
    kept = 1 if signal.SIGHUP in ignored else 0
    masks = {name: int(fields[name], 16) for name in (b"SigBlk", b"SigIgn", b"SigCgt")}
    assert masks == {b"SigBlk": 0, b"SigIgn": kept, b"SigCgt": 0}


def test_an_error_of_the_callback_hangs_up_the_agent_and_is_raised(workshop: Workshop) -> None:
    result = workshop.run("sh", "-c", "echo $$; exec sleep 333", fail=True)
    assert b"RuntimeError: the recorder failed" in result.stderr
    assert result.returncode == 1
    assert workshop.processes() == []


def test_all_is_as_before_when_it_is_over() -> None:
    """Descriptors, handlers, blocked signals and children of the calling process."""

    def surroundings() -> list[object]:
        handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
        children = [row.pid for row in process_table().values() if row.parent == os.getpid()]
        return [sorted(os.listdir("/proc/self/fd")), handlers, signal.pthread_sigmask(signal.SIG_BLOCK, ()), children]

    before = surroundings()
    for mode in ("pipe", "pty"):
        assert run_agent(["sh", "-c", "exit 3"], on_output=never, mode=mode) == AgentExit(3, None, ())
        assert surroundings() == before
    with pytest.raises(AgentNotStarted):
        run_agent(["echo", "a\0b"], on_output=never)
    assert surroundings() == before
