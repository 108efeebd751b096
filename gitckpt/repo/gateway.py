"""One gateway to git: every call is made here, with its surroundings pinned and its exit status looked at.

Pinned means: no `GIT_*` variable of the caller's, the C locale, no prompt, no pager, no hook, no file-system monitor,
no replaced objects; an explicit git directory, work tree, index and object store. Output goes to an unnamed file and
not to a pipe, so that neither a full pipe nor a daemon that a child of git leaves behind with our end in its hands can
make us wait."""

from __future__ import annotations

import os
import select

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import object_id, remedy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

#: Seconds after which a git call counts as hung. Long: the first snapshot of a very large tree is one call.
TIME_LIMIT = 3600.0

#: SIGKILL; and what Python ignores (SIGPIPE, SIGXFSZ) and a child must not. Importing `signal` is dear.
KILL = 9
RESET_SIGNALS = (13, 25)

#: Switched off on every call: what could run a program of somebody's or change what git prints.
PINNED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.logAllRefUpdates=false",
    "core.quotePath=true",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "i18n.logOutputEncoding=UTF-8",
    "diff.renames=false",
    "diff.external=",
    "advice.graftFileDeprecated=false",
    "protocol.allow=never",
)

#: Commands that are about trees alone and yet load the whole staging area first, and fail where that is damaged.
OF_TREES = (("diff-tree",),)

#: In the git directory, where nothing has this name: git takes a staging area that is not there for an empty one.
NO_INDEX = "gitckpt-no-index"

#: Kept for discovery alone: they say where git may look for a repository, not which one to use.
DISCOVERY_VARIABLES = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")


def pinned_environment(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The caller's environment without what could change git's behaviour; names in `keep` stay."""
    pinned = {
        name: value
        for name, value in environ.items()
        if name in keep or not name.startswith(("GIT_", "LC_", "LANGUAGE", "SSH_ASKPASS"))
    }
    pinned.update(
        LC_ALL="C",
        GIT_TERMINAL_PROMPT="0",
        GIT_ASKPASS="true",
        GIT_EDITOR="true",
        GIT_PAGER="cat",
        GIT_OPTIONAL_LOCKS="0",
        GIT_NO_REPLACE_OBJECTS="1",
        GIT_NO_LAZY_FETCH="1",
        GIT_ATTR_NOSYSTEM="1",
    )
    return pinned


def unnamed_file() -> int:
    """A file descriptor of an empty file without a name, in memory where the system has that."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gitckpt", os.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def contents(descriptor: int) -> bytes:
    """All that was written to an unnamed file so far; closes it."""
    try:
        size = os.fstat(descriptor).st_size
        return os.pread(descriptor, size, 0) if size < 1 << 30 else b"".join(_pieces(descriptor, size))
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, size: int) -> Iterator[bytes]:
    for offset in range(0, size, 1 << 30):
        yield os.pread(descriptor, 1 << 30, offset)


def _pieces_of_pipe(reader: int, call: Call) -> Iterator[bytes]:
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while poll.poll(TIME_LIMIT * 1000):
        piece = os.read(reader, 1 << 16)
        if not piece:
            return
        yield piece
    raise call.hung(TIME_LIMIT)


class Call:
    """A git call under way. `wait()` gives what it printed, or raises GitFailed.

    Spawned by the system's own call: importing `subprocess` would cost more than most of our commands do.
    """

    def __init__(
        self,
        argv: list[str | bytes],
        cwd: bytes,
        env: dict[str, str],
        data: bytes,
        ok: Collection[int],
        keep: int = -1,
        stdout: int | None = None,
        *,
        setsid: bool = True,
    ) -> None:
        self.argv, self._ok, self.status, self.stderr = argv, ok, -1, b""
        self._end = os.killpg if setsid else os.kill
        self._stdout, self._stderr = unnamed_file(), unnamed_file()
        stdin, output = _input(data), self._stdout if stdout is None else stdout
        given = (stdin, output, self._stderr, *((keep,) if keep >= 0 else ()))
        actions = [(os.POSIX_SPAWN_DUP2, descriptor, place) for place, descriptor in enumerate(given)]
        try:
            # a session of its own, so that Ctrl-C on the terminal does not end a call in the middle
            self._pid = os.posix_spawnp("git", argv, env, file_actions=actions, setsid=setsid, setsigdef=RESET_SIGNALS)
        except OSError as error:
            self._abandon()
            raise _not_started(error, cwd) from error
        finally:
            os.close(stdin)

    def _abandon(self) -> None:
        os.close(self._stdout)
        os.close(self._stderr)

    def kill(self) -> None:
        """End the call, whose output nobody wants any more, and what it has started, such as a filter."""
        try:
            self._end(self._pid, KILL)
        except (PermissionError, ProcessLookupError):
            pass  # all in the group have ended: macOS says the former
        os.waitpid(self._pid, 0)
        self._abandon()

    def wait(self, limit: float = TIME_LIMIT) -> bytes:
        """What the call printed on standard output.

        Raises GitFailed if it failed, was killed, or ran over `limit` seconds.
        """
        try:
            ended = self._has_ended(limit)
        except BaseException:
            self.kill()
            raise
        if not ended:
            self.kill()
            raise self.hung(limit)
        self.status = _exit_status(self._pid)
        output, self.stderr = contents(self._stdout), contents(self._stderr)
        if self.status not in self._ok:
            raise GitFailed(
                f"git {self.words} failed with exit status {self.status}: {self.complaint}", remedy(self.complaint)
            )
        return output

    def _has_ended(self, limit: float) -> bool:
        return _wait(self._pid, limit)

    def hung(self, limit: float) -> GitFailed:
        """What is to be raised for a call that was stopped."""
        return GitFailed(f"git {self.words} did not end within {limit:.0f} s, and was stopped")

    @property
    def words(self) -> str:
        """The git command for a message: its name and arguments, without the pinned configuration, cut to a line."""
        words = [os.fsdecode(word) for word in self.argv[3:]]
        while len(words) > 1 and words[0] == "-c":
            del words[:2]
        return " ".join(words).encode("ascii", "backslashreplace").decode()[:200]

    @property
    def complaint(self) -> str:
        """What git said on standard error, cut to a few lines of text."""
        return self.stderr.decode("utf-8", "replace").strip()[:600] or "it said nothing"


def _wait(pid: int, limit: float) -> bool:
    """Wait for a child's end; False if it did not come within `limit` seconds. The child is not reaped."""
    if not hasattr(os, "pidfd_open"):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        return True
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(limit * 1000))
    finally:
        os.close(descriptor)


def _exit_status(pid: int) -> int:
    """The exit status of a child that has ended, negative for the signal that killed it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError as error:
        raise GitFailed(
            "the exit status of git was lost, for this process was started with SIGCHLD ignored",
            "start gitckpt from a shell, or let SIGCHLD have its default action",
        ) from error


def _input(data: bytes) -> int:
    if not data:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    descriptor = unnamed_file()
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _not_started(error: OSError, cwd: bytes) -> GitFailed:
    if not os.path.isdir(cwd):
        return GitFailed(f"the directory {os.fsdecode(cwd)!r} is gone")
    if isinstance(error, FileNotFoundError):
        return GitFailed("git was not found on PATH", "install git 2.30 or newer, and see that `git --version` works")
    return GitFailed(f"git could not be started: {error.strerror}")


class Git:
    """git with its surroundings fixed: `Git(cwd, variables, config)`.

    `variables` are the `GIT_*` variables that this view of the repository needs, `config` further `name=value`
    settings; `keep` names variables of the caller's that stay, and `pinned` are the settings that are always given."""

    def __init__(
        self,
        cwd: bytes,
        variables: Mapping[str, bytes | str] | None = None,
        config: Collection[str] = (),
        keep: Collection[str] = (),
        pinned: Collection[str] = PINNED,
    ) -> None:
        self.cwd = cwd
        self._env = pinned_environment(os.environ, keep)
        self._env.update({name: os.fsdecode(value) for name, value in (variables or {}).items()})
        self._config = (*pinned, *config)
        self._kept: Callable[[], int] | None = None

    def keep_open(self, descriptor: Callable[[], int]) -> None:
        """Let every call, of views made from now on too, have this descriptor as its own, if it is not negative."""
        self._kept = descriptor

    def view(self, *config: str, cwd: bytes | None = None, **variables: bytes | str) -> Git:
        """The same with further variables and settings."""
        other = Git.__new__(Git)
        other.cwd = self.cwd if cwd is None else cwd
        other._env = self._env | {name: os.fsdecode(value) for name, value in variables.items()}
        other._config = self._config + config
        other._kept = self._kept
        return other

    def set(self, **variables: bytes | str) -> None:
        """Change variables of this very object, for all who hold it."""
        self._env.update({name: os.fsdecode(value) for name, value in variables.items()})

    def start(
        self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,), stdout: int | None = None
    ) -> Call:
        """Start a call and go on; `data` is its standard input, which is empty otherwise and never the caller's."""
        keep = self._kept() if self._kept else -1
        return Call(self._argv(arguments), self.cwd, self._surroundings(arguments), data, ok, keep, stdout)

    def _surroundings(self, arguments: Sequence[str | bytes]) -> dict[str, str]:
        if arguments[:1] not in OF_TREES or "GIT_DIR" not in self._env:
            return self._env
        return self._env | {"GIT_INDEX_FILE": os.path.join(self._env["GIT_DIR"], NO_INDEX)}

    def _argv(self, arguments: Sequence[str | bytes]) -> list[str | bytes]:
        argv: list[str | bytes] = ["git", "-C", self.cwd]
        for setting in self._config:
            argv += ["-c", setting]
        return argv + list(arguments)

    def run(
        self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,), limit: float = TIME_LIMIT
    ) -> bytes:
        """What the call printed. Raises GitFailed unless its exit status is in `ok`, and it ends within `limit`
        seconds."""
        return self.start(*arguments, data=data, ok=ok).wait(limit)

    def stream(self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,)) -> Iterator[bytes]:
        """What the call prints, piece by piece while it runs: for output that memory should not have to hold.

        Only for what starts no other program, which could keep the pipe open. Raises GitFailed at the end."""
        reader, writer = os.pipe()
        try:
            call = self.start(*arguments, data=data, ok=ok, stdout=writer)
        finally:
            os.close(writer)
        try:
            yield from _pieces_of_pipe(reader, call)
        except BaseException:
            call.kill()
            raise
        finally:
            os.close(reader)
        call.wait()

    def text(self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,)) -> str:
        """The same as text, without the line end at its end."""
        return self.run(*arguments, data=data, ok=ok).decode("utf-8", "surrogateescape").rstrip("\n")

    def object_id(self, *arguments: str | bytes, data: bytes = b"") -> str:
        """The object id that the call printed. Raises GitFailed where it printed anything else."""
        call = self.start(*arguments, data=data)
        return object_id(call.wait(), call.words)

    def succeeds(self, *arguments: str | bytes, data: bytes = b"") -> bool:
        """Whether git answers yes (0) or no (1); any other status raises GitFailed."""
        call = self.start(*arguments, data=data, ok=(0, 1))
        call.wait()
        return call.status == 0


def split(output: bytes) -> list[bytes]:
    """The parts of NUL-ended output."""
    parts = output.split(b"\0")
    return parts[:-1] if parts[-1] == b"" else parts
