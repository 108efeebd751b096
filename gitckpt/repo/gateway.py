"""The gateway to git: every call goes through here, with a pinned environment and its exit status checked.

Pinned means: none of the caller's `GIT_*` variables, the C locale, no prompt, no pager, no hook, no file-system
monitor, no replaced objects; an explicit git directory, work tree, index and object store. Output goes to an unnamed
file instead of a pipe, so that neither a full pipe nor a daemon that a child of git leaves behind holding our end can
make us wait."""

from __future__ import annotations

import os
import select

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import object_id, remedy
from gitckpt.repo.unnamed import contents, filled, unnamed_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

#: Seconds after which a git call counts as hung. It is high because the first snapshot of a very large tree is one
#: call.
TIME_LIMIT = 3600.0

#: SIGKILL; and the signals that Python ignores (SIGPIPE, SIGXFSZ) but a child must not. Importing `signal` is slow.
KILL = 9
RESET_SIGNALS = (13, 25)

#: Settings for every call. They disable what could run someone's program or change what git prints.
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

#: Commands that only deal with trees but load the whole index first, and fail if it is damaged.
OF_TREES = (("diff-tree",),)

#: A name that does not exist in the git directory: git treats a missing index as an empty one.
NO_INDEX = "gitckpt-no-index"

#: Variables kept for discovery only: they say where git may look for a repository, not which one to use.
DISCOVERY_VARIABLES = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")


def pinned_environment(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """Return the caller's environment without anything that could change git's behaviour, except the names in
    `keep`."""
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
    """A running git call. `wait()` returns what it printed, or raises GitFailed.

    It is started with `posix_spawn`, because importing `subprocess` would cost more than most of our commands.
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
        self._is_over = False
        self._end = os.killpg if setsid else os.kill
        self._stdout, self._stderr = unnamed_file(), unnamed_file()
        stdin, output = filled(data), self._stdout if stdout is None else stdout
        given = (stdin, output, self._stderr, *((keep,) if keep >= 0 else ()))
        actions = [(os.POSIX_SPAWN_DUP2, descriptor, place) for place, descriptor in enumerate(given)]
        try:
            # a separate session, so that Ctrl-C on the terminal does not end a call halfway
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
        """Kill the call, whose output is no longer needed, and everything that it started, such as a filter. A call
        that was waited for has ended."""
        if self._is_over:
            return
        self._is_over = True
        try:
            self._end(self._pid, KILL)
        except (PermissionError, ProcessLookupError):
            pass  # all processes of the group have ended; macOS reports the former
        os.waitpid(self._pid, 0)
        self._abandon()

    def wait(self, limit: float = TIME_LIMIT) -> bytes:
        """Return what the call printed on standard output.

        Raise GitFailed if it failed, was killed, or ran longer than `limit` seconds.
        """
        try:
            ended = self._has_ended(limit)
        except BaseException:
            self.kill()
            raise
        if not ended:
            self.kill()
            raise self.hung(limit)
        self._is_over = True
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
        """Return the error for a call that was stopped."""
        return GitFailed(f"git {self.words} did not end within {limit:.0f} s, and was stopped")

    @property
    def words(self) -> str:
        """The git command for a message: its name and arguments, without the pinned configuration, at most 200
        characters."""
        words = [os.fsdecode(word) for word in self.argv[3:]]
        while len(words) > 1 and words[0] == "-c":
            del words[:2]
        return " ".join(words).encode("ascii", "backslashreplace").decode()[:200]

    @property
    def complaint(self) -> str:
        """What git printed on standard error, cut to a few lines of text."""
        return self.stderr.decode("utf-8", "replace").strip()[:600] or "it said nothing"


def _wait(pid: int, limit: float) -> bool:
    """Wait for a child to end; return False if it did not end within `limit` seconds. The child is not reaped."""
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
    """Return the exit status of a child that has ended, or the negative number of the signal that killed it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError as error:
        raise GitFailed(
            "the exit status of git was lost, for this process was started with SIGCHLD ignored",
            "start gitckpt from a shell, or let SIGCHLD have its default action",
        ) from error


def _not_started(error: OSError, cwd: bytes) -> GitFailed:
    if not os.path.isdir(cwd):
        return GitFailed(f"the directory {os.fsdecode(cwd)!r} is gone")
    if isinstance(error, FileNotFoundError):
        return GitFailed("git was not found on PATH", "install git 2.30 or newer, and see that `git --version` works")
    return GitFailed(f"git could not be started: {error.strerror}")


class Git:
    """git in a fixed environment: `Git(cwd, variables, config)`.

    `variables` are the `GIT_*` variables that this view of the repository needs, `config` are further `name=value`
    settings; `keep` names variables of the caller's that are kept, and `pinned` are the settings that every call
    gets."""

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
        """Let every call, including those of views made from now on, inherit what `descriptor()` returns, unless it is
        negative."""
        self._kept = descriptor

    def view(self, *config: str, cwd: bytes | None = None, **variables: bytes | str) -> Git:
        """Return the same git with further variables and settings."""
        other = Git.__new__(Git)
        other.cwd = self.cwd if cwd is None else cwd
        other._env = self._env | {name: os.fsdecode(value) for name, value in variables.items()}
        other._config = self._config + config
        other._kept = self._kept
        return other

    def set(self, **variables: bytes | str) -> None:
        """Change variables of this very object, for everyone who holds it."""
        self._env.update({name: os.fsdecode(value) for name, value in variables.items()})

    def start(
        self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,), stdout: int | None = None
    ) -> Call:
        """Start a call without waiting for it. `data` is its standard input, which is otherwise empty and never the
        caller's."""
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
        """Return what the call printed. Raise GitFailed unless it ends within `limit` seconds with an exit status in
        `ok`."""
        return self.start(*arguments, data=data, ok=ok).wait(limit)

    def stream(self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,)) -> Iterator[bytes]:
        """Yield what the call prints, piece by piece while it runs, for output that is too large to keep in memory.

        Use it only for commands that start no other program, which could keep the pipe open. Raises GitFailed at the
        end."""
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
        """Return what the call printed as text, without trailing line ends."""
        return self.run(*arguments, data=data, ok=ok).decode("utf-8", "surrogateescape").rstrip("\n")

    def object_id(self, *arguments: str | bytes, data: bytes = b"") -> str:
        """Return the object id that the call printed. Raise GitFailed if it printed anything else."""
        call = self.start(*arguments, data=data)
        return object_id(call.wait(), call.words)

    def succeeds(self, *arguments: str | bytes, data: bytes = b"") -> bool:
        """Return whether git answers yes (0) or no (1); any other status raises GitFailed."""
        call = self.start(*arguments, data=data, ok=(0, 1))
        call.wait()
        return call.status == 0


def split(output: bytes) -> list[bytes]:
    """Return the parts of NUL-terminated output."""
    parts = output.split(b"\0")
    return parts[:-1] if parts[-1] == b"" else parts
