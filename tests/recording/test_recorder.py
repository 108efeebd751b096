"""The write path: which session a block goes to, what a RETRY does, and that nothing of the user's changes."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from observation import differences, files_on_disk, traces
from project import Project, checkpoint, retry

from gitckpt.errors import Refused, UsageError
from gitckpt.protocol.blocks import Block
from gitckpt.recorder import Recorder, agent_record, new_session_id
from gitckpt.repo.journal import Journal
from gitckpt.repo.snapshot import Snapshot
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session


def session(project: Project, id: str) -> Session:
    return Journal(project.repository()).session(id)


def story(session: Session, line: str = "main") -> list[str]:
    return [event.id or event.kind for event in session.on_line(line)]


def block(kind: str, **fields: object) -> Block:
    return Block(kind, None, "", dict(fields))  # type: ignore[arg-type]


def test_the_first_block_opens_a_session(project: Project) -> None:
    event = project.checkpoint("C1")
    assert re.fullmatch(r"\d{8}-\d{6}-[a-z0-9]{4}", event.session)
    found = session(project, event.session)
    assert story(found) == ["start", "C1"]
    assert project.held(found.events[0].commit) == files_on_disk(project.root)
    assert Journal(project.repository()).current() == (event.session, "main")


def test_opening_records_the_state_before_the_agent(project: Project) -> None:
    recorder = Recorder(project.tree(), alone=True, agent=agent_record(["agent", "--go", "\udcff"]))
    opened = recorder.open()
    assert recorder.open() is opened is recorder.session
    [start] = session(project, opened.id).events
    assert (start.kind, start.subject) == ("start", "start: agent --go ?")
    assert start.document["agent"]["command"] == ["agent", "--go", "?"]


def test_what_an_event_says(project: Project) -> None:
    project.write("new", "x", 0o600)
    (project.root / "empty").mkdir()
    event = project.find(project.checkpoint("C1", done=["a"], next="b", rollback_hint="回退到 C0").commit)
    assert (event.kind, event.id, event.seq, event.phase, event.next) == ("checkpoint", "C1", 2, "implement", "b")
    assert event.fields == {"phase": "implement", "done": ["a"], "next": "b", "rollback_hint": "回退到 C0"}
    assert (event.missing, event.document["modes"], event.document["empty"]) == ([], {"600": ["new"]}, ["empty"])
    head = project.git("rev-parse", "HEAD")
    tree = project.git("rev-parse", "HEAD^{tree}")
    assert event.git == {"head": head, "branch": "main", "staging": {"tree": tree}}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event.at)


def test_what_is_not_covered_is_in_the_record(project: Project) -> None:
    project.git("config", "gitckpt.maxFileSize", "10")
    project.write("big", b"x" * 11)
    project.write("\udcff", b"x" * 11)
    event = project.checkpoint("C1")
    reason = "larger than max_file_size (11 of 10 bytes)"
    assert event.missing == [{"path": "big", "reason": reason}, {"path": {"b64": "/w=="}, "reason": reason}]
    assert event.flag == "2 paths not covered"


@pytest.mark.parametrize("durable", ["true", "false"])
def test_waiting_for_the_disk_changes_nothing_else(project: Project, durable: str) -> None:
    project.git("config", "gitckpt.durable", durable)
    project.write("src/app.py", "changed\n")
    assert project.held(project.checkpoint("C1").commit) == files_on_disk(project.root)
    config = project.read(".git/gitckpt/config").decode()
    assert f"fsync = {'committed,reference' if durable == 'true' else 'none'}\n" in config


def test_a_session_goes_on_until_it_is_closed(project: Project) -> None:
    first = project.checkpoint("C1")
    assert project.checkpoint("C2").session == first.session
    project.record(block("final", result="done"))
    second = project.checkpoint("C1")
    assert second.session != first.session
    tree = project.tree()
    Recorder(tree).note("end", "end: exit status 0", {"agent": {"status": 0}})
    assert project.checkpoint("C1").session not in (first.session, second.session)


def test_a_rollback_opens_a_closed_session_again(project: Project) -> None:
    first = project.checkpoint("C1")
    project.record(block("final", result="done"))
    project.roll_back("C1")
    assert project.checkpoint("C2").session == first.session
    assert story(session(project, first.session), "rollback-2") == ["start", "C1", "C2"]


def test_a_name_makes_or_finds_a_session(project: Project) -> None:
    project.checkpoint("C1", session="one")
    project.checkpoint("C1", session="two")
    assert project.checkpoint("C2", session="one").session == "one"
    assert project.checkpoint("C3").session == "one"


@pytest.mark.parametrize("name", ["", "../x", "a/b", "-x", "a..b", "x.lock", "a b", "名", "x" * 65, "a\n"])
def test_a_name_that_is_no_name_is_refused(project: Project, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        Recorder(project.tree(), name=name)
    assert caught.value.hint == "letters, digits, `.`, `_` and `-`; 64 at most"


def test_another_work_trees_session_is_refused(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    project.checkpoint("C1", session="here")
    with pytest.raises(Refused, match="^session 'here' belongs to another work tree$"):
        Project(tmp_path / "linked").checkpoint("C1", session="here")


def test_one_that_works_alone_keeps_to_its_session(project: Project) -> None:
    alone = Recorder(project.tree(), alone=True)
    first = alone.record(checkpoint("C1"))
    other = project.checkpoint("C1", session="other")
    assert alone.record(checkpoint("C2")).session == first.session != other.session


def test_a_session_whose_refs_are_gone_is_followed_by_a_new_one(project: Project) -> None:
    first = project.checkpoint("C1", session="gone")
    for name in project.git("for-each-ref", "--format=%(refname)", "refs/gitckpt").splitlines():
        project.git("update-ref", "-d", name)
    second = project.checkpoint("C1")
    assert second.session != first.session
    assert story(session(project, second.session)) == ["start", "C1"]


def test_events_that_are_lost_meanwhile_leave_a_gap_that_is_told(project: Project) -> None:
    recorder = Recorder(project.tree(), alone=True)
    first = recorder.record(checkpoint("C1"))
    assert recorder.account.uncovered() == []
    project.remove(".git")
    project.git("init", "-q", "-b", "main", "--template=")
    second = recorder.record(checkpoint("C2"))
    assert (second.session, second.seq) == (first.session, first.seq + 1)
    assert recorder.record(checkpoint("C3")).seq == first.seq + 2
    assert session(project, first.session).lost == 2
    [told] = recorder.account.uncovered()
    assert told.startswith("no longer on record: 2 events from before: somebody deleted or moved a ref, or replaced")


def test_a_checkpoint_by_hand(project: Project) -> None:
    recorder = Recorder(project.tree())
    first, second = recorder.save("before lunch"), recorder.save("")
    assert [(e.id, e.subject, e.phase, e.next) for e in (first, second)] == [
        ("C1", "C1: before lunch", "", ""),
        ("C2", "C2: saved by hand", "", ""),
    ]
    assert (first.document["by_hand"], first.fields["done"], second.fields) == (True, ["before lunch"], {})


def test_an_id_may_come_again(project: Project) -> None:
    first = project.checkpoint("C1", session="s")
    project.write("src/app.py", "two\n")
    second = project.checkpoint("C1")
    assert project.git("rev-parse", "refs/gitckpt/s/tags/C1") == second.commit
    assert (project.find("C1").commit, project.find("C1~1").commit) == (second.commit, first.commit)


def test_ids_that_are_none_are_kept_under_others(project: Project) -> None:
    ids = ["../heads/main", "--help", "a b", "x.lock", "", "C1\n"]
    recorder = Recorder(project.tree(), name="s")
    events = [recorder.record(Block("checkpoint", None, written, {"done": ["x"]})) for written in ids]
    assert all(re.fullmatch("x[0-9a-f]{10}", event.id or "") for event in events)
    assert [project.find(event.id or "").written for event in events] == ids
    assert sorted(Journal(project.repository()).tags("s")) == sorted({event.id for event in events})


def test_only_checkpoints_are_tagged(project: Project) -> None:
    project.checkpoint("C1", session="s")
    project.record(block("summary", text="One. Two. Three."))
    project.record(retry("C1"))
    Recorder(project.tree()).note("auto", "auto", {})
    project.record(block("final", result="done"))
    assert list(Journal(project.repository()).tags("s")) == ["C1"]


def test_a_snapshot_is_taken_inside_of_what_surrounds_it(project: Project) -> None:
    seen: list[str] = []

    def stopped(take: object) -> Snapshot:
        seen.append("stop")
        snapshot = take()  # type: ignore[operator]
        seen.append("go on")
        assert isinstance(snapshot, Snapshot)
        return snapshot

    recorder = Recorder(project.tree(), around=stopped)
    recorder.record(checkpoint("C1"))
    recorder.record(retry("C1"))
    assert seen == ["stop", "go on"] * 2


def every_kind_of_recording(project: Project) -> list[Event]:
    recorder = Recorder(project.tree())
    events = [recorder.record(checkpoint("C1")), recorder.save("by hand"), recorder.note("auto", "auto", {})]
    events += [
        recorder.record(block("summary", text="a")),
        recorder.record(retry("C1")),
        recorder.record(block("final")),
    ]
    recorder.tree.close()
    return events


@pytest.mark.parametrize("touched", ["nothing", "everything"])
def test_nothing_of_the_users_changes(project: Project, touched: str) -> None:
    """HEAD, references, configuration, reflogs, the index to the byte and the nanosecond, every file and its times."""
    if touched == "everything":
        project.write("src/app.py", "staged\n")
        project.git("add", "src/app.py")
        project.write("src/app.py", "changed\n")
        project.write("new", "x", 0o600)
        project.write("stashed", "x")
        project.git("stash", "push", "-q", "-u", "stashed")
        project.remove("README.md")
        project.link("link", "nowhere")
        (project.root / "empty").mkdir()
        project.git("tag", "-a", "v1", "-m", "v1")
        project.git("checkout", "-q", "--detach")
        project.write(".git/ORIG_HEAD", project.git("rev-parse", "HEAD"))
    before = project.of_the_user(), project.disk(), traces(project.root), project.status()
    assert len(every_kind_of_recording(project)) == 6
    assert differences(before[0], project.of_the_user()) == {}
    assert (project.disk(), traces(project.root), project.status()) == before[1:]


def test_an_index_whose_stat_data_are_old_is_not_refreshed(project: Project) -> None:
    for path in ("src/app.py", "README.md"):
        (project.root / path).touch()
    before = project.of_the_user()
    every_kind_of_recording(project)
    assert differences(before, project.of_the_user()) == {}


def test_ids_of_sessions_sort_by_time_and_differ() -> None:
    ids = [new_session_id() for _ in range(20)]
    assert len(set(ids)) == 20
    assert ids[0][:15] <= time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    assert all(re.fullmatch(r"\d{8}-\d{6}-[a-z0-9]{4}", id) for id in ids)
