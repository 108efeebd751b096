"""Which repository a directory is in, and where gitckpt will not work."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from project import Project
from sampling import others_slow

from gitckpt.errors import GitckptError, GitFailed, Refused
from gitckpt.repo.repository import Repository, discover, line_ref, tag_ref


def places(repository: Repository) -> tuple[str, str, str, str]:
    """Work tree, git directory, common directory, name."""
    work_tree, git_dir, common_dir = map(os.fsdecode, (repository.work_tree, repository.git_dir, repository.common_dir))
    return work_tree, git_dir, common_dir, repository.name


def refusal(directory: Path) -> tuple[str, str]:
    with pytest.raises(Refused) as caught:
        discover(os.fsencode(directory))
    assert caught.value.exit_status == 3
    return str(caught.value), caught.value.hint


def snapshot_files(directory: Path) -> set[str]:
    """The files of a snapshot taken from this directory."""
    project = Project(directory)
    return set(project.held(project.snapshot().tree))


def test_a_repository(project: Project) -> None:
    repository = project.repository()
    git_dir = str(project.root / ".git")
    assert places(repository) == (str(project.root), git_dir, git_dir, "")
    assert (repository.object_format, repository.null_oid) == ("sha1", "0" * 40)
    assert repository.index_path == os.fsencode(project.root / ".git" / "index")
    assert repository.objects_dir == os.fsencode(project.root / ".git" / "objects")
    assert repository.private_dir == os.fsencode(project.root / ".git" / "gitckpt")
    assert repository.at(b"src/app.py") == os.fsencode(project.root / "src" / "app.py")


def test_names_of_references() -> None:
    assert line_ref("20261130-024512-k3f9", "retry-2") == "refs/gitckpt/20261130-024512-k3f9/heads/retry-2"
    assert tag_ref("s", "C5") == "refs/gitckpt/s/tags/C5"


def test_from_a_subdirectory_it_is_the_whole_work_tree(project: Project) -> None:
    repository = project.repository("src/lib")
    assert places(repository) == places(project.repository())
    assert repository.cwd == os.fsencode(project.root / "src" / "lib")


def test_through_a_link_it_is_the_real_place(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root / "src")
    assert places(discover(os.fsencode(tmp_path / "link"))) == places(project.repository())


def test_the_current_directory_counts_where_none_is_given(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root / "src")
    assert places(discover()) == places(project.repository())


def test_the_directory_wins_over_the_environment(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Project.create(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    monkeypatch.setenv("GIT_COMMON_DIR", str(other.root / ".git"))
    assert places(project.repository()) == (*[str(project.root)], *[str(project.root / ".git")] * 2, "")


def test_a_ceiling_stops_the_search(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.root))
    with pytest.raises(GitckptError, match="not a git repository"):
        project.repository("src")


ODD_NAMES = ("two\nlines", "ends with\n", 'tab\tand "quotes" \'', "-rf", "非 ascii", "\udcff", "a b ")


@pytest.mark.parametrize("name", others_slow(ODD_NAMES, lambda name: name in ("two\nlines", "ends with\n", "\udcff")))
def test_a_repository_with_an_odd_name(template: Path, home: Path, tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    project = Project.copy(template, root)
    event = project.checkpoint("C1")
    project.write("src/app.py", "changed\n")
    project.roll_back("C1")
    assert project.repository().work_tree == os.fsencode(root)
    assert project.read("src/app.py") == b"import lib\n" == project.held(event.commit)["src/app.py"][1]


def test_a_linked_work_tree(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    repository = discover(os.fsencode(tmp_path / "linked" / "src"))
    git_dir = project.root / ".git"
    assert places(repository) == (
        str(tmp_path / "linked"),
        str(git_dir / "worktrees" / "linked"),
        str(git_dir),
        "linked",
    )
    assert repository.private_dir == os.fsencode(git_dir / "worktrees" / "linked" / "gitckpt")
    assert repository.objects_dir == os.fsencode(git_dir / "objects")


def test_a_linked_work_tree_inside_the_main_one_is_a_boundary(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "side", "inside")
    snapshot = project.snapshot()
    assert snapshot.missing == {b"inside": "a repository of its own: never entered, never touched"}
    assert not [path for path in project.held(snapshot.tree) if path.startswith("inside")]


def test_a_git_directory_elsewhere(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "tree", "--separate-git-dir", str(tmp_path / "store.git"))
    project.write("a", "a")
    store = str(tmp_path / "store.git")
    assert places(project.repository()) == (str(project.root), store, store, "")
    assert snapshot_files(project.root) == {"a"}


@pytest.mark.parametrize("name", ["false", "is false\nfalse", "true\n", "sha1", "  ", "名\n\n--git", '"\\', "-C"])
def test_a_git_directory_of_any_name(home: Path, tmp_path: Path, name: str) -> None:
    store = tmp_path / "stores" / name
    store.parent.mkdir()
    project = Project.create(tmp_path / "tree")
    (project.root / ".git").rename(store)
    # git's own --separate-git-dir does not write such names; its file may hold them all the same
    (project.root / ".git").symlink_to(store)
    project.write("a", "a")
    assert places(project.repository()) == (str(project.root), str(store), str(store), "")
    assert snapshot_files(project.root) == {"a"}


@pytest.mark.parametrize("name", ["false", "with spaces false", "a\nfalse"])
def test_a_git_directory_that_a_file_names(home: Path, tmp_path: Path, name: str) -> None:
    project = Project.create(tmp_path / "tree", "--separate-git-dir", str(tmp_path / name))
    project.write("a", "a")
    assert places(project.repository())[1] == str(tmp_path / name)
    project.checkpoint("C1")
    assert project.find("C1").id == "C1"


@pytest.mark.parametrize("name", ["false", "a\nfalse\nb", " "])
def test_a_work_tree_of_any_name(home: Path, tmp_path: Path, name: str) -> None:
    project = Project.create(tmp_path / name)
    project.write("a", "a")
    assert places(project.repository())[0] == str(tmp_path / name)
    assert snapshot_files(project.root) == {"a"}


def test_a_git_directory_of_another_name_inside_the_work_tree_is_no_content(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "tree", "--separate-git-dir", str(tmp_path / "tree" / "store.git"))
    project.write("a", "a")
    assert snapshot_files(project.root) == {"a"}
    assert snapshot_files(project.root) == {"a"}


def test_a_submodule_is_a_repository_of_its_own(project: Project, tmp_path: Path) -> None:
    other = Project.copy(project.root, tmp_path / "other")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "module")
    module = project.root / "module"
    git_dir = str(project.root / ".git" / "modules" / "module")
    assert places(discover(os.fsencode(module))) == (str(module), git_dir, git_dir, "")


def test_a_repository_of_sha256_is_known_and_recorded(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "long", "--object-format=sha256")
    project.write("a", "old\n")
    project.commit("first")
    repository = project.repository()
    assert (repository.object_format, repository.null_oid) == ("sha256", "0" * 64)
    project.write("b", "untracked\n")
    event = project.checkpoint("C1")
    before = project.disk()
    project.write("a", "new\n")
    project.remove("b")
    project.roll_back("C1")
    assert project.disk() == before
    assert len(event.commit) == 64
    project.git("fsck", "--strict", "--no-dangling")


def test_no_repository(home: Path, tmp_path: Path) -> None:
    assert refusal(tmp_path) == (f"this is not a git repository ({tmp_path})", "git init makes one here")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home"]


def test_a_repository_that_only_the_environment_names(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that `git init` made there would be another one; what the hint says leads to the very repository."""
    monkeypatch.setenv("GIT_DIR", str(project.root / ".git"))
    place = tmp_path / "place"
    place.mkdir()
    message, hint = refusal(place)
    assert message == f"this is not a git repository ({place})"
    assert hint.startswith("GIT_DIR is not followed") and "`gitdir: PATH`" in hint
    (place / ".git").write_text(f"gitdir: {project.root / '.git'}\n")
    assert places(discover(os.fsencode(place)))[0] == str(place)


def test_a_bare_repository(home: Path, tmp_path: Path) -> None:
    Project.create(tmp_path / "bare.git", "--bare")
    assert refusal(tmp_path / "bare.git") == (
        "this is a bare repository: there is no work tree to record",
        "go to a work tree of it (git worktree add)",
    )
    assert not (tmp_path / "bare.git" / "gitckpt").exists()


@pytest.mark.parametrize("inside", ["", "objects", "refs/heads"])
def test_inside_the_git_directory(project: Project, inside: str) -> None:
    assert refusal(project.root / ".git" / inside) == (
        "this is inside the git directory, not in a work tree",
        "cd to the work tree",
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to somebody else")
def test_a_repository_of_somebody_else_is_unsafe_until_it_is_trusted(project: Project) -> None:
    for path in (project.root, project.root / ".git"):
        os.chown(path, 12345, 12345)
    message, hint = refusal(project.root)
    assert message == (
        f"git calls this repository unsafe: fatal: detected dubious ownership in repository at '{project.root}'"
    )
    assert hint == "if you trust it: git config --global --add safe.directory <its path>"
    assert not (project.root / ".git" / "gitckpt").exists()
    project.git("config", "--global", "--add", "safe.directory", str(project.root))
    assert places(project.repository())[0] == str(project.root)


@pytest.mark.parametrize(
    ("variable", "what"), [("HOME", "your home directory"), ("TMPDIR", "the root of the temporary directory")]
)
def test_a_place_that_nobody_means_to_record(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, what: str
) -> None:
    (tmp_path / "link").symlink_to(project.root)
    monkeypatch.setenv(variable, str(tmp_path / "link"))
    assert refusal(project.root / "src") == (
        f"the work tree is {what} ({project.root}): a checkpoint would take in everything there",
        "work in a repository of its own",
    )


def test_below_the_home_directory_is_fine(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(project.root.parent))
    assert places(project.repository())[0] == str(project.root)


def test_without_a_home(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    project.checkpoint("C1")
    assert project.find("C1").missing == []


def test_the_current_directory_is_gone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.root / "gone").mkdir()
    monkeypatch.chdir(project.root / "gone")
    (project.root / "gone").rmdir()
    with pytest.raises(Refused, match="^the current directory has been deleted$"):
        discover()


def test_a_git_directory_that_has_been_moved_away_is_not_planted_again(project: Project) -> None:
    repository = project.repository()
    shutil.move(project.root / ".git", project.root.parent / "elsewhere")
    with pytest.raises(Exception, match="the git directory .* is gone"):
        from gitckpt.repo.worktree import WorkTree

        WorkTree(repository)
    assert not (project.root / ".git").exists()


def test_a_linked_work_tree_whose_repository_was_moved_is_told_what_mends_it(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    moved = Project(project.root.rename(tmp_path / "moved"))
    with pytest.raises(GitFailed) as caught:
        discover(os.fsencode(tmp_path / "linked"))
    assert caught.value.hint.startswith("git worktree repair <its path>, in the main work tree, ")
    moved.git("worktree", "repair", str(tmp_path / "linked"))
    assert discover(os.fsencode(tmp_path / "linked")).common_dir == os.fsencode(tmp_path / "moved" / ".git")
