"""Who is recording is seen, as long as he does."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from project import Project

from gitckpt.recorder import Recorder
from gitckpt.repo.live import is_attended


def test_a_session_is_attended_from_its_first_event_to_the_end_of_the_last_recorder(project: Project) -> None:
    private = project.repository().private_dir
    one, other = project.tree(), project.tree()
    assert not is_attended(private, "work")
    Recorder(one, name="work").save("one")
    Recorder(other, name="work").save("two")
    assert is_attended(private, "work") and not is_attended(private, "another")
    one.close()
    assert is_attended(private, "work")
    other.close()
    assert not is_attended(private, "work")
    assert list((project.root / ".git/gitckpt/live").iterdir()) == []


def test_who_dies_or_is_forgotten_attends_no_longer(project: Project) -> None:
    private = project.repository().private_dir
    pid = os.fork()
    if pid == 0:
        Recorder(project.tree(), name="work").save("one")
        os._exit(0)
    os.waitpid(pid, 0)
    assert not is_attended(private, "work")
    Recorder(project.tree(), name="work").save("two")
    gc.collect()
    assert not is_attended(private, "work")


def test_what_stands_in_the_way_stops_no_recording_and_is_not_followed(project: Project, tmp_path: Path) -> None:
    project.checkpoint("C1", session="work")
    place = project.root / ".git/gitckpt/live"
    place.rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "work").write_text("somebody's\n")
    place.symlink_to(tmp_path / "elsewhere")
    project.checkpoint("C2", session="work")
    assert (tmp_path / "elsewhere" / "work").read_text() == "somebody's\n"
    (place / "work").mkdir()
    assert project.checkpoint("C3", session="work").id == "C3"
