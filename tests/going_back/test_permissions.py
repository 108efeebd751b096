"""A rollback among directories that are closed, files that nobody may read, and what belongs to somebody else."""

from __future__ import annotations

import os
import shutil

import pytest
import unprivileged
from project import Project

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to somebody else")

THERE_AND_BACK = """
from pathlib import Path
from project import Project
project = Project(Path.cwd())
{before}
project.checkpoint("C1")
then = project.disk()
{change}
now = project.disk()
project.roll_back("C1")
assert project.disk() == then
project.undo()
assert project.disk() == now
answer = ""
"""

OPENED = """
project.write("tools/deep/a", "1", 0o444)
project.write("tools/b", "2", 0o444)
for name, mode in (("tools/deep", 0o555), ("tools", 0o555)):
    (project.root / name).chmod(mode)
"""

CHANGED = """
(project.root / "tools").chmod(0o755)
(project.root / "tools/deep").chmod(0o755)
project.write("tools/deep/new", "3")
(project.root / "tools/empty").mkdir()
project.remove("tools/b")
(project.root / "tools/deep").chmod(0o555)
(project.root / "tools").chmod(0o555)
"""

REMOVED = """
(project.root / "tools").chmod(0o755)
(project.root / "tools/deep").chmod(0o755)
project.remove("tools")
"""


@pytest.mark.parametrize(
    ("before", "change"),
    [(OPENED, CHANGED), (OPENED, REMOVED), ("", OPENED), ('(project.root / "e").mkdir(0o500)', 'project.remove("e")')],
    ids=["changed", "removed", "new", "empty"],
)
def test_directories_that_their_owner_has_closed_to_writing(project: Project, before: str, change: str) -> None:
    unprivileged.run(THERE_AND_BACK.format(before=before, change=change), project.root)


KILLED = '''
import os
from pathlib import Path
from project import Project
project = Project(Path.cwd())
project.write("tools/a", "1")
(project.root / "tools").chmod(0o555)
project.checkpoint("C1")
project.write("tools/a", "2")
git = Path.cwd().parent / "shim" / "git"
git.parent.mkdir()
git.write_text("""#!/bin/sh
case " $* " in *" read-tree -m -u "*) kill -9 $PPID; exit 1;; esac
exec {real} "$@"
""")
git.chmod(0o755)
if not (child := os.fork()):
    os.environ["PATH"] = f"{{git.parent}}:" + os.environ["PATH"]
    project.roll_back("C1", paths=(b"tools/a",))
assert os.waitpid(child, 0)[1] == 9
left = (project.root / "tools").stat().st_mode & 0o777
project.{end}()
answer = [left, (project.root / "tools").stat().st_mode & 0o777, (project.root / "tools/a").read_text()]
'''


@pytest.mark.parametrize(("end", "content"), [("go_on", "1"), ("abort", "2")])
def test_a_directory_that_a_killed_rollback_has_left_open_is_closed(project: Project, end: str, content: str) -> None:
    code = KILLED.format(real=shutil.which("git"), end=end)
    assert unprivileged.run(code, project.root) == [0o755, 0o555, content]


UNREADABLE = """
from pathlib import Path
from project import Project
project = Project(Path.cwd())
(project.root / "empty").mkdir()
project.write("full/x", "x")
for name in ("empty", "full"):
    (project.root / name).chmod({mode})
project.checkpoint("C1")
for name in ("empty", "full"):
    (project.root / name).chmod(0o755)
now = project.disk()
outcome = project.roll_back("C1")
modes = [(project.root / name).stat().st_mode & 0o777 for name in ("empty", "full")]
project.undo()
(project.root / "empty").chmod(0o755)
assert project.disk() == now
answer = [modes, [path.decode() for path in outcome.left]]
"""


@pytest.mark.parametrize("mode", [0, 0o300])
def test_a_directory_is_not_closed_over_what_the_target_could_not_see(project: Project, mode: int) -> None:
    assert unprivileged.run(UNREADABLE.format(mode=mode), project.root) == [[mode, 0o755], ["full/x"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what nobody may")
def test_permission_bits_that_close_a_file_to_its_owner(project: Project) -> None:
    for bits in (0, 0o7, 0o70):
        project.write(f"file {bits:o}", "x", bits)
        project.write(f"directory {bits:o}/x", "x")
        (project.root / f"directory {bits:o}").chmod(bits)
    project.checkpoint("C1")
    before = project.disk()
    for path in project.root.iterdir():
        path.chmod(0o755)
    project.roll_back("C1")
    assert project.disk() == before


SOMEBODY_ELSES = """
from pathlib import Path
from gitckpt.errors import Refused
from project import Project
project = Project(Path.cwd())
before, answer = project.disk(), ""
try:
    project.roll_back("C1")
except Refused as error:
    answer = str(error)
assert project.disk() == before
assert project.roll_back("C1", keep=True).left
assert project.read("README.md") == b"# Project\\n"
project.undo()
assert project.disk() == before
"""


@needs_root
@pytest.mark.parametrize("change", ["changed", "removed", "new", "empty"])
def test_a_directory_that_may_not_be_written_is_told_before_the_first_write(project: Project, change: str) -> None:
    project.checkpoint("C1")
    project.write("README.md", "changed\n")
    path = {"new": "src/new", "empty": "src/empty/"}.get(change, "src/app.py")
    if change == "removed":
        project.remove(path)
    elif change == "empty":
        (project.root / path).mkdir()
    else:
        project.write(path, "changed")
    os.chown(project.root / "src", 1, 1)
    answer = unprivileged.run(SOMEBODY_ELSES, project.root)
    assert f"{path}: no permission to write in src" in answer


@needs_root
@pytest.mark.parametrize("path", ["src/app.py", "src/lib/"])
def test_permission_bits_that_are_somebody_elses_to_change_are_told_before_the_first_write(
    project: Project, path: str
) -> None:
    (project.root / path).chmod(0o750)
    project.checkpoint("C1")
    project.write("README.md", "changed\n")
    (project.root / path).chmod(0o755)
    os.chown(project.root / path, 1, 1)
    answer = unprivileged.run(SOMEBODY_ELSES, project.root)
    assert f"{path}: it is somebody else's, who alone can change its permission bits" in answer


CLOSED_INDEX = """
from pathlib import Path
from project import Project
project = Project(Path.cwd())
index = project.root / ".git" / "index"
staged = index.read_bytes()
index.chmod(0)
project.checkpoint("C1")
project.write("README.md", "changed")
missing = {path.decode(): why for path, why in project.snapshot().missing.items()}
project.roll_back("C1")
answer = [missing, project.read("README.md").decode()]
index.chmod(0o644)
assert index.read_bytes() == staged
"""


@pytest.mark.parametrize("recorded_before", [False, True])
def test_a_staging_area_that_only_somebody_else_may_read(project: Project, recorded_before: bool) -> None:
    if recorded_before:
        project.snapshot()
    missing = {".git/index": "the staging area cannot be read"}
    assert unprivileged.run(CLOSED_INDEX, project.root) == [missing, "# Project\n"]


@pytest.mark.parametrize("umask", [0o077, 0])
def test_bits_are_those_on_record_whatever_the_umask(project: Project, umask: int) -> None:
    project.checkpoint("C1")
    before = project.disk()
    project.write("src/app.py", "changed")
    project.write("tests/check.sh", "changed")
    project.write("private", "new", 0o600)
    (project.root / "README.md").chmod(0o666)
    changed = project.disk()
    own = os.umask(umask)
    try:
        project.roll_back("C1")
        assert project.disk() == before
        project.undo()
        assert project.disk() == changed
        project.remove("private")
        project.roll_back("C1")
        project.undo()
        project.remove("src/app.py")
        project.roll_back("C1")
    finally:
        os.umask(own)
    assert (project.root / "src/app.py").stat().st_mode & 0o777 == 0o644 & ~umask


def test_bits_come_back_where_another_umask_prevails_by_now(project: Project) -> None:
    """What tells which one that was is learnt anew with the private directory."""
    for number in range(9):
        project.write(f"many/{number}", "x")
    project.checkpoint("C1")
    before = project.disk()
    for path in project.root.joinpath("many").iterdir():
        path.chmod(0o600)
    (project.root / "many").chmod(0o700)
    (project.root / "tests/check.sh").chmod(0o700)
    changed = project.disk()
    shutil.rmtree(project.root / ".git" / "gitckpt")
    project.roll_back("C1")
    assert project.disk() == before
    shutil.rmtree(project.root / ".git" / "gitckpt")
    project.undo()
    assert project.disk() == changed


@pytest.mark.parametrize("umask", [0o077, 0])
def test_empty_directories_come_back_under_the_umask_that_files_do(project: Project, umask: int) -> None:
    hollow, newer = project.root / "hollow", project.root / "newer"
    hollow.mkdir(0o755)
    project.checkpoint("C1")
    hollow.rmdir()
    newer.mkdir(0o755)
    changed = project.disk()
    own = os.umask(umask)
    try:
        project.roll_back("C1")
        assert hollow.stat().st_mode & 0o777 == 0o755 & ~umask
        project.undo()
    finally:
        os.umask(own)
    assert project.disk() == changed
