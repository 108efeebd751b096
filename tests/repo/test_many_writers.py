"""Several recorders at once, in one work tree and in two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from observation import files_on_disk
from project import Project, checkpoint

from gitckpt.recorder import Recorder
from gitckpt.repo.journal import Journal

#: Sixteen processes that wait for each other before they record, so that none is done when the last begins.
RECORD_SIXTEEN = """
import os, sys
from pathlib import Path
from project import Project
project, session = Project(Path(sys.argv[1])), sys.argv[2] or None
gate, opener = os.pipe()
recorders = []
for id in sys.argv[3:]:
    recorders.append(os.fork())
    if recorders[-1] == 0:
        os.close(opener)
        os.read(gate, 1)
        project.checkpoint(id, session=session)
        os._exit(0)
os.close(opener)
print([os.waitpid(recorder, 0)[1] for recorder in recorders])
"""


@pytest.mark.parametrize("session", ["", pytest.param("many", marks=pytest.mark.slow)])
def test_sixteen_recorders_at_once_make_sixteen_checkpoints(project: Project, session: str) -> None:
    project.checkpoint("C0", session="many")
    ids = [f"C{number}" for number in range(1, 17)]
    places = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-c", RECORD_SIXTEEN, str(project.root), session, *ids]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": places}, stdout=subprocess.PIPE, timeout=120)
    assert json.loads(done.stdout) == [0] * 16
    [found] = Journal(project.repository()).sessions()
    chain = found.on_line("main")
    assert sorted(event.id or "" for event in chain[2:]) == sorted(ids)
    assert [event.seq for event in chain] == list(range(1, 19))


def test_two_recorders_that_take_turns_see_each_other(project: Project) -> None:
    one, two = Recorder(project.tree(), name="shared"), Recorder(project.tree(), name="shared")
    events = [recorder.record(checkpoint(f"C{n}")) for n, recorder in enumerate([one, two, one, two, two, one], 1)]
    assert [event.parents[0] for event in events[1:]] == [event.commit for event in events[:-1]]
    assert [event.seq for event in events] == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("between", ["a checkpoint", "a rollback and its undo"])
def test_what_another_process_has_recorded_meanwhile_is_not_taken_for_the_tree_of_ones_own(
    project: Project, between: str
) -> None:
    """The other one leaves an index that fits the disk: nothing differs, and still it is not what was recorded here."""
    lasting = Recorder(project.tree(), name="lasting")
    lasting.record(checkpoint("C1"))
    project.write("README.md", "two\n")
    project.write("new.md")
    if between == "a checkpoint":
        project.checkpoint("C2", session="other")
    else:
        project.roll_back("C1")
        project.undo()
    disk = files_on_disk(project.root)
    assert disk["README.md"][1] == b"two\n"
    assert project.held(lasting.record(checkpoint("C3")).commit) == disk


def test_work_trees_do_not_see_each_others_sessions(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked")
    project.checkpoint("C1", session="here")
    linked.write("src/app.py", "there\n")
    linked.checkpoint("C1", session="there")
    assert [s.id for s in Journal(project.repository()).sessions()] == ["here"]
    assert [s.id for s in Journal(linked.repository()).sessions()] == ["there"]
    assert [s.id for s in Journal(project.repository()).sessions(everywhere=True)] == ["here", "there"]
    assert (Journal(project.repository()).current(), Journal(linked.repository()).current()) == (
        ("here", "main"),
        ("there", "main"),
    )
    project.write("src/app.py", "changed\n")
    project.roll_back("C1")
    assert (project.read("src/app.py"), linked.read("src/app.py")) == (b"import lib\n", b"there\n")
    linked.write("src/app.py", "changed\n")
    linked.roll_back("C1")
    assert linked.read("src/app.py") == b"there\n"
