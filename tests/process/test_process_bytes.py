"""Pipes: every byte through, in order, to where it was sent, and read by nobody else."""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from workshop import SOON, Workshop, eventually

RANDOM = random.Random(7).randbytes(1 << 20)
AWKWARD = b"data\nno newline at the end; \x03\x04\x11\x13\x1a\x00\xff\r\n\x7f\xc3"


@pytest.mark.parametrize("data", [b"", AWKWARD, RANDOM], ids=["nothing", "control bytes", "a megabyte"])
def test_bytes_in_are_bytes_out(workshop: Workshop, data: bytes) -> None:
    result = workshop.run("cat", data=data)
    assert (result.returncode, result.stdout, result.stderr) == (0, data, b"")
    assert workshop.output() == data


def test_streams_stay_apart(workshop: Workshop) -> None:
    result = workshop.run("sh", "-c", "echo one; echo two >&2; printf three; printf four >&2; exit 3")
    assert (result.returncode, result.stdout, result.stderr) == (3, b"one\nthree", b"two\nfour")
    assert (workshop.output("stdout"), workshop.output("stderr")) == (b"one\nthree", b"two\nfour")


def test_a_line_of_60_megabytes_takes_no_memory(workshop: Workshop) -> None:
    writer = "import os\nfor _ in range(60): os.write(1, b'x' * 1000000)"
    result = workshop.run(sys.executable, "-c", writer, quiet=True)
    assert (result.returncode, result.stdout == b"x" * 60_000_000) == (0, True)
    assert workshop.event("memory")["kilobytes"] < 100_000


def test_one_byte_at_a_time(workshop: Workshop) -> None:
    text = "é中😀\n".encode()
    writer = f"import os\nfor byte in {text!r}: os.write(1, bytes([byte]))"
    assert workshop.run(sys.executable, "-c", writer).stdout == text


def test_what_the_agent_does_not_read_is_left_for_the_next(workshop: Workshop) -> None:
    argv = workshop.argv("dd", "bs=1", "count=2", "status=none")
    script = ["sh", "-c", '"$@"; echo --; cat', "sh", *argv]
    result = subprocess.run(script, env=workshop.env, input=b"a\nb\n", capture_output=True, timeout=SOON)
    assert result.stdout == b"a\n--\nb\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(workshop: Workshop, closed: str) -> None:
    marks = workshop.directory / "marks"
    argv = workshop.argv("sh", "-c", f"echo out; echo err >&2; cat; echo done > {marks}")
    script = ["sh", "-c", f'exec "$@" {closed}', "sh", *argv]
    result = subprocess.run(script, env=workshop.env, input=b"in\n", capture_output=True, timeout=SOON)
    assert result.returncode == 0
    assert marks.read_text() == "done\n"
    stdin = b"" if "<&-" in closed else b"in\n"
    assert result.stdout == (b"" if ">&-" in closed.split() else b"out\n" + stdin)
    assert workshop.output() == b"out\n" + stdin


def test_output_is_written_before_the_callback_and_nothing_is_read_during_it(workshop: Workshop) -> None:
    gate = workshop.directory / "gate"
    process = workshop.start("sh", "-c", "echo first; sleep 0.1; echo second", wait=gate)
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), 100) == b"first\n"
    assert eventually(lambda: len(workshop.events) == 2)
    assert not eventually(lambda: len(workshop.events) > 2, 0.3)
    gate.touch()
    assert process.stdout.read() == b"second\n"
    assert [event["event"] for event in workshop.events[:5]] == ["before_start", *["output", "returned"] * 2]


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_all(workshop: Workshop) -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    process = workshop.start("head", "-c", "300000", "/dev/zero", stdout=theirs)
    os.close(theirs)
    assert eventually(workshop.output)
    got = b""
    while chunk := os.read(ours, 4096):
        got += chunk
    os.close(ours)
    assert (process.wait(SOON), got) == (0, bytes(300_000))


def test_our_own_output_is_not_made_non_blocking(workshop: Workshop) -> None:
    ours, theirs = os.pipe()
    workshop.start("echo", "hi", stdout=theirs).wait(SOON)
    assert not fcntl.fcntl(theirs, fcntl.F_GETFL) & os.O_NONBLOCK
    os.close(ours)
    os.close(theirs)


def test_a_megabyte_each_way_through_a_pipe_of_64_kilobytes(workshop: Workshop) -> None:
    process = workshop.start("cat", popen={"stdin": subprocess.PIPE})
    assert process.stdin is not None
    assert process.stdout is not None
    writer = threading.Thread(target=lambda: (process.stdin.write(RANDOM), process.stdin.close()))  # type: ignore
    writer.start()
    assert process.stdout.read() == RANDOM
    writer.join()


def test_reader_that_goes_away_ends_the_writer(workshop: Workshop) -> None:
    process = workshop.start("yes")
    assert process.stdout is not None
    process.stdout.read(20000)
    process.stdout.close()
    assert process.wait(SOON) == 128 + 13
    assert workshop.processes() == []


def test_stdout_to_a_file_is_appended_to(workshop: Workshop, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before\n")
    with file.open("ab") as stdout:
        assert workshop.start("echo", "after", stdout=stdout.fileno()).wait(SOON) == 0
    assert file.read_bytes() == b"before\nafter\n"
