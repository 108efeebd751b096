"""One of the user's remotes: listing its refs, fetching from it, pushing to it."""

from __future__ import annotations

import re
import time

from gitckpt.errors import Damaged, GitFailed, Refused, UnknownId
from gitckpt.repo.answers import is_object_id, unknown_form
from gitckpt.repo.transport import TransportGit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitckpt.repo.repository import Repository
    from gitckpt.repo.transport import Conversation, Tell

    #: A ref to move: its name, its new value, its current value ("" for a new one).
    Update = tuple[str, str, str]

#: Maximum refs in one push: more would not fit on a command line.
AT_ONCE = 1000

#: What git prints if the server does not support atomic pushes.
NOT_ATOMIC = "does not support --atomic"

#: How git reports a ref that it did not move because the ref is not at the expected value.
MOVED = re.compile(r"\[rejected\] \((?:non-fast-forward|fetch first|stale info|already exists|needs force)\)")

#: What the server prints while another push, such as one whose gitckpt was killed, is working on the same refs; and the
#: seconds to wait before each new attempt.
LOCKED = re.compile(r"cannot lock ref|Unable to create '.*\.lock': File exists")
WAITS = (0.2, 0.5, 1.5)

#: What git prints → the hint.
HELP = (
    (
        LOCKED.pattern,
        "another push is at work there, or was killed and left a lock: run the command again in a while",
    ),
    (
        r"[Tt]erminal prompts disabled|could not read (?:Username|Password)|Authentication failed|Permission denied",
        "git ls-remote {} asks for the password at a terminal; a credential helper or an ssh key answers without one",
    ),
    (r"Repository not found|does not appear to be a git repo|not found", "git remote -v shows where {} leads"),
    (r"shallow", "this clone is shallow, and the server lacks its oldest commits: git fetch --unshallow {}"),
    (
        r"unpacker error|insufficient permission|pre-receive|hook declined|hidden ref|remote rejected",
        "the server says why; docs/teams.md has the settings that it needs",
    ),
)  # fmt: skip
#: What git prints about objects that it rejects.
BAD = re.compile(
    r"fsck error|error in object|invalid index-pack|did not receive expected object|invalid object|not our ref"
    r"|upload-pack: not|missing (?:blob|tree|commit)|bad object|corrupt"
)
LOST = re.compile(r"early EOF|disconnect|hung up|timed out|RPC failed|Connection")
HELP_LETTING_IN = "git config fetch.fsck.<message> ignore lets through what git only finds odd; docs/teams.md has more"

LAST_HELP = "git ls-remote {} shows whether it can be reached"


def remotes(repository: Repository) -> list[str]:
    """Return the names of the user's remotes."""
    return repository.user_git().text("remote").split()


def chosen(repository: Repository, name: str | None, *, pushing: bool = False) -> str:
    """Return the remote of this name, or the one that git itself would use. Raise UnknownId, or Refused if there is
    none."""
    known = remotes(repository)
    if not known:
        raise Refused("this repository has no remote", "git remote add origin URL")
    if name is not None:
        if name not in known:
            raise UnknownId(f"no remote {name!r}; there is {', '.join(known)}", f"git remote add {name} URL")
        return name
    usual = [word for word in _usual(repository, pushing) if word in known]
    if usual or len(known) == 1:
        return [*usual, *known][0]
    raise Refused(f"which remote? There is {', '.join(known)}", "name one: gitckpt push REMOTE, gitckpt fetch REMOTE")


def _usual(repository: Repository, pushing: bool) -> list[str]:
    git = repository.user_git()
    branch = git.text("symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1))
    keys = [f"branch.{branch}.pushRemote", "remote.pushDefault"] if pushing else []
    return [git.text("config", "--get", key, ok=(0, 1)) for key in [*keys, f"branch.{branch}.remote"]] + ["origin"]


class Remote:
    """A remote by its name, as returned by `chosen`. Every method raises GitFailed if it cannot be reached."""

    def __init__(
        self,
        repository: Repository,
        name: str,
        *,
        pushing: bool = False,
        asking: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self.name, self._format = name, repository.object_format
        self._place = _push_place(repository, name) if pushing else name
        # a mirror remote does not accept single refs
        self._git: TransportGit = TransportGit(repository, asking=asking, tell=tell)
        self._settings = ("-c", f"remote.{name}.mirror=false")

    def refs(self) -> dict[str, str]:
        """Return all its refs: name → object id. Raise Refused if its object ids have another format than ours."""
        call = self._git.talk(*self._settings, "ls-remote", "--refs", "--", self._place, ok=(0, 128))
        if call.status:
            raise self._failure(call.status, call.complaint, "be read")
        found = {}
        for row in call.output.decode("utf-8", "surrogateescape").splitlines():
            oid, tab, name = row.partition("\t")
            if not tab or not is_object_id(oid):
                raise unknown_form("ls-remote")
            found[name] = oid
        if any(len(oid) != (64 if self._format == "sha256" else 40) for oid in found.values()):
            raise Refused(
                f"{self.name} has object ids of another kind than this repository ({self._format}), and git cannot "
                "bring the two together",
                "git init --object-format says of what kind a new repository is",
            )
        return found

    def fetch(self, oids: Iterable[str]) -> None:
        """Fetch these commits with everything that they need, checking each object. No ref is moved. Raise Damaged if
        git rejects what it receives."""
        command = (
            "-c", "fetch.fsckObjects=true", *self._settings, "fetch", "--no-write-fetch-head", "--no-tags",
            "--no-prune", "--no-recurse-submodules", "--no-auto-maintenance", "--no-filter", "--refmap=", "--progress",
            "--stdin", "--", self._place,
        )  # fmt: skip
        call = self._git.talk(*command, data="".join(f"{oid}\n" for oid in oids).encode(), ok=range(256))
        if call.status and BAD.search(call.complaint) and not LOST.search(call.complaint):
            raise Damaged(f"git does not let in what {self.name} sends: {call.complaint}", HELP_LETTING_IN)
        if call.status:
            raise self._failure(call.status, call.complaint, "give what is wanted")

    def push(self, updates: Sequence[Update]) -> None:
        """Move refs on the remote: all or none if the server supports that and they fit into one push, otherwise in
        order. A ref that does not have the old value in its update is not moved, and Refused is raised."""
        for start in range(0, len(updates), AT_ONCE):
            self._push(updates[start : start + AT_ONCE])

    def _push(self, updates: Sequence[Update]) -> None:
        options = [
            "push", "--porcelain", "--progress", "--no-verify", "--recurse-submodules=no", "--no-follow-tags",
            *(f"--force-with-lease={name}:{old}" for name, _, old in updates if _is_tag(name)),
        ]  # fmt: skip
        refspecs = ["--", self._place, *(f"{new}:{name}" for name, new, _ in updates)]
        call = self._talk([*options, "--atomic", *refspecs])
        if call.status and NOT_ATOMIC in call.complaint:
            call = self._talk([*options, *refspecs])
        if not call.status:
            return
        rejected = [row for row in call.output.decode("utf-8", "replace").splitlines() if row.startswith("!")]
        if any(MOVED.search(row) for row in rejected):
            raise Refused(
                f"{self.name} has moved meanwhile; nothing there was overwritten",
                "run the command again to see how it stands",
            )
        told = "\n".join([call.complaint, *(_shown(row) for row in rejected[:5])])
        raise self._failure(call.status, told, "be written to")

    def _talk(self, command: Sequence[str]) -> Conversation:
        """Push, and try again if another push is in the way."""
        for seconds in WAITS:
            call = self._git.talk(*self._settings, *command, ok=range(256))
            if not (call.status and LOCKED.search(call.complaint)):
                return call
            time.sleep(seconds)
        return self._git.talk(*self._settings, *command, ok=range(256))

    def _failure(self, status: int, complaint: str, what: str) -> GitFailed:
        help = next((text for pattern, text in HELP if re.search(pattern, complaint)), LAST_HELP)
        message = f"{self.name} could not {what}; git ended with {status}: {complaint}"
        return GitFailed(message, help.format(self.name))


def _push_place(repository: Repository, name: str) -> str:
    """Return where a push to a remote goes: its name, or the URL if that differs from the one it is fetched from."""
    git = repository.user_git()
    places = git.text("remote", "get-url", "--push", "--all", name).split("\n")
    if len(places) > 1:
        raise Refused(
            f"{name} pushes to {len(places)} places at once, and what is wanting at each may differ",
            "git remote add makes a remote for one of them",
        )
    return name if places == git.text("remote", "get-url", "--all", name).split("\n")[:1] else places[0]


def _is_tag(name: str) -> bool:
    return name.split("/")[3:4] == ["tags"]


def _shown(row: str) -> str:
    """Return a line of `git push --porcelain` for people: the ref, and why it was not moved."""
    return " ".join(row.split("\t")[1:])
