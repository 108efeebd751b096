"""The private index begins as the user's, and trusts of it only what is sure to be as on disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import shim
from observation import files_on_disk
from project import Project
from sampling import others_slow
from starting_points import conflict

from gitckpt.recorder import Recorder
from gitckpt.repo import index
from gitckpt.repo.directories import Directories


def test_an_edit_of_the_same_size_in_the_same_second_is_never_missed(home: Path, tmp_path: Path) -> None:
    """Git compares the entry's time with that of the index file: a copy with a new time would lose the edit."""
    missed = []
    for attempt in range(4):
        project = Project.create(tmp_path / f"race-{attempt}")
        project.write("a", "one\n")
        before = (project.root / "a").stat().st_mtime_ns
        project.git("add", "a")
        project.write("a", "two\n")
        os.utime(project.root / "a", ns=(before, before))
        held = project.held(project.snapshot().tree)
        if held != {"a": ("100644", b"two\n")}:
            missed.append(held)
    assert missed == []


def test_the_same_edit_between_two_snapshots_is_never_missed(project: Project) -> None:
    project.write("a", "one\n")
    project.snapshot()
    for content in (b"two\n", b"six\n", b"ten\n"):
        project.write("a", content)
        assert project.held(project.snapshot().tree)["a"] == ("100644", content)


OLD = 1_000_000_000


def write_with_an_old_time(project: Project, content: str) -> None:
    """As an unpacked archive does: the time of the file says nothing."""
    project.write("a", content)
    os.utime(project.root / "a", (OLD, OLD))


def test_an_edit_that_puts_the_time_back_within_a_second_is_never_missed(project: Project) -> None:
    """Same size, same modification time, and a change time of the same second, which is all that git compares."""
    write_with_an_old_time(project, "one\n")
    project.git("add", "a")
    for content in ("two\n", "six\n", "ten\n", "red\n"):
        write_with_an_old_time(project, content)
        assert project.held(project.snapshot().tree)["a"] == ("100644", content.encode())
    recorder = Recorder(project.tree())
    for content in ("two\n", "six\n"):
        write_with_an_old_time(project, content)
        assert project.held(recorder.save("").commit)["a"] == ("100644", content.encode())


@pytest.mark.parametrize("end", [b"\0" * 20, b"x" * 20])
def test_only_an_index_with_its_checksum_is_a_seed(project: Project, end: bytes) -> None:
    """Git may be told to leave the checksum out; one that is wrong is damage."""
    project.write("src/app.py", "changed\n")
    path = project.root / ".git" / "index"
    path.write_bytes(path.read_bytes()[:-20] + end)
    expected = {"src/app.py"} if end == b"\0" * 20 else set()
    assert doubted(project) == expected
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def doubted(project: Project) -> set[str]:
    """The entries of a fresh private index that are to be read again."""
    tree = project.tree()
    directories = Directories(tree.repository.work_tree, tree.raw)

    def look(tracked: set[bytes]) -> Directories:
        directories.look(tracked, [])
        return directories

    index.seed(tree.repository, tree.raw, look)
    return set(tree.raw.text("diff-files", "--name-only").splitlines())


def test_files_that_have_not_changed_are_not_read_again(project: Project) -> None:
    assert doubted(project) == set()
    project.write("README.md", "changed\n")
    assert doubted(project) == {"README.md"}


#: A file that no index has, "" for none; git takes none whose path has a part like `.GIT`.
OTHERS = ["", "new", "src/new", "src/deep/er/new", "README.md/new", ".GIT", "src/.Git/new"]


@pytest.mark.parametrize("path", OTHERS)
def test_git_is_asked_for_other_files_only_where_there_are_some(
    project: Project, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All names have just been read; to have git read each directory once more would cost as much again."""
    project.git("clean", "-dffqx")
    if path.startswith("README.md/"):
        project.remove("README.md")
    if path:
        project.write(path, "of nobody's index\n")
    told = tmp_path / "told"
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, f'echo "$*" >> {told}\nexec "$GIT" "$@"')
        snapshot = project.snapshot()
    assert (" ls-files -z -o " in told.read_text()) == bool(path)
    on_disk = files_on_disk(project.root)
    untaken = [name for name in on_disk if ".git" in name.lower().split("/")]
    assert project.held(snapshot.tree) == {name: entry for name, entry in on_disk.items() if name not in untaken}
    assert [*snapshot.missing] == [os.fsencode(name) for name in untaken]


#: Calls of git of the first snapshot; at each of them the user may stage something.
MOMENTS = ["ls-files -z -s -v", "config --get-regexp", "ls-files -z -c -i", "write-tree", "diff-files"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_is_staged_while_the_private_index_is_made_and_read_is_told_as_it_was_or_is(
    project: Project, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.git("add", "-A")
    before = project.git("write-tree")
    script = f"""
        case "$*" in *"{moment}"*) mkdir $0.done 2>/dev/null &&
        env -u GIT_INDEX_FILE -u GIT_DIR $GIT -C {project.root} rm -q --cached README.md;; esac
        exec $GIT "$@"
    """
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, script)
        tree = project.tree()
        with tree.lock:
            snapshot = tree.snapshotter.take()
            again = tree.snapshotter.take()
    assert (tmp_path / "bin/git.done").exists()
    assert snapshot.staging is not None and again.staging is not None
    after = project.git("write-tree")
    assert snapshot.staging.tree in (before, after) and again.staging.tree == after != before
    for taken in (snapshot, again):
        assert project.held(taken.tree) == files_on_disk(project.root)


def test_only_line_ends_that_were_converted_are_read_again(project: Project) -> None:
    project.git("config", "core.autocrlf", "true")
    project.write("crlf.txt", "one\r\n")
    project.write("lf.txt", "one\n")
    project.git("add", "crlf.txt", "lf.txt")
    assert doubted(project) == {"crlf.txt"}


FILTERED = ("* filter=f\n", {"filter.f.clean": "tr a-z n-za-m", "filter.f.smudge": "tr a-z n-za-m"}, b"same size\n")
LINE_ENDS: tuple[str, dict[str, str], bytes] = ("* text=auto\n", {}, b"one\r\ntwo\r\n")


CONVERTED: list[tuple[str, str, dict[str, str], bytes]] = [
        (".gitattributes", *FILTERED),
        (".gitattributes", *LINE_ENDS),
        (".gitattributes", "* text\n", {}, b"one\r\ntwo\r\n"),
        (".gitattributes", "* eol=crlf\n", {}, b"one\r\ntwo\r\n"),
        (".gitattributes", "* crlf\n", {}, b"one\r\ntwo\r\n"),
        (".gitattributes", "* ident\n", {}, b"$Id: abc $\n"),
        (".gitattributes", "* text working-tree-encoding=UTF-16\n", {}, "wörtlich\n".encode("utf-16")),
        ("", "", {"core.autocrlf": "true"}, b"one\r\ntwo\r\n"),
        ("", "", {"core.autocrlf": "input"}, b"one\r\ntwo\r\n"),
        *((where, *case) for where in ("src/.gitattributes", ".git/info/attributes", "../home/.config/git/attributes")
          for case in (FILTERED, LINE_ENDS)),
        ("../home/named", "* filter=f\n", FILTERED[1] | {"core.attributesFile": "~/named"}, FILTERED[2]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "attributes", "settings", "content"),
    others_slow(CONVERTED, lambda case: CONVERTED.index(case) in (0, 1, 5, 6, 7, 9)),
)
def test_an_entry_whose_blob_is_not_the_file_is_read_again(
    project: Project, where: str, attributes: str, settings: dict[str, str], content: bytes
) -> None:
    check_conversion(project, where, attributes, settings, content)


def check_conversion(project: Project, where: str, attributes: str, settings: dict[str, str], content: bytes) -> None:
    """See that a file which git converts is recorded as it is on disk."""
    for key, value in settings.items():
        project.git("config", "--global", key, value)
    if where:
        project.write(where, attributes)
    project.write("src/converted.txt", content)
    project.git("add", "src/converted.txt")
    os.utime(project.root / "src/converted.txt", ns=(10**18, 10**18))
    project.git("update-index", "-q", "--refresh")
    assert project.git_bytes("cat-file", "blob", ":src/converted.txt") != content
    assert project.git("diff-files", "--name-only", "src/converted.txt") == ""
    assert project.held(project.snapshot().tree)["src/converted.txt"] == ("100644", content)


def test_attributes_that_are_ignored_themselves_are_attributes_all_the_same(project: Project) -> None:
    (project.root / ".git" / "info" / "exclude").write_text(".gitattributes\n")
    check_conversion(project, "src/.gitattributes", *LINE_ENDS)


@pytest.mark.parametrize("flag", ["assume-unchanged", "skip-worktree", "both", "fsmonitor-valid"])
def test_a_flag_that_tells_git_not_to_look_is_not_believed(project: Project, flag: str) -> None:
    for name in ("assume-unchanged", "skip-worktree") if flag == "both" else (flag,):
        project.git("update-index", f"--{name}", "src/app.py")
    before = project.staged()
    project.write("src/app.py", "local\n")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)
    project.write("src/app.py", "later\n")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)
    assert project.staged() == before


@pytest.mark.parametrize("recorded_before", [True, False])
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_flagged_file_that_is_gone_is_gone_and_goes_again(project: Project, flag: str, recorded_before: bool) -> None:
    if recorded_before:
        project.snapshot()
    project.git("update-index", flag, "src/app.py")
    project.remove("src/app.py")
    before = project.disk(), project.staged()
    assert project.held(project.checkpoint("C1").commit) == files_on_disk(project.root)
    project.write("src/app.py", "local\n")
    project.roll_back("C1")
    assert (project.disk(), project.staged()) == before
    project.undo()
    assert project.read("src/app.py") == b"local\n"


def test_paths_outside_a_sparse_checkout_stay_as_head_has_them(project: Project) -> None:
    everything = files_on_disk(project.root)
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    assert not (project.root / "README.md").exists()
    assert project.held(project.snapshot().tree) == everything


def test_a_checkout_that_becomes_sparse_later_deletes_nothing(project: Project) -> None:
    everything = files_on_disk(project.root)
    project.snapshot()
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    project.write("src/app.py", "changed\n")
    assert project.held(project.snapshot().tree) == everything | {"src/app.py": ("100644", b"changed\n")}


def test_paths_outside_a_sparse_checkout_follow_head(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    project.snapshot()
    new = project.git_bytes("hash-object", "-w", "--stdin", data=b"pulled\n").decode().strip()
    project.git(
        "update-index", "--add", "--cacheinfo", f"100644,{new},README.md", "--cacheinfo", f"100644,{new},docs/new"
    )
    project.git("update-index", "--skip-worktree", "README.md", "docs/new")
    held = project.held(project.snapshot().tree)
    assert held["README.md"] == held["docs/new"] == ("100644", b"pulled\n")
    project.git("rm", "-q", "--cached", "--sparse", "docs/new")
    assert "docs/new" not in project.held(project.snapshot().tree)


def test_what_a_sparse_checkout_has_taken_off_the_disk_is_what_the_index_has(project: Project) -> None:
    committed = project.read("README.md")
    project.write("README.md", "edited, and recorded so\n")
    project.snapshot()
    project.write("README.md", committed.decode())
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    assert project.held(project.snapshot().tree)["README.md"] == ("100644", committed)


@pytest.mark.parametrize("recorded_before", [False, True])
def test_a_sparse_checkout_that_is_widened_is_looked_at_again(project: Project, recorded_before: bool) -> None:
    if recorded_before:
        project.snapshot()
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    project.snapshot()
    project.git("sparse-checkout", "disable")
    project.write("README.md", "edited after it came back\n")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def test_a_file_written_outside_the_sparse_checkout_is_content(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    project.snapshot()
    project.write("README.md", "written by hand\n")
    assert project.held(project.snapshot().tree)["README.md"] == ("100644", b"written by hand\n")


def test_unmerged_paths_are_recorded_as_they_are_on_disk(project: Project) -> None:
    conflict(project)
    snapshot = project.snapshot()
    assert project.held(snapshot.tree) == files_on_disk(project.root)
    assert b"<<<<<<<" in project.held(snapshot.tree)["both"][1]


def test_an_intention_to_add_is_no_empty_file(project: Project) -> None:
    project.write("planned.txt", "content\n")
    project.write("empty.txt", "")
    project.git("add", "-N", "planned.txt", "empty.txt")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def test_a_path_that_is_staged_and_gone_is_not_in_the_work_tree(project: Project) -> None:
    project.write("staged.txt", "staged\n")
    project.git("add", "staged.txt")
    project.remove("staged.txt")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def test_a_submodule_entry_is_no_content(project: Project) -> None:
    oid = project.git("rev-parse", "HEAD")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{oid},module")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


@pytest.mark.parametrize(
    "settings", [{"core.splitIndex": "true"}, {"index.version": "4"}, {"core.untrackedCache": "true"}]
)
def test_any_form_of_index_can_be_the_seed(project: Project, settings: dict[str, str]) -> None:
    for key, value in settings.items():
        project.git("config", key, value)
    project.write("staged.txt", "staged\n")
    project.git("add", "staged.txt")
    project.git("update-index", "--force-write-index")
    project.write("src/app.py", "changed\n")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def test_without_an_index_all_is_new(project: Project) -> None:
    (project.root / ".git" / "index").unlink()
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


@pytest.mark.parametrize("recorded_before", [False, True])
def test_an_index_that_cannot_be_read_is_named_and_files_are_recorded(project: Project, recorded_before: bool) -> None:
    if recorded_before:
        project.snapshot()
    project.write(".git/index", "no index\n")
    snapshot = project.snapshot()
    assert project.held(snapshot.tree) == files_on_disk(project.root)
    assert snapshot.missing == {b".git/index": "the staging area cannot be read"}
    assert project.read(".git/index") == b"no index\n"


def test_before_the_first_commit(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "new")
    assert project.held(project.snapshot().tree) == {}
    project.write("a", "a")
    project.git("add", "a")
    project.write("b", "b")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


def test_a_copied_repository_trusts_nothing_of_the_copy(project: Project, tmp_path: Path) -> None:
    """A copy has other inodes; its private index came with it."""
    project.snapshot()
    copy = Project(shutil.copytree(project.root, tmp_path / "copy", symlinks=True))
    copy.write("src/app.py", "changed\n")
    assert copy.held(copy.snapshot().tree) == files_on_disk(copy.root)


def test_a_file_outside_the_sparse_checkout_that_came_and_went_is_as_the_index_has_it(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    before = project.snapshot()
    for again in range(2):
        project.write("README.md", f"mine {again}\n")
        assert project.held(project.snapshot().tree)["README.md"] == ("100644", b"mine %d\n" % again)
        project.remove("README.md")
        assert project.snapshot().tree == before.tree


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_stands_in_the_place_of_a_directory_outside_a_sparse_checkout_is_content(
    project: Project, kind: str
) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/README.md")
    place = project.root / "tests"
    place.write_text("two\n") if kind == "file" else place.symlink_to("src")
    wanted = ("100644", b"two\n") if kind == "file" else ("120000", b"src")
    assert project.held(project.checkpoint("C1").commit)["tests"] == wanted
    project.write("README.md", "staged\n")
    project.git("add", "README.md")
    assert project.held(project.checkpoint("C2").commit)["tests"] == wanted
    place.unlink()
    assert "tests" not in project.held(project.checkpoint("C3").commit)


@pytest.mark.parametrize("target", ["nowhere", "src"])
def test_a_link_that_takes_a_name_outside_the_sparse_checkout_is_content(project: Project, target: str) -> None:
    project.write("tests/app.py", "outside\n")
    project.commit("a file of the same name as one inside")
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    before = project.held(project.snapshot().tree)
    project.link("tests", target)
    for rules in ("*.log\n", "*.log\n*.tmp\n"):
        project.write(".gitignore", rules)
        held = project.held(project.snapshot().tree)
        assert held["tests"] == ("120000", target.encode())
        assert not [path for path in held if path.startswith("tests/")]
    project.remove("tests")
    project.write(".gitignore", "*.log\nbuild/\n")
    assert project.held(project.snapshot().tree) == before
