"""Hooks and tools of gitckpt for one run of a client that `wrap` starts: passed by command line, environment, and files
that are removed when the run ends. Also decides whether `wrap` or the hooks record that run."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gitckpt.agents.command import Arguments
from gitckpt.agents.wiring import Injection, Wiring
from gitckpt.repo.claim import claim, claimed_by, release
from gitckpt.repo.live import is_attended
from gitckpt.trajectory.naming import CLIENT_VARIABLE, SESSION_VARIABLE
from gitckpt.trajectory.sources import digest_of, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitckpt.agents.spoken import Told
    from gitckpt.agents.table import Choice
    from gitckpt.repo.repository import Repository


class Injected(NamedTuple):
    """A command with our additions, and the environment to run it in. `given` says that hooks and tools were added;
    `why` gives the reason if they were not; `caution` is what the user must know."""

    command: list[str]
    environment: dict[str, str]
    given: bool
    why: str = ""
    caution: str = ""


def inject(
    choice: Choice,
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    repository: Repository,
    session: str,
    program: str,
    more: Sequence[str] = (),
) -> Injected:
    """Add hooks and tools to a command; the hooks then record into `session`. `more` holds options for our hook.

    If the command already sets an option or variable that we need, nothing of ours is added. Raises OSError if a file
    of ours cannot be written.
    """
    agent = choice.agent
    told = dict(environ)
    if agent and agent.hook:
        told |= {SESSION_VARIABLE: session, CLIENT_VARIABLE: agent.name}
    _forget_the_dead(repository)
    release(repository, session)
    if agent is None or agent.inject is None or not choice.program.word:
        return Injected(list(command), told, given=False)
    directory = os.fsdecode(_directory(repository, session))
    wiring = Wiring((program, "hook", agent.name, *more), (program, "mcp"), directory)
    injection = agent.inject(wiring)
    at = choice.program.arguments_at
    if taken := _taken(injection, Arguments(command[at:]), environ):
        return Injected(list(command), told, given=False, why=f"the command has {taken} of its own")
    _write(injection, directory)
    words = [*command[:at], *injection.arguments, *command[at:]]
    return Injected(words, told | dict(injection.environment), given=True, caution=injection.caution)


class HookedRun:
    """A run of a client whose hooks may call: it was given ours, or has been set up with them. Its blocks are recorded
    either by its hooks or by `wrap`, as it reads the output: whichever claims the session first."""

    def __init__(self, injected: Injected, repository: Repository, session: str, client: str) -> None:
        self.injected, self.session = injected, session
        self._repository, self._client = repository, client
        self._owner: str = ""
        self._held: list[Told] = []

    def told(self) -> list[str]:
        """Return what the user is told before the client starts."""
        if self.injected.given:
            given = f"{self._client} is given hooks and tools of gitckpt for this run; --inject off runs it without"
            return [given, *([f"{self._client}: {self.injected.caution}"] if self.injected.caution else [])]
        return [f"{self._client} is given no hooks of gitckpt: {self.injected.why}"] if self.injected.why else []

    def record(self) -> bool:
        """Return whether the hooks record what the agent says and does. The first call claims the session for `wrap`,
        unless the hooks were first."""
        if not self._owner:
            self._owner = "wrap" if claim(self._repository, self.session, "wrap") else "hooks"
        return self._owner == "hooks"

    def hold(self, told: Told) -> bool:
        """Return whether a block is for the hooks to record. If so, keep it, to look for it on record when the run has
        ended."""
        if self.record():
            self._held.append(told)
        return self._owner == "hooks"

    def came(self) -> bool:
        """Return whether the hooks claimed the session first."""
        return claimed_by(self._repository, self.session) == "hooks"

    def left(self, sources: Sequence[str]) -> list[Told]:
        """Return the held blocks that no hook has recorded, judging by `sources`; from now on `wrap` records them. A
        block without a source was read from plain text and is left out.

        Blocks are matched by digest and count, because a client prints and stores a message under different ids, but
        the same number of times.
        """
        self._owner = "wrap"
        recorded = Counter(source.digest.partition(".")[0] for text in sources if (source := read_source(text)))
        left = []
        for told in self._held:
            digest = digest_of(told.block)
            recorded[digest] -= 1
            if told.source and recorded[digest] < 0:
                left.append(told)
        return left

    def close(self) -> None:
        """Remove what was written for the run."""
        shutil.rmtree(_directory(self._repository, self.session), ignore_errors=True)
        release(self._repository, self.session)


def _directory(repository: Repository, session: str) -> bytes:
    return os.path.join(repository.private_dir, b"inject", os.fsencode(session))


def _forget_the_dead(repository: Repository) -> None:
    """Remove what killed runs have left behind."""
    parent = os.path.dirname(_directory(repository, "any"))
    for name in os.listdir(parent) if os.path.isdir(parent) else ():
        session = os.fsdecode(name)
        if not is_attended(repository.private_dir, session):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            release(repository, session)


def _taken(injection: Injection, arguments: Arguments, environ: Mapping[str, str]) -> str:
    """Return the name of an option or variable that we need and that is already set, or "". Only long options are
    checked: the ones that may be repeated are passed in their one-letter form."""
    options = [word.partition("=")[0] for word in injection.arguments if word.startswith("--")]
    return next((name for name in (*options, *injection.environment) if name in environ or arguments.has(name)), "")


def _write(injection: Injection, directory: str) -> None:
    for path, content in injection.files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
