"""What the user and git may do to a repository between two gitckpt commands, drawn at random.

The repository has what real ones have: links, permission bits, empty directories, a nested repository, line ends that
git converts, filters, names that are not UTF-8, ignored files, and a staging area in any state."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import edits
from project import Project

NOT_UTF8 = os.fsdecode(b"d/\xff\xfe name")
PATHS = (
    *edits.PATHS,
    NOT_UTF8,
    "d/line\nend",
    "-rf",
    "d/ä",
    "sub dir/f.flt",
    "text.txt",
    "nested/inner",
    "nested/x/new",
)
CONTENTS = (*edits.CONTENTS, b"a\r\nb\r\n", b"a\r\nb\n", b"$Id$\n")
ATTRIBUTES = (b"", b"* text=auto\n", b"*.txt text eol=crlf\n", b"*.flt filter=upper\n", b"* ident\n", b"* -text\n")
#: Any exit status: if a command does not apply, `git` refuses and the repository stays as it was.
ANY = tuple(range(256))

#: User settings under which git changes bytes on the way in and out.
SETTINGS = (
    (),
    ("core.autocrlf", "true"),
    ("core.autocrlf", "input"),
    ("filter.upper.clean", "tr a-z A-Z"),
    ("core.fileMode", "false"),
    ("core.safecrlf", "true"),
    ("index.version", "4"),
    ("core.splitIndex", "true"),
)


def settle(project: Project, random: Random) -> None:
    """Give a new copy of the template the shape of some real repository."""
    setting = random.choice(SETTINGS)
    if setting:
        project.git("config", *setting)
    if random.random() < 0.5:
        _nest(project, random)
    if random.random() < 0.5:
        project.write(".git/info/exclude", "excluded*\n")
        project.write("excluded by hand", "kept\n")
    project.git("branch", "other")


def step(project: Project, random: Random) -> str:
    """Do one thing that a user may do; return a description."""
    act = random.choices([_edit, *GIT], [40, *[3] * len(GIT)])[0]
    return act(project, random)


def _edit(project: Project, random: Random) -> str:
    script = [_draw(random) for _ in range(random.randint(1, 4))]
    edits.apply(project.root, script)
    return f"edits {script}"


def _draw(random: Random) -> edits.Edit:
    path = random.choice(PATHS)
    return random.choice(
        (
            ("write", path, random.choice(CONTENTS), random.choice(edits.MODES)),
            ("write", path, random.choice(CONTENTS), 0o644),
            ("remove", path),
            ("link", path, random.choice(edits.LINKS)),
            ("mkdir", path),
            ("chmod", path, random.choice((0o755, 0o700, 0o644, 0o600))),
            ("rename", path, random.choice(PATHS)),
            ("rules", random.choice(edits.RULES)),
            ("write", ".gitattributes", random.choice(ATTRIBUTES), 0o644),
        )
    )


def _git(*arguments: str) -> Callable[[Project, Random], str]:
    """Return an action that runs a git command, with `PATH` in it replaced by some path."""

    def act(project: Project, random: Random) -> str:
        command = [random.choice(PATHS) if word == "PATH" else word for word in arguments]
        project.git("-c", "core.excludesFile=", *command, ok=ANY)
        return "git " + " ".join(command)

    return act


def _nest(project: Project, random: Random) -> str:
    nested = project.root / "nested"
    if nested.is_symlink() or nested.is_file():
        nested.unlink()
    project.git("init", "-q", "--template=", "nested")
    edits.apply(project.root, [("write", "nested/inner", b"of another repository\n", 0o644)])
    return "nest"


def _forget(project: Project, random: Random) -> str:
    if (project.root / ".git" / "gitckpt").exists():
        project.remove(".git/gitckpt")
    return "forget"


def _conflict(project: Project, random: Random) -> str:
    """Create two branches that disagree on a file, and a merge that stops there."""
    said = _git("add", "-A")(project, random), _git("commit", "-q", "-m", "mine")(project, random)
    project.git("checkout", "-q", "-B", "theirs", "HEAD~1", ok=ANY)
    edits.apply(project.root, [("write", "text.txt", f"theirs {random.random()}\n".encode(), 0o644)])
    project.git("add", "-f", "text.txt", ok=ANY)
    project.git("commit", "-q", "-m", "theirs", ok=ANY)
    project.git("merge", "-q", "main", ok=ANY)
    return f"conflict after {said}"


GIT = (
    _git("add", "-A"),
    _git("add", "--", "PATH"),
    _git("add", "-f", "--", "PATH"),
    _git("add", "-N", "--", "PATH"),
    _git("rm", "-q", "--cached", "-r", "--", "PATH"),
    _git("update-index", "--assume-unchanged", "--", "PATH"),
    _git("update-index", "--no-assume-unchanged", "--", "PATH"),
    _git("commit", "-q", "-m", "some"),
    _git("commit", "-q", "--amend", "-m", "amended"),
    _git("checkout", "-q", "other"),
    _git("checkout", "-q", "main"),
    _git("checkout", "-q", "--detach"),
    _git("branch", "-D", "theirs"),
    _git("reset", "-q", "--mixed", "HEAD~1"),
    _git("merge", "--abort"),
    _git("gc", "-q", "--prune=now"),
    _git("pack-refs", "--all"),
    _nest,
    _forget,
    _conflict,
)
