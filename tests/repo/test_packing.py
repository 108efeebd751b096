"""Packing what is ours: nothing is lost by it, whatever else happens in the store."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shim
from project import Project

from gitckpt.errors import GitFailed
from gitckpt.recorder import Recorder
from gitckpt.repo import upkeep
from gitckpt.repo.packing import MANY_REFS, Packing, loose_objects
from gitckpt.repo.upkeep import packing_state
from gitckpt.repo.worktree import WorkTree

#: Kills whoever calls this command of git, before git does anything.
KILL_AT = 'case "$* " in *"$KILL_AT"*) kill -9 $PPID; exit 1;; esac; exec "$GIT" "$@"'


def record(project: Project, name: str = "work", events: int = 6) -> list[str]:
    """So many checkpoints with two small edits each; their commits."""
    recorder, commits = Recorder(project.tree(), name=name), []
    for number in range(events):
        project.write("src/app.py", f"{name} {number}\n")
        project.write(f"src/lib/{number}.py", f"{name} {number}\n" * 20)
        commits.append(recorder.save(str(number)).commit)
    return commits


def tag_often(project: Project, times: int = MANY_REFS) -> None:
    """So many refs of ours that they are worth packing."""
    rows = "".join(f"create refs/gitckpt/many/tags/C{number} HEAD\n" for number in range(times))
    project.git("update-ref", "--stdin", data=rows.encode())


def pack(project: Project) -> bool:
    return Packing(project.repository()).run()


def objects(project: Project) -> set[str]:
    """Everything in the store, reachable or not."""
    return set(project.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines())


def loose(project: Project) -> set[str]:
    return {name.decode() for name in loose_objects(os.fsencode(project.root / ".git/objects"))}


def packs(project: Project) -> list[str]:
    return sorted(path.name for path in (project.root / ".git/objects/pack").glob("*.pack"))


def refs(project: Project) -> str:
    return project.git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")


def needed_by(project: Project, *commits: str) -> set[str]:
    return set(project.git("rev-list", "--objects", "--no-object-names", *commits).splitlines())


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_what_is_ours_is_packed_and_what_is_the_users_stays_as_it_is(
    template: Path, tmp_path: Path, home: Path, form: str
) -> None:
    project = Project.create(tmp_path / "project", f"--object-format={form}")
    project.write("src/app.py", "first\n")
    project.commit("first")
    project.git("tag", "-a", "-m", "a tag", "v1")
    project.write("staged", "only staged\n")
    project.git("add", "staged")
    mine = loose(project)
    commits = record(project)
    before, known, user = objects(project), refs(project), project.of_the_user()
    assert pack(project)
    assert objects(project) == before
    assert refs(project) == known
    assert len(packs(project)) == 1
    assert loose(project) >= mine - needed_by(project, commits[-1], "^HEAD")
    assert not loose(project) & needed_by(project, commits[-1], "^HEAD")
    after = project.of_the_user()
    assert after.keys() == user.keys()
    assert {name: after[name] for name in user} == user
    project.git("fsck", "--strict")


def test_few_packs_however_often(project: Project) -> None:
    commits = []
    for number in range(3):
        commits += record(project, f"s{number}")
        before = objects(project)
        assert pack(project)
        assert objects(project) == before
    assert len(packs(project)) <= 2
    assert not loose(project) & needed_by(project, *commits, "^HEAD")
    assert sorted(path.name for path in (project.root / ".git/gitckpt/packs").iterdir()) == [
        name.removesuffix(".pack") for name in packs(project)
    ]


def test_what_nothing_refers_to_any_more_is_left_to_git(project: Project) -> None:
    """Somebody may have found it there: `git add` writes nothing that is there."""
    record(project, "gone")
    assert pack(project)
    before = objects(project)
    project.git("add", "-A")
    for name in project.git("for-each-ref", "--format=%(refname)", "refs/gitckpt").splitlines():
        project.git("update-ref", "-d", name)
    record(project, "kept")
    assert pack(project)
    assert objects(project) >= before
    project.git("commit", "-q", "-m", "with what was found there")
    project.git("fsck", "--strict")


def test_packs_of_others_and_those_that_others_have_plans_for_stay(project: Project) -> None:
    record(project, "one")
    assert pack(project)
    [first] = packs(project)
    (project.root / ".git/objects/pack" / first).with_suffix(".keep").write_text("")
    record(project, "two")
    assert pack(project)
    assert first in packs(project) and len(packs(project)) == 2
    project.git("multi-pack-index", "write")
    record(project, "three")
    assert pack(project)
    assert len(packs(project)) == 3
    project.git("multi-pack-index", "verify")
    project.git("gc", "-q", "--prune=now")
    record(project, "four")
    theirs = set(packs(project))
    assert pack(project)
    assert theirs < set(packs(project))
    project.git("fsck", "--strict")


def test_a_store_that_borrows_from_another(project: Project, tmp_path: Path) -> None:
    project.git("clone", "-q", "--shared", str(project.root), str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone")
    borrowed = loose(project)
    commits = record(clone)
    assert pack(clone)
    assert loose(project) == borrowed
    assert not loose(clone) & needed_by(clone, commits[-1], "^HEAD")
    clone.git("fsck", "--strict")


def test_a_partial_clone(project: Project, tmp_path: Path) -> None:
    project.git("config", "uploadpack.allowFilter", "true")
    project.git("clone", "-q", "--filter=blob:none", "--sparse", f"file://{project.root}", str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone")
    commits = record(clone)
    before = set(packs(clone))
    assert pack(clone)
    assert set(packs(clone)) > before
    for commit in commits:
        assert clone.git("show", f"{commit}:src/app.py").startswith("work ")


@pytest.fixture(scope="module")
def recorded(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with one pack of ours and loose objects besides; tests work on copies."""
    project = Project.copy(template, tmp_path_factory.mktemp("packing") / "project")
    record(project, "packed")
    pack(project)
    record(project, "loose")
    tag_often(project)
    return project


def pack_and_die(project: Project, changes: int = 0) -> bool:
    """Pack in a process that is killed before so many changes of directories are made; whether it was killed."""
    repository = project.repository()
    pid = os.fork()
    if pid == 0:
        made = [0]

        def dying(change: Callable[..., None]) -> Callable[..., None]:
            def change_or_die(*arguments: Any, **options: Any) -> None:
                made[0] += 1
                if made[0] == changes:
                    os.kill(os.getpid(), signal.SIGKILL)
                change(*arguments, **options)

            return change_or_die

        os.rename, os.unlink, os.replace = dying(os.rename), dying(os.unlink), dying(os.replace)
        Packing(repository).run()
        os._exit(0)
    return os.waitpid(pid, 0)[1] != 0


def assert_nothing_is_lost(project: Project, original: Project) -> None:
    known = objects(original)
    assert objects(project) == known
    assert refs(project) == refs(original)
    # one that waits: a prune of somebody else's, somewhere on this machine, may be taken for one of this repository
    assert any(pack(project) or time.sleep(0.1) for _ in range(100))
    assert objects(project) == known
    project.git("fsck", "--strict", "--connectivity-only")
    left = [path.name for path in (project.root / ".git/objects").rglob("*") if "tmp" in path.name]
    assert left == [] and not (project.root / ".git/objects/gitckpt-packing").exists()


def test_killed_at_a_call_of_git_nothing_is_lost(
    recorded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, call in enumerate(("pack-refs", "rev-list", "pack-objects", "verify-pack", "show-index")):
        project = Project.copy(recorded.root, tmp_path / str(number))
        with monkeypatch.context() as patch:
            patch.setenv("KILL_AT", f" {call} ")
            shim.install(tmp_path / f"bin{number}", patch, KILL_AT)
            assert pack_and_die(project), call
        assert_nothing_is_lost(project, recorded)


def test_what_git_had_locked_when_it_was_killed_is_freed(recorded: Project, tmp_path: Path) -> None:
    project = Project.copy(recorded.root, tmp_path / "project")
    common = project.root / ".git"
    (common / "gitckpt").mkdir(exist_ok=True)
    (common / "gitckpt" / "packing-refs").write_bytes(b"")  # that it is at work
    names = ["packed-refs.lock", "packed-refs.new", "refs/gitckpt/run/tags/gone.lock", "refs/heads/main.lock"]
    for name in names:
        (common / name).parent.mkdir(parents=True, exist_ok=True)
        (common / name).touch()
    (common / "refs/gitckpt/older.lock").touch()
    os.utime(common / "refs/gitckpt/older.lock", (1, 1))
    assert_nothing_is_lost(project, recorded)
    # what is not of that moment, or no business of ours, is somebody else's
    assert [name for name in [*names, "refs/gitckpt/older.lock"] if (common / name).exists()] == [
        "refs/heads/main.lock",
        "refs/gitckpt/older.lock",
    ]


def test_killed_between_two_changes_nothing_is_lost(recorded: Project, tmp_path: Path) -> None:
    # the names of refs and pack come first, then the pack, then the loose objects go, and last the older pack
    outcomes = []
    for changes in (1, 3, 4, 5, 6, 20, 43, 44, 45, 46, 1000):
        project = Project.copy(recorded.root, tmp_path / str(changes))
        outcomes.append((pack_and_die(project, changes), len(packs(project))))
        assert_nothing_is_lost(project, recorded)
    assert outcomes[0] == (True, 1) and (True, 2) in outcomes and outcomes[-1] == (False, 1)


def test_a_pack_that_is_not_whole_removes_nothing(
    recorded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.copy(recorded.root, tmp_path / "project")
    before = loose(project), packs(project)
    with monkeypatch.context() as patch:
        # all but the last object
        shim.install(
            tmp_path / "bin", patch, 'case "$*" in *pack-objects*) sed \'$d\' | $GIT "$@"; exit;; esac; exec $GIT "$@"'
        )
        with pytest.raises(GitFailed, match="lacks objects; nothing was removed"):
            pack(project)
    assert (loose(project), packs(project)) == before


def test_a_damaged_object_is_not_packed(recorded: Project, tmp_path: Path) -> None:
    project = Project.copy(recorded.root, tmp_path / "project")
    one, other = [project.git("hash-object", f"src/lib/{number}.py") for number in (1, 2)]
    place = project.root / ".git/objects"
    (place / one[:2] / one[2:]).unlink()
    shutil.copy(place / other[:2] / other[2:], place / one[:2] / one[2:])
    before = loose(project), packs(project)
    with pytest.raises(GitFailed, match="verify-pack"):
        pack(project)
    assert (loose(project), packs(project)) == before


def test_only_one_packs_at_a_time_and_none_while_git_collects(recorded: Project, tmp_path: Path) -> None:
    project = Project.copy(recorded.root, tmp_path / "project")
    before = packs(project)
    (project.root / ".git/gc.pid").write_text(f"{os.getpid()} {os.uname().nodename}")
    assert not pack(project)
    assert packs(project) == before
    (project.root / ".git/gc.pid").unlink()
    with (project.root / ".git/gitckpt/packing-lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not pack(project)
    assert packs(project) == before
    assert pack(project)


def test_the_users_refs_are_left_where_they_are(project: Project) -> None:
    record(project, events=2)
    project.git("tag", "-a", "-m", "packed", "packed")
    project.git("pack-refs", "--all")
    project.git("branch", "loose")
    project.git("tag", "-a", "-m", "loose", "later")
    project.checkpoint("C9")
    places = project.root / ".git/refs"
    tag_often(project)
    known = refs(project)
    assert pack(project)
    assert refs(project) == known
    found = sorted(str(path.relative_to(places)) for path in places.rglob("*") if path.is_file())
    assert found == ["heads/loose", "tags/later", "worktree/gitckpt/current"]
    project.git("fsck", "--strict")
    assert project.checkpoint("C9").parents[0] in known


def test_whom_the_repository_is_shared_with_may_read_what_is_packed(project: Project) -> None:
    project.git("config", "core.sharedRepository", "group")
    record(project)
    tag_often(project)
    before = os.umask(0o077)
    try:
        assert pack(project)
    finally:
        os.umask(before)
    [made] = (project.root / ".git/objects/pack").glob("*.pack")
    for path in (made, made.with_suffix(".idx"), project.root / ".git/packed-refs"):
        assert path.stat().st_mode & 0o040, path


def test_what_killed_processes_left_is_removed_when_it_is_old(project: Project) -> None:
    store = project.root / ".git/objects"
    left = [store / "gitckpt-work-linked", store / "pack" / "pack-0.keep"]
    left[0].mkdir()
    left[1].write_text("gitckpt\n")
    (store / "pack" / "pack-1.keep").write_text("somebody's\n")
    assert pack(project)
    assert all(path.exists() for path in left)
    for path in [*left, store / "pack" / "pack-1.keep"]:
        os.utime(path, (0, 0))
    assert pack(project)
    assert not any(path.exists() for path in left)
    assert (store / "pack" / "pack-1.keep").exists()


def run_upkeep(project: Project) -> None:
    command = [sys.executable, "-P", "-m", "gitckpt.repo.upkeep", str(project.root)]
    subprocess.run(command, check=True, timeout=60)


def test_a_failure_is_written_down_where_it_can_be_found(
    recorded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.copy(recorded.root, tmp_path / "project")
    assert packing_state(project.repository()) == {}
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, 'case "$*" in *pack-objects*) exit 7;; esac; exec $GIT "$@"')
        run_upkeep(project)
    assert "exit status 7" in packing_state(project.repository())["failure"]
    run_upkeep(project)
    assert packing_state(project.repository())["failure"] is None
    (project.root / ".git/gitckpt/packing.json").write_text("junk")
    assert packing_state(project.repository()) == {}


def record_long(project: Project) -> WorkTree:
    tree = project.tree()
    recorder = Recorder(tree)
    for number in range(upkeep.EVENTS_ENOUGH):
        project.write("src/app.py", f"{number}\n")
        recorder.save(str(number))
    return tree


def test_nothing_is_packed_where_it_is_switched_off(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "DETACH", '"$@"')
    project.git("config", "gitckpt.pack", "false")
    record_long(project).close()
    assert packs(project) == []
    project.git("config", "gitckpt.pack", "true")
    record_long(project).close()
    assert len(packs(project)) == 1


def test_a_long_recording_is_packed_behind_its_back(project: Project) -> None:
    tree = record_long(project)
    assert not (project.root / ".git/gitckpt/packing.json").exists()
    tree.close()
    deadline = time.monotonic() + 60
    while not (project.root / ".git/gitckpt/packing.json").exists():
        assert time.monotonic() < deadline, "nothing was packed"
        time.sleep(0.05)
    assert json.loads((project.root / ".git/gitckpt/packing.json").read_text())["failure"] is None
    assert len(packs(project)) == 1
