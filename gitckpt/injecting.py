"""Our hooks and tools for one run of a client that `wrap` starts: by its command line, its environment, and files of
ours that are gone when it has ended; and who records what it says."""

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
    """A command with ours in it, and the environment to run it in. `given` says that hooks and tools are in it, `why`
    why they are not; `caution` is what the person must know."""

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
    """Give hooks and tools to a command, whose hooks then record into `session`. `more` are options for our hook.

    What a person has given himself stays: then nothing of ours is added. Raises OSError where a file of ours cannot be
    written."""
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
    """A run of a client whose hooks may call: it is given ours, or has been set up to. Each block is recorded by its
    hooks or by `wrap`, as it reads the output: by whoever comes first."""

    def __init__(self, injected: Injected, repository: Repository, session: str, client: str) -> None:
        self.injected, self.session = injected, session
        self._repository, self._client = repository, client
        self._owner: str = ""
        self._held: list[Told] = []

    def told(self) -> list[str]:
        """What the person is told before it starts."""
        if self.injected.given:
            given = f"{self._client} is given hooks and tools of gitckpt for this run; --inject off runs it without"
            return [given, *([f"{self._client}: {self.injected.caution}"] if self.injected.caution else [])]
        return [f"{self._client} is given no hooks of gitckpt: {self.injected.why}"] if self.injected.why else []

    def record(self) -> bool:
        """Whether hooks record what the agent says and does, now that `wrap` would."""
        if not self._owner:
            self._owner = "wrap" if claim(self._repository, self.session, "wrap") else "hooks"
        return self._owner == "hooks"

    def hold(self, told: Told) -> bool:
        """Whether a block is the hooks' to record; it is looked for on record when the run has ended."""
        if self.record():
            self._held.append(told)
        return self._owner == "hooks"

    def came(self) -> bool:
        """Whether hooks have called first."""
        return claimed_by(self._repository, self.session) == "hooks"

    def left(self, sources: Sequence[str]) -> list[Told]:
        """The blocks that stand under none of the sources; from now on they are `wrap`'s. Text proves no block.

        The ids of messages differ between what a client prints and what it stores; how often a block was said does not.
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
        """Take away what was written for the run."""
        shutil.rmtree(_directory(self._repository, self.session), ignore_errors=True)
        release(self._repository, self.session)


def _directory(repository: Repository, session: str) -> bytes:
    return os.path.join(repository.private_dir, b"inject", os.fsencode(session))


def _forget_the_dead(repository: Repository) -> None:
    """Take away what runs have left that were killed."""
    parent = os.path.dirname(_directory(repository, "any"))
    for name in os.listdir(parent) if os.path.isdir(parent) else ():
        session = os.fsdecode(name)
        if not is_attended(repository.private_dir, session):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            release(repository, session)


def _taken(injection: Injection, arguments: Arguments, environ: Mapping[str, str]) -> str:
    """An option or a variable that we would have to give and that is given already; options that may be given again are
    one letter long."""
    options = [word.partition("=")[0] for word in injection.arguments if word.startswith("--")]
    return next((name for name in (*options, *injection.environment) if name in environ or arguments.has(name)), "")


def _write(injection: Injection, directory: str) -> None:
    for path, content in injection.files.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
