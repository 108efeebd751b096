"""git for talking to other machines: with the user's own remotes, credentials, proxies and ssh, but without the user's
hooks.

If there is a user at a terminal, git may ask for a password there, and Ctrl-C reaches git and its helpers too.
Otherwise nothing asks, and a call that is given up takes its helpers with it."""

from __future__ import annotations

import os
import re
import time

from gitckpt.errors import GitFailed
from gitckpt.repo.gateway import KILL, PINNED, TIME_LIMIT, Call, Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from gitckpt.repo.repository import Repository

    #: Called with how much is done, and the total.
    Tell = Callable[[int, int], None]

#: Prefixes of the variables that configure how git reaches other machines.
REACHING = (
    "GIT_SSH", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_", "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH", "GIT_CURL_VERBOSE", "GIT_TRACE",
)  # fmt: skip

#: The user decides which protocols may be used; automatic maintenance and side effects of a fetch are disabled.
SETTINGS = (*(setting for setting in PINNED if not setting.startswith("protocol.")), "fetch.writeCommitGraph=false")

#: Seconds between two checks of git's output, and seconds that git has to clean up after it was asked to end.
GLANCE = 0.2
FAREWELL = 5.0

#: SIGTERM. Importing `signal` is slow.
TERMINATE = 15

#: Maximum bytes that the other side may make git print: a list of some million refs.
MOST = 1 << 28

#: How git reports its progress.
PROGRESS = re.compile(rb"(?:Receiving|Writing|Resolving|Counting|Compressing)[^\r\n]*?\(([0-9]{1,15})/([0-9]{1,15})\)")
NOISE = re.compile(r"^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Total|Delta) ?.*$")


class Conversation(Call):
    """A git call that talks to a remote; `output` is what it printed, once it has ended."""

    output = b""
    _tell: Tell | None = None
    _own_group = True

    def hold(self, tell: Tell | None, *, own_group: bool) -> Conversation:
        """Wait for the call to end; `tell` is called with its progress. `own_group` says that its helpers are not in
        our process group."""
        self._tell, self._own_group = tell, own_group
        self.output = self.wait(TIME_LIMIT)
        return self

    def _has_ended(self, limit: float) -> bool:
        deadline = time.monotonic() + limit
        while not super()._has_ended(GLANCE):
            self._look()
            if time.monotonic() > deadline:
                return False
        return True

    def _look(self) -> None:
        if max(os.fstat(self._stdout).st_size, size := os.fstat(self._stderr).st_size) > MOST:
            raise GitFailed(f"git {self.words} was stopped: the other side sends no end of words")
        if self._tell is not None:
            said = PROGRESS.findall(os.pread(self._stderr, 4096, max(size - 4096, 0)))
            if said:
                self._tell(int(said[-1][0]), int(said[-1][1]))

    def kill(self) -> None:
        """End the call and its helpers. They are asked first, so that they remove their locks and temporary files."""
        self._signal(TERMINATE)
        deadline = time.monotonic() + FAREWELL
        while not super()._has_ended(GLANCE) and time.monotonic() < deadline:
            pass
        self._signal(KILL)
        super().kill()

    def _signal(self, number: int) -> None:
        """Signal the whole session or, if it shares ours, git alone, which passes it on to its helpers."""
        try:
            (os.killpg if self._own_group else os.kill)(self._pid, number)
        except ProcessLookupError:
            pass

    @property
    def complaint(self) -> str:
        """What git printed, without its progress messages."""
        lines = self.stderr.decode("utf-8", "replace").replace("\r", "\n").split("\n")
        told = [line.strip() for line in lines if line.strip() and not NOISE.match(line.strip())]
        return "\n".join(told[-12:])[:1200] or "it said nothing"


class TransportGit(Git):
    """git for talking to remotes; `asking` says that there is a user at the terminal who can be asked."""

    def __init__(self, repository: Repository, *, asking: bool, tell: Tell | None = None) -> None:
        variables = {"GIT_DIR": repository.git_dir, "GIT_WORK_TREE": repository.work_tree}
        super().__init__(repository.work_tree, variables, pinned=SETTINGS)
        self._env = transport_environment(self._env, os.environ, asking=asking)
        self._asking, self._tell = asking, tell

    def start(
        self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,), stdout: int | None = None
    ) -> Conversation:
        """Start a call. Its helpers get a session of their own unless they may ask the user."""
        argv = self._argv(arguments)
        return Conversation(argv, self.cwd, self._env, data, ok, stdout=stdout, setsid=not self._asking)

    def talk(self, *arguments: str | bytes, data: bytes = b"", ok: Collection[int] = (0,)) -> Conversation:
        """Run a call to its end. Raise GitFailed unless its exit status is in `ok`."""
        return self.start(*arguments, data=data, ok=ok).hold(self._tell, own_group=not self._asking)


def transport_environment(pinned: Mapping[str, str], environ: Mapping[str, str], *, asking: bool) -> dict[str, str]:
    """Return the pinned environment plus what the user has configured for reaching other machines."""
    kept = {name: value for name, value in environ.items() if name.startswith(REACHING)}
    found = {name: value for name, value in pinned.items() if name != "GIT_ASKPASS"} | kept
    found["GIT_TERMINAL_PROMPT"] = "1" if asking else "0"
    return found
