"""A session carried elsewhere by git alone, and read back there from its refs and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Place
from migration import PROJECT
from recorded_story import Story


@pytest.fixture
def story(through_record: Story, tmp_path: Path) -> Story:
    """The migration as recorded block by block, to be changed."""
    return through_record._replace(place=through_record.place.copy(tmp_path / "work"))


@pytest.fixture
def clone(story: Story, tmp_path: Path) -> Place:
    """A fresh clone, with the sessions fetched as any refs are."""
    story.place.git("clone", "-q", "--no-local", ".", str(tmp_path / "clone"))
    place = Place(tmp_path / "clone", story.place.env, story.place.zygote)
    place.git("fetch", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    return place


def test_the_clone_tells_the_same_story(story: Story, clone: Place) -> None:
    session = ["--session", story.session]
    for command in (["log", "--graph", *session], ["log", "--stat", *session], ["log", "--json", *session]):
        assert clone.ok(*command) == story.place.ok(*command)
    for id in ("C6", "C7", "S2"):
        assert clone.ok("show", f"{story.session}/{id}").out == story.place.ok("show", id).out
        assert clone.json("show", id) == story.place.json("show", id)
    assert clone.ok("context") == story.place.ok("context")
    assert clone.ok("diff", "C1", "C12") == story.place.ok("diff", "C1", "C12")


def test_any_step_can_be_taken_up_in_the_clone(story: Story, clone: Place) -> None:
    untouched = clone.bytes()
    for id in ("C6", "C12"):
        clone.ok("rollback", f"{story.session}/{id}")
        assert clone.bytes() == story.at[id]
    clone.ok("undo")
    clone.ok("undo")
    assert clone.bytes() == untouched
    assert {name: entry[2].decode() for name, entry in untouched.items() if name in PROJECT} == PROJECT


def test_work_goes_on_in_the_clone_and_comes_back(story: Story, clone: Place) -> None:
    clone.ok("rollback", f"{story.session}/C6")
    clone.write("src/api/time.ts", "another way\n")
    clone.ok("save", "-m", "another way")
    clone.git("push", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    assert story.place.json("log")["events"] == clone.json("log")["events"]
    assert [event["line"] for event in story.place.json("log")["events"]].count("rollback-3") == 1
    story.place.ok("rollback", "C13")
    assert story.place.read("src/api/time.ts") == "another way\n"


def test_gc_keeps_what_is_on_record(story: Story) -> None:
    place = story.place
    before = place.json("log")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "-q", "--prune=now")
    assert place.json("log") == before
    place.ok("rollback", "C6")
    assert place.bytes() == story.at["C6"]
