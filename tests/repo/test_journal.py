"""The journal: refs and commits as plain git sees them, moved in one transaction or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project, retry

from gitckpt.errors import Damaged, GitFailed, UnknownId
from gitckpt.repo.journal import Journal
from gitckpt.repo.reader import Reader
from gitckpt.repo.repository import CURRENT, line_ref, tag_ref
from gitckpt.trajectory.events import Event

#: The root of all sessions is the same object in every repository, now and in every version to come.
ROOT_SHA1 = "3aac266bb28b7fe0c38aebf4f375e95a9271e41a"


def references(project: Project) -> dict[str, str]:
    rows = project.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/gitckpt").splitlines()
    return dict(row.split(" ") for row in rows)


def numbers(events: list[Event]) -> list[tuple[int, str, str | None]]:
    return [(event.seq, event.kind, event.id) for event in events]


def test_what_a_session_is_made_of(project: Project) -> None:
    head = project.git("rev-parse", "HEAD")
    c1 = project.checkpoint("C1", session="run")
    project.write("src/app.py", "two\n")
    c2 = project.checkpoint("C2")
    assert references(project) == {
        "refs/gitckpt/run/heads/main": c2.commit,
        "refs/gitckpt/run/tags/C1": c1.commit,
        "refs/gitckpt/run/tags/C2": c2.commit,
    }
    assert project.git("symbolic-ref", CURRENT) == "refs/gitckpt/run/heads/main"
    history = project.git("log", "--first-parent", "--format=%H %P", c2.commit).splitlines()
    start = c1.parents[0]
    assert history == [
        f"{c2.commit} {c1.commit}",
        f"{c1.commit} {start}",
        f"{start} {ROOT_SHA1} {head}",
        f"{ROOT_SHA1} ",
    ]
    assert project.git("diff", "--name-only", "gitckpt/run/tags/C1", "gitckpt/run/tags/C2") == "src/app.py"


def test_the_root_is_a_constant(project: Project) -> None:
    project.checkpoint("C1")
    assert project.git("cat-file", "-p", ROOT_SHA1) == (
        "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
        "author gitckpt <gitckpt@localhost> 0 +0000\n"
        "committer gitckpt <gitckpt@localhost> 0 +0000\n"
        "\n"
        "gitckpt: the root of all sessions"
    )


def test_git_finds_no_fault_and_porcelain_does_not_see_it(project: Project) -> None:
    look = (
        "branch -a",
        "tag",
        "stash list",
        "reflog",
        "log --branches --tags --remotes --oneline",
        "ls-remote . refs/heads/*",
    )
    before = [project.git(*command.split()) for command in look]
    project.checkpoint("C1")
    project.record(retry("C1"))
    project.write("src/app.py", "two\n")
    project.checkpoint("C2")
    project.roll_back("C1")
    project.undo()
    assert [project.git(*command.split()) for command in look] == before
    project.git("fsck", "--strict", "--no-dangling")


def test_the_identity_is_the_users_and_the_committer_ours(project: Project) -> None:
    project.git("config", "user.name", "Änne <A> B")
    project.git("config", "user.email", "a <b>@example.com")
    project.git("config", "commit.gpgSign", "true")
    event = project.checkpoint("C1")
    seen = project.git("log", "-1", "--format=%an|%ae|%cn|%ce|%G?", event.commit)
    assert seen == "Änne A B|ab@example.com|gitckpt|gitckpt@localhost|N"


def test_without_an_identity_it_is_ours(project: Project) -> None:
    project.git("config", "user.useConfigOnly", "true")
    for name in ("", "   ", "<>", "\n"):
        project.git("config", "user.name", name)
        event = project.checkpoint("C1")
        assert project.git("log", "-1", "--format=%an|%ae", event.commit) == "gitckpt|gitckpt@localhost"


def test_head_is_bound_where_it_changed(project: Project) -> None:
    first = project.git("rev-parse", "HEAD")
    start = project.find(project.checkpoint("C1").parents[0])
    c2 = project.checkpoint("C2")
    project.write("a", "a")
    second = project.commit("second")
    c3 = project.checkpoint("C3")
    c4 = project.checkpoint("C4")
    assert [event.parents[1:] for event in (start, c2, c3, c4)] == [(first,), (), (second,), ()]
    project.git("reset", "-q", "--hard", first)
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert project.git("cat-file", "-t", second) == "commit"
    assert project.held(c3.commit)["a"] == ("100644", b"a")


def test_before_the_first_commit_of_the_user(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "new")
    project.write("a", "a")
    event = project.checkpoint("C1")
    assert (event.git["head"], event.git["branch"]) == (None, "main")
    assert project.find(event.parents[0]).parents[0] == ROOT_SHA1


def test_a_staging_area_of_its_own_is_bound(project: Project) -> None:
    project.write("src/app.py", "staged\n")
    project.git("add", "src/app.py")
    project.write("src/app.py", "later\n")
    event = project.checkpoint("C1")
    commit = event.parents[-1]
    assert project.held(commit)["src/app.py"] == ("100644", b"staged\n")
    assert event.git["staging"] == {"tree": project.git("rev-parse", f"{commit}^{{tree}}"), "commit": commit}
    project.git("reset", "-q", "--hard")
    project.git("gc", "-q", "--prune=now")
    assert project.held(commit)["src/app.py"] == ("100644", b"staged\n")


def test_lines_and_events_read_back_as_they_were_written(project: Project) -> None:
    project.checkpoint("C1", session="one")
    project.checkpoint("C1", session="two")
    project.record(retry("C1"), session="two")
    journal = Journal(project.repository())
    lines = journal.lines()
    assert {name: sorted(tips) for name, tips in lines.items()} == {"one": ["main"], "two": ["main", "retry-2"]}
    assert journal.lines("two") == {"two": lines["two"]}
    assert journal.lines("none") == {}
    assert journal.lines("tw") == {}
    assert journal.tags("two") == {"C1": lines["two"]["retry-2"]}
    assert journal.current() == ("two", "retry-2")
    session = journal.session("two")
    assert numbers(session.events) == [(1, "start", None), (2, "checkpoint", "C1"), (3, "retry", "R1")]
    assert numbers(journal.events([lines["two"]["main"]], 2)) == [(3, "retry", "R1"), (2, "checkpoint", "C1")]
    assert numbers(journal.at({lines["one"]["main"]})) == [(2, "checkpoint", "C1")]
    assert [found.id for found in journal.sessions()] == ["one", "two"]


def test_nothing_is_on_record(project: Project) -> None:
    journal = Journal(project.repository())
    assert (journal.lines(), journal.current(), journal.sessions(), journal.events([])) == ({}, None, [], [])
    assert journal.session("none").events == []
    assert Reader(project.repository()).current_session() is None


def test_reading_creates_and_changes_nothing(project: Project) -> None:
    project.checkpoint("C1")
    before = (project.of_the_user(), references(project), sorted((project.root / ".git").rglob("*")))
    reader = Reader(project.repository())
    session = reader.current_session()
    assert session is not None
    reader.files(session.events, [session])
    reader.find("C1")
    assert (project.of_the_user(), references(project), sorted((project.root / ".git").rglob("*"))) == before


@pytest.mark.parametrize("packed", [False, True])
def test_where_the_refs_are_kept_makes_no_difference(project: Project, packed: bool) -> None:
    project.checkpoint("C1", session="run")
    if packed:
        project.git("pack-refs", "--all")
    project.checkpoint("C2")
    journal = Journal(project.repository())
    assert journal.current() == ("run", "main")
    assert numbers(journal.session("run").events)[1:] == [(2, "checkpoint", "C1"), (3, "checkpoint", "C2")]


def test_refs_move_all_or_none(project: Project) -> None:
    event = project.checkpoint("C1", session="run")
    writer, null = project.tree().writer, project.repository().null_oid
    before = references(project)
    start = event.parents[0]
    a, b, main = line_ref("run", "retry-2"), line_ref("run", "retry-3"), line_ref("run", "main")
    for updates in (
        [(a, start, null), (main, start, start)],
        [(a, start, null), (main, "", start)],
        [(a, start, null), (main, start, null)],
        [(a, start, null), (b, "", start)],
        [(a, start, null), (b, "f" * 40, null)],
        [(a, start, null), (f"{main}/below", start, null)],
    ):
        with pytest.raises(GitFailed):
            writer.publish(updates, "test")
        assert references(project) == before
    writer.publish([(a, start, null), (main, "", event.commit), (tag_ref("run", "C9"), event.commit, "")], "test")
    assert references(project) == before | {a: start, tag_ref("run", "C9"): event.commit}
    writer.publish([(a, null, start)], "test")
    assert references(project) == before | {tag_ref("run", "C9"): event.commit}


def test_no_reflog_of_ours_is_written(project: Project) -> None:
    project.git("config", "core.logAllRefUpdates", "always")
    project.checkpoint("C1")
    project.checkpoint("C2")
    assert [path.name for path in (project.root / ".git" / "logs").rglob("*") if path.is_file()] == ["HEAD", "main"]


def test_a_missing_event_is_damage(project: Project) -> None:
    commits = [project.checkpoint(f"C{number}", session="run").commit for number in (1, 2, 3)]
    path = project.root / ".git" / "objects" / commits[1][:2] / commits[1][2:]
    path.unlink()
    with pytest.raises(Damaged) as caught:
        Journal(project.repository()).session("run")
    assert caught.value.hint == "gitckpt verify names what is missing"


def test_refs_that_somebody_deleted_are_missed(project: Project) -> None:
    project.checkpoint("C1", session="run")
    for name in references(project):
        project.git("update-ref", "-d", name)
    with pytest.raises(
        Damaged, match=r"^session run was being recorded here, and its refs are gone: somebody deleted them$"
    ):
        Reader(project.repository()).current_session()


def test_a_reference_in_the_way_is_a_clear_error_and_nothing_moves(project: Project) -> None:
    project.git("update-ref", "refs/gitckpt/run/heads", "HEAD")
    with pytest.raises(GitFailed, match="refs/gitckpt/run/heads"):
        project.checkpoint("C1", session="run")
    assert list(references(project)) == ["refs/gitckpt/run/heads"]


def test_the_session_of_a_name(project: Project) -> None:
    project.checkpoint("C1", session="run")
    reader = Reader(project.repository())
    assert reader.session("run").id == "run"
    for name in ("none", "", "../run", "run/heads", "-x", "run\n"):
        with pytest.raises(UnknownId) as caught:
            reader.session(name)
        assert (str(caught.value), caught.value.hint) == (f"no session {name!r}", "gitckpt sessions lists them")


def test_what_each_event_changed(project: Project) -> None:
    project.checkpoint("C1", session="run")
    project.write("src/app.py", "two\n")
    project.write("ümlaut\n", "new\n")
    project.remove("README.md")
    project.checkpoint("C2")
    reader = Reader(project.repository())
    session = reader.session("run")
    changed = reader.files(session.events, [session])
    assert [changed[event.commit] for event in session.events] == [
        [],
        [],
        [("D", b"README.md", None), ("M", b"src/app.py", None), ("A", "ümlaut\n".encode(), None)],
    ]
