"""The gateway: what git sees of its surroundings, and what becomes of its output, its status and its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.errors import GitFailed
from gitckpt.repo import gateway
from gitckpt.repo.gateway import DISCOVERY_VARIABLES, PINNED, Git, pinned_environment, split

#: What every call of ours has set, and nothing else that begins with GIT_.
FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ATTR_NOSYSTEM": "1",
}

FakeGit = Callable[[str], Git]


@pytest.fixture
def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGit:
    """A gateway to a `git` that is this shell script."""

    def make(script: str) -> Git:
        binary = tmp_path / "bin" / "git"
        binary.parent.mkdir()
        binary.write_text(f"#!/bin/sh\n{script}\n")
        binary.chmod(0o755)
        monkeypatch.setenv("PATH", f"{binary.parent}:{os.environ['PATH']}")
        return Git(os.fsencode(tmp_path))

    return make


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(os.fsencode(tmp_path))


@pytest.fixture
def alarm() -> Iterator[Callable[[Callable[[], bool]], None]]:
    """Raises KeyboardInterrupt while git is waited for, as soon as a condition holds."""

    def ring(condition: Callable[[], bool]) -> None:
        def handler(signal_number: int, frame: FrameType | None) -> None:
            if frame is not None and frame.f_code is gateway._wait.__code__ and condition():
                signal.setitimer(signal.ITIMER_REAL, 0)
                raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)

    before = signal.getsignal(signal.SIGALRM)
    yield ring
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_git_sees_nothing_of_the_caller_that_could_change_it(
    fake_git: FakeGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_CONFIG", "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0",
        "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TEMPLATE_DIR",
        "GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE", "GIT_DEFAULT_HASH", "GIT_REFLOG_ACTION", "GIT_PREFIX", "GIT_SSH",
        "GIT_SSH_COMMAND", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_QUARANTINE_PATH", "GIT_ATTR_SOURCE",
        "GIT_EXEC_PATH", "GIT_EDITOR", "GIT_PAGER", "GIT_ASKPASS", "GIT_OPTIONAL_LOCKS", "GIT_ANYTHING_NEW",
        "LC_ALL", "LC_MESSAGES", "LANGUAGE", "SSH_ASKPASS",
    ):  # fmt: skip
        monkeypatch.setenv(name, "/foreign")
    seen = fake_git("exec env -0").run("status")
    variables = dict(entry.split("=", 1) for entry in seen.decode().split("\0") if entry)
    assert {
        name: value for name, value in variables.items() if name.startswith(("GIT_", "LC_", "LANG", "SSH"))
    } == FIXED | {name: value for name, value in os.environ.items() if name == "LANG"}
    assert "/foreign" not in variables.values()


@given(
    st.dictionaries(
        st.one_of(
            st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", min_size=1, max_size=12).map(lambda name: "GIT_" + name),
            st.sampled_from(["HOME", "PATH", "LANG", "TMPDIR", *DISCOVERY_VARIABLES]),
        ),
        st.text(max_size=5),
    )
)
def test_the_environment_is_the_callers_without_git(environ: dict[str, str]) -> None:
    plain = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    assert pinned_environment(environ) == plain | FIXED
    kept = {name: environ[name] for name in DISCOVERY_VARIABLES if name in environ}
    assert pinned_environment(environ, DISCOVERY_VARIABLES) == plain | kept | FIXED


def test_every_call_carries_the_pinned_settings(fake_git: FakeGit, tmp_path: Path) -> None:
    seen = fake_git("printf '%s\\n' \"$@\"").view("core.fsync=none").run("status", "-z").decode().splitlines()
    pinned = [word for setting in (*PINNED, "core.fsync=none") for word in ("-c", setting)]
    assert seen == ["-C", str(tmp_path), *pinned, "status", "-z"]
    assert {"core.hooksPath=/dev/null", "core.fsmonitor=false"} <= set(seen)


def test_a_view_adds_to_what_it_is_made_from(fake_git: FakeGit) -> None:
    git = fake_git('printf "%s,%s,%s" "$GIT_DIR" "$GIT_INDEX_FILE" "$2"')
    viewed = git.view(GIT_DIR=b"/a").view(GIT_INDEX_FILE="/b", cwd=b"/")
    assert (viewed.run(), git.run()) == (b"/a,/b,/", b",," + git.cwd)


def test_output_is_given_whole_and_input_is_read_whole(git: Git) -> None:
    text = b"".join(b"line %d\n" % number for number in range(400_000))
    assert git.run("stripspace", data=text) == text


def test_without_input_git_reads_nothing_of_ours(git: Git) -> None:
    assert git.text("hash-object", "--stdin") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_text_keeps_bytes_that_are_no_text(git: Git) -> None:
    assert git.text("stripspace", data=b"\xff caf\xc3\xa9\n\n") == "\udcff café"


@pytest.mark.parametrize(
    ("output", "parts"), [(b"", []), (b"a\0", [b"a"]), (b"a\0b", [b"a", b"b"]), (b"\0a\0", [b"", b"a"])]
)
def test_output_is_split_at_nul(output: bytes, parts: list[bytes]) -> None:
    assert split(output) == parts


def test_a_failure_tells_the_command_the_status_and_what_git_said(fake_git: FakeGit) -> None:
    git = fake_git("echo to stdout; echo 'fatal: no  such' >&2; exit 3")
    with pytest.raises(GitFailed) as caught:
        git.run("cat-file", "-p", b"caf\xc3\xa9\xff\n")
    assert str(caught.value) == ("git cat-file -p caf\\xe9\\udcff\n failed with exit status 3: fatal: no  such")
    assert git.run("anything", ok=(0, 3)) == b"to stdout\n"


def test_a_long_complaint_and_a_long_command_are_cut(fake_git: FakeGit) -> None:
    git = fake_git("for i in 1 2 3 4 5 6 7 8 9; do printf '%0200d' 7 >&2; done; exit 1")
    with pytest.raises(GitFailed) as caught:
        git.run("add", "x" * 5000)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("status", "answer"), [(0, True), (1, False)])
def test_a_question_is_answered_by_the_status(fake_git: FakeGit, status: int, answer: bool) -> None:
    assert fake_git(f"exit {status}").succeeds("merge-base") is answer


@pytest.mark.parametrize("end", ["exit 2", "exit 128", "kill -9 $$"])
def test_any_other_end_is_no_answer(fake_git: FakeGit, end: str) -> None:
    with pytest.raises(GitFailed, match=r"failed with exit status (2|128|-9): it said nothing"):
        fake_git(end).succeeds("merge-base")


def test_a_daemon_that_keeps_our_output_open_does_not_hold_us(fake_git: FakeGit) -> None:
    git = fake_git("sleep 600 & echo $!")
    daemon = int(git.run("fsmonitor--daemon"))
    try:
        assert is_alive(daemon)
    finally:
        os.kill(daemon, signal.SIGKILL)


def test_a_git_that_hangs_is_stopped_at_the_limit(fake_git: FakeGit, tmp_path: Path) -> None:
    git = fake_git(f"echo $$ >{tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 600")
    call = git.start("gc")
    while not (tmp_path / "pid").exists():
        pass
    with pytest.raises(GitFailed, match=r"^git gc did not end within 0 s, and was stopped$"):
        call.wait(0.05)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_an_interruption_ends_the_git_that_was_waited_for(
    fake_git: FakeGit, tmp_path: Path, alarm: Callable[[Callable[[], bool]], None]
) -> None:
    git = fake_git(f"echo $$ >{tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 600")
    alarm((tmp_path / "pid").exists)
    with pytest.raises(KeyboardInterrupt):
        git.run("gc")
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_git_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed) as caught:
        Git(os.fsencode(tmp_path)).run("version")
    assert (str(caught.value), caught.value.hint) == (
        "git was not found on PATH",
        "install git 2.30 or newer, and see that `git --version` works",
    )


def test_git_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed, match=r"^git could not be started: Permission denied$"):
        Git(os.fsencode(tmp_path)).run("version")


def test_the_directory_is_gone(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match=r"'.*/nowhere'.*(is gone|No such file or directory)$"):
        Git(os.fsencode(tmp_path / "nowhere")).run("version")


def test_no_descriptor_is_left_open(fake_git: FakeGit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git, before = fake_git('case "$*" in *hang) exec sleep 600;; esac; exit 1'), len(os.listdir("/proc/self/fd"))
    git.run("fail", data=b"x" * 9, ok=(1,))
    with pytest.raises(GitFailed):
        git.run("fail")
    with pytest.raises(GitFailed):
        git.start("hang", data=b"x" * 9).wait(0.05)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed):
        git.run("fail", data=b"x" * 9)
    assert len(os.listdir("/proc/self/fd")) == before
