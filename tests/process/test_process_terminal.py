"""A terminal of the agent's own: like the user's, passed through, and the user's put back whatever happens."""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading

import pytest
from workshop import SOON, Screen, Workshop, eventually, number_in, state

LOCAL = 3  # place of the local flags in what tcgetattr gives


def is_raw(screen: Screen) -> bool:
    return not screen.settings[LOCAL] & (termios.ICANON | termios.ECHO | termios.ISIG)


def test_agent_has_a_terminal_of_its_own_of_the_same_size_and_settings(workshop: Workshop) -> None:
    argv = workshop.argv("sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty -a > settings; tty")
    screen = workshop.screen_of(["sh", "-c", 'stty -ixon intr ^G; stty -a > before; "$@"', "sh", *argv])
    assert screen.wait() == 0
    assert screen.output.startswith(b"/dev/pts/")
    assert screen.output.strip().decode() != os.ttyname(screen.tty)
    before = (workshop.directory / "before").read_text()
    assert "rows 50; columns 132;" in before
    assert (workshop.directory / "settings").read_text() == before


def test_resize_is_passed_on(workshop: Workshop) -> None:
    screen = workshop.screen("bash", "-c", "trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.02; done")
    screen.see(b"50 132\r\n")
    screen.resize(31, 77)
    assert screen.wait() == 0
    assert screen.output == b"50 132\r\n31 77\r\n"


@pytest.mark.parametrize("end", ["by itself", "killed", "failed", "TERM to us", "KILL to us"])
def test_terminal_is_put_back(workshop: Workshop, end: str) -> None:
    options = {"fail": True} if end == "failed" else {}
    script = "echo $$ > pid; read line" + ("; echo" if end == "failed" else "")
    screen = workshop.screen("sh", "-c", script, **options)
    agent = number_in(workshop.directory / "pid")
    assert eventually(lambda: is_raw(screen))
    if end in ("by itself", "failed"):
        screen.type(b"\n")
    elif end == "killed":
        os.kill(agent, signal.SIGKILL)
    else:
        screen.process.send_signal(signal.SIGTERM if end == "TERM to us" else signal.SIGKILL)
    screen.wait()
    assert eventually(lambda: screen.settings == screen.before), "the terminal is left in another state"
    assert eventually(lambda: workshop.processes() == [])


def test_output_of_a_terminal_is_passed_on_byte_for_byte(workshop: Workshop) -> None:
    data = bytes(range(256)) * 400
    (workshop.directory / "bytes").write_bytes(data)
    screen = workshop.screen("sh", "-c", "stty raw; cat bytes")
    assert screen.wait() == 0
    assert screen.output == data
    assert workshop.output() == data


def test_keys_arrive_unchanged(workshop: Workshop) -> None:
    keys = bytes(byte for byte in range(256))
    screen = workshop.screen("sh", "-c", "stty raw -echo; echo ready; head -c 256 > keys")
    screen.see(b"ready")
    screen.type(keys)
    assert screen.wait() == 0
    assert (workshop.directory / "keys").read_bytes() == keys


def test_long_paste(workshop: Workshop) -> None:
    paste = b"".join(b"line %05d %s\n" % (line, b"p" * 80) for line in range(300))
    screen = workshop.screen("sh", "-c", "stty -echo; echo ready; cat > paste")
    screen.see(b"ready")
    thread = threading.Thread(target=screen.type, args=(paste + b"\x04",))
    thread.start()
    assert screen.wait() == 0
    thread.join()
    assert (workshop.directory / "paste").read_bytes() == paste


def test_paste_that_the_agent_takes_after_a_megabyte_of_output(workshop: Workshop) -> None:
    agent = (
        "import os, tty; tty.setraw(0); os.write(1, b'ready'); os.write(1, b'o' * 1000000)\n"
        "got = b''\nwhile len(got) < 200000: got += os.read(0, 65536)\n"
        "os.write(1, b'got all' if got == b'k' * 200000 else got)"
    )
    screen = workshop.screen(sys.executable, "-c", agent, quiet=True)
    screen.see(b"ready")
    thread = threading.Thread(target=lambda: [screen.type(b"k" * 1000) for _ in range(200)])
    thread.start()
    assert screen.wait() == 0
    thread.join()
    assert screen.output == b"ready" + b"o" * 1_000_000 + b"got all"


def test_standard_error_that_goes_elsewhere_stays_apart(workshop: Workshop) -> None:
    with (workshop.directory / "errors").open("wb") as errors:
        screen = workshop.screen("sh", "-c", "test -t 1 && echo out; echo err >&2", stderr=errors.fileno())
        assert screen.wait() == 0
    assert screen.output == b"out\r\n"
    assert (workshop.directory / "errors").read_bytes() == b"err\n"
    assert (workshop.output("stdout"), workshop.output("stderr")) == (b"out\r\n", b"err\n")


def test_pipes_if_only_the_output_is_a_terminal(workshop: Workshop) -> None:
    argv = workshop.argv("sh", "-c", "cat; test -t 1 || echo piped")
    screen = workshop.screen_of(["sh", "-c", 'exec "$@" </dev/null', "sh", *argv])
    assert screen.wait() == 0
    assert screen.output == b"piped\r\n"  # the carriage return is this terminal's own
    assert workshop.output() == b"piped\n"


def test_pipes_if_only_the_input_is_a_terminal(workshop: Workshop) -> None:
    argv = workshop.argv("sh", "-c", "test -t 0 && read line && echo got $line")
    screen = workshop.screen_of(["sh", "-c", '"$@" | cat', "sh", *argv])
    assert eventually(lambda: workshop.events)
    screen.type(b"typed\n")
    screen.wait()
    assert screen.output == b"typed\r\ngot typed\r\n"
    assert workshop.output() == b"got typed\n"


@pytest.mark.parametrize("data", [b"", b"a" * 5000 + bytes(range(256))])
def test_terminal_by_request_with_piped_input(workshop: Workshop, data: bytes) -> None:
    result = workshop.run("sh", "-c", "test -t 1 && wc -c", data=data, mode="pty")
    assert (result.returncode, result.stdout) == (0, b"%d\r\n" % len(data))


def test_terminal_by_request_with_closed_input(workshop: Workshop) -> None:
    screen = workshop.popen(["sh", "-c", 'exec "$@" <&-', "sh", *workshop.argv("echo", "hi", mode="pty")], stdout=-1)
    assert (screen.communicate(timeout=SOON)[0], screen.returncode) == (b"hi\r\n", 0)


def test_job_control_as_in_a_shell(workshop: Workshop) -> None:
    """Ctrl-Z stops agent and us, the terminal is the shell's meanwhile, `fg` continues both."""
    (workshop.directory / "agent").write_text("stty -echo; echo $$ > pid; read line; echo got $line\n")
    workshop.env |= {"PS1": "prompt> ", "TERM": "dumb"}
    screen = workshop.screen_of(["bash", "--norc", "--noediting", "-i"])
    screen.see(b"prompt> ")
    script = workshop.directory / "start"
    script.write_text('exec "$@"\n')
    words = " ".join(f"'{word}'" for word in workshop.argv("sh", "agent"))
    screen.type(f"stty -g > before; {words}\n".encode())
    agent = number_in(workshop.directory / "pid")
    assert eventually(lambda: is_raw(screen))
    screen.type(b"\x1a")
    screen.see(b"Stopped")
    assert eventually(lambda: state(agent) == "T")
    screen.type(b"stty -g > meanwhile\n")
    assert eventually((workshop.directory / "meanwhile").exists)
    screen.resize(40, 100)
    screen.type(b"fg\n")
    assert eventually(lambda: is_raw(screen))
    screen.type(b"hello\n")
    screen.see(b"got hello")
    workshop.event("exit")
    screen.type(b"stty -g > after; exit\n")
    screen.wait()
    before, meanwhile, after = ((workshop.directory / name).read_text() for name in ("before", "meanwhile", "after"))
    assert before == meanwhile == after


def test_ctrl_z_where_nobody_could_continue_us(workshop: Workshop) -> None:
    screen = workshop.screen("sh", "-c", "stty -echo; echo ready; read line; echo got $line")
    screen.see(b"ready")
    screen.type(b"\x1a")
    screen.type(b"hello\n")
    screen.see(b"got hello")
    assert screen.wait() == 0


def test_shell_that_suspends_itself(workshop: Workshop) -> None:
    workshop.env |= {"PS1": "prompt> ", "TERM": "dumb"}
    screen = workshop.screen_of(["bash", "--norc", "--noediting", "-i"])
    screen.see(b"prompt> ")
    words = " ".join(f"'{word}'" for word in workshop.argv("bash", "-c", "kill -STOP $$; echo continued"))
    screen.type(f"{words}\n".encode())
    screen.see(b"Stopped")
    screen.type(b"fg\n")
    screen.see(b"continued\r\n")
    workshop.event("exit")
    screen.type(b"exit\n")
    screen.wait()


def test_stop_of_a_job_in_a_pipeline(workshop: Workshop) -> None:
    """The terminal stops all of it by itself; `fg` continues it, and nothing is lost."""
    workshop.env |= {"PS1": "prompt> ", "TERM": "dumb"}
    screen = workshop.screen_of(["bash", "--norc", "--noediting", "-i"])
    screen.see(b"prompt> ")
    words = " ".join(f"'{word}'" for word in workshop.argv("sh", "-c", "echo $$ > pid; read line; echo got $line"))
    screen.type(f"{words} | cat\n".encode())
    agent = number_in(workshop.directory / "pid")
    screen.type(b"\x1a")
    screen.see(b"Stopped")
    assert eventually(lambda: state(agent) == "T")
    screen.type(b"fg\n")
    assert eventually(lambda: state(agent) == "S")
    screen.type(b"hello\n")
    screen.see(b"got hello")
    workshop.event("exit")
    screen.type(b"exit\n")
    screen.wait()
    assert workshop.event("exit")["status"] == 0


def test_hang_up_of_the_users_terminal_ends_the_agent(workshop: Workshop) -> None:
    screen = workshop.screen("sh", "-c", "echo ready; read line")
    screen.see(b"ready")
    os.close(screen.keyboard)
    screen.keyboard = os.open(os.devnull, os.O_RDWR)
    assert eventually(lambda: workshop.processes() == [])
    assert workshop.event("exit")["signal"] == signal.SIGHUP
