"""Find the repository and its parts, and decide whether gitckpt may work on it. All our ref names and paths are defined
here."""

from __future__ import annotations

import os

from gitckpt.errors import GitckptError, GitFailed, Refused
from gitckpt.repo.access import closed_in, opens
from gitckpt.repo.answers import unknown_form
from gitckpt.repo.gateway import DISCOVERY_VARIABLES, Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: All our refs, outside what `git branch`, `git tag` and `git push` look at.
REFS = "refs/gitckpt/"

#: The symbolic ref to the line being recorded, one for each work tree.
CURRENT = "refs/worktree/gitckpt/current"

#: Prefix of a ref whose last component identifies this work tree among all whose records may meet in one remote.
PLACES = "refs/worktree/gitckpt/place/"

#: The id of the empty blob, by object format: an index entry with it may be an intent to add.
EMPTY_BLOB = {
    "sha1": b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "sha256": b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
}


OBJECT_FORMATS = (b"sha1", b"sha256")


def line_ref(session: str, line: str) -> str:
    """The ref at the tip of a line."""
    return f"{REFS}{session}/heads/{line}"


def tag_ref(session: str, id: str) -> str:
    """The tag of a named checkpoint, so that `git diff gitckpt/<session>/tags/C5` works."""
    return f"{REFS}{session}/tags/{id}"


def origin_ref(session: str, remote: str) -> str:
    """The ref that marks a session as fetched: it was recorded elsewhere, and is read-only here."""
    return f"{REFS}{session}/from/{remote}"


class Repository:
    """A repository seen from one work tree.

    `work_tree` and `git_dir` are absolute; `git_dir` belongs to this work tree, `common_dir` holds objects and refs for
    all work trees. `name` distinguishes the work trees of one repository: "" is the main one. `git` reads the user's
    repository and writes our refs; it sees neither the user's global nor the system's configuration."""

    def __init__(self, work_tree: bytes, git_dir: bytes, common_dir: bytes, object_format: str, cwd: bytes) -> None:
        self.work_tree, self.git_dir, self.common_dir = work_tree, git_dir, common_dir
        self.object_format, self.cwd = object_format, cwd
        self.name = "" if git_dir == common_dir else os.fsdecode(os.path.basename(git_dir))
        self.git = Git(
            work_tree,
            {
                "GIT_DIR": git_dir,
                "GIT_WORK_TREE": work_tree,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": "/dev/null",
            },
        )

    @property
    def private_dir(self) -> bytes:
        """Our own git directory: a cache that may be deleted at any time."""
        return os.path.join(self.git_dir, b"gitckpt")

    @property
    def objects_dir(self) -> bytes:
        """The object store, shared with the user's repository."""
        return os.path.join(self.common_dir, b"objects")

    @property
    def index_path(self) -> bytes:
        """The user's staging area."""
        return os.path.join(self.git_dir, b"index")

    @property
    def null_oid(self) -> str:
        """The object id that stands for no object."""
        return "0" * (64 if self.object_format == "sha256" else 40)

    def at(self, path: bytes) -> bytes:
        """Return the absolute path of a path in the work tree."""
        return os.path.join(self.work_tree, path)

    def user_git(self) -> Git:
        """Return git as the user has configured it, for questions about that configuration."""
        return Git(self.work_tree, {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.work_tree})


def discover(cwd: bytes | None = None) -> Repository:
    """Return the repository that contains `cwd` (by default the current directory), as git itself finds it.

    The directory takes precedence over an inherited `GIT_DIR`. Raise Refused if there is no repository, if it has no
    work tree, if git calls it unsafe, or if the work tree is a place that no one means to record (`$HOME`, `/`, the
    root of a temporary directory)."""
    cwd = _current_directory() if cwd is None else cwd
    git = Git(cwd, keep=DISCOVERY_VARIABLES)
    # rev-parse echoes an option that it does not know; a path may contain any other line
    separator = f"--{os.urandom(8).hex()}"
    questions = ("--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
    separated = [word for question in questions for word in (separator, question)]
    call = git.start("rev-parse", "--is-bare-repository", *separated, ok=(0, 128))
    answer = call.wait()
    if call.status:
        raise _refusal(git, answer, call.complaint)
    parts = answer.split(b"%s\n" % separator.encode())
    if len(parts) != 5 or parts[0] != b"false\n" or parts[1].strip() not in OBJECT_FORMATS:
        raise unknown_form("rev-parse")
    object_format, git_dir, common_dir, work_tree = (part.removesuffix(b"\n") for part in parts[1:])
    repository = Repository(
        work_tree,
        os.path.realpath(git_dir),
        os.path.realpath(os.path.join(cwd, common_dir)),
        object_format.decode(),
        cwd,
    )
    _refuse_shared_places(repository.work_tree)
    return repository


def _current_directory() -> bytes:
    try:
        return os.getcwdb()
    except FileNotFoundError as error:
        raise Refused("the current directory has been deleted", "cd to a directory that exists") from error


def _refusal(git: Git, answer: bytes, complaint: str) -> GitckptError:
    """Return why there is no work tree to work on here."""
    if "safe.directory" in complaint:
        return Refused(
            f"git calls this repository unsafe: {complaint.splitlines()[0]}",
            "if you trust it: git config --global --add safe.directory <its path>",
        )
    if answer.startswith(b"true"):
        return Refused(
            "this is a bare repository: there is no work tree to record", "go to a work tree of it (git worktree add)"
        )
    if answer:
        return Refused("this is inside the git directory, not in a work tree", "cd to the work tree")
    git_dir = _git_above(git.cwd)
    if git_dir is not None:
        return GitFailed(f"git cannot read this repository: {complaint}", _readable_again(git_dir))
    message = f"this is not a git repository ({os.fsdecode(git.cwd)})"
    if os.environ.get("GIT_DIR"):
        hint = "GIT_DIR is not followed, for hooks inherit it; a file .git there that says `gitdir: PATH` is"
        return Refused(message, hint)
    return Refused(message, "git init makes one here")


def _readable_again(git_dir: bytes) -> str:
    """Return the hint if git does not accept something that has the name of a git directory."""
    closed = closed_in(git_dir)
    if closed is not None:
        return opens(closed, git_dir)
    if os.path.isfile(git_dir):
        return "git worktree repair <its path>, in the main work tree, mends a work tree that has lost its repository"
    return "git status says the same"


def _git_above(directory: bytes) -> bytes | None:
    """Return the `.git` here or in a parent directory, or None; git's own message may be in any language."""
    ceilings = [os.path.realpath(os.fsencode(c)) for c in os.environ.get("GIT_CEILING_DIRECTORIES", "").split(":") if c]
    while os.path.realpath(directory) not in ceilings:
        if os.path.lexists(os.path.join(directory, b".git")):
            return os.path.join(directory, b".git")
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return None


def _refuse_shared_places(work_tree: bytes) -> None:
    real = os.path.realpath(work_tree)
    places: Sequence[tuple[str, str]] = (
        ("/", "the root of the file system"),
        (os.path.expanduser("~"), "your home directory"),
        *((place, "the root of the temporary directory") for place in _temporary_directories()),
        ("/tmp", "the root of the temporary directory"),
        ("/var/tmp", "the root of the temporary directory"),
    )
    for place, what in places:
        if real == os.path.realpath(os.fsencode(place)):
            raise Refused(
                f"the work tree is {what} ({os.fsdecode(real)}): a checkpoint would take in everything there",
                "work in a repository of its own",
            )


def _temporary_directories() -> list[str]:
    """Return where the environment says that temporary files go. Importing `tempfile` would cost more than it is
    worth."""
    return [os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
