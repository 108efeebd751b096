"""`blame` and `bisect`: which checkpoint wrote a line, and which one broke a command."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint
from test_cli_json import assert_published


def written(place: Place, *arguments: str) -> list[tuple[str | None, str]]:
    """Who wrote each line, and the line."""
    document = place.json("blame", *arguments)
    return [
        ("start" if line["kind"] == "start" else (line["ref"] or "now").rpartition("/")[2], line["text"])
        for line in document["lines"]
    ]


@pytest.fixture
def story(place: Place) -> Place:
    """A file that grows from C1 to C4; at C3 its second line is broken."""
    place.ok("record", "--session", "run", stdin=checkpoint("0", "nothing yet"))
    place.write("list", "one\n")
    place.ok("record", "--session", "run", stdin=checkpoint("1", "one"))
    place.write("list", "one\ntwo\n")
    place.ok("record", "--session", "run", stdin=checkpoint("2", "two"))
    place.write("list", "one\nTWO\nthree\n")
    place.ok("record", "--session", "run", stdin=checkpoint("3", "three and a break"))
    place.write("list", "one\nTWO\nthree\nfour\n")
    place.ok("record", "--session", "run", stdin=checkpoint("4", "four"))
    return place


def test_each_line_has_the_checkpoint_that_wrote_it(story: Place) -> None:
    before, users = story.bytes(), story.users()
    assert written(story, "list") == [("C1", "one"), ("C3", "TWO"), ("C3", "three"), ("C4", "four")]
    assert written(story, "list", "--at", "C2") == [("C1", "one"), ("C2", "two")]
    assert story.ok("blame", "list", "-L", "2,3").out == "C3  2  TWO\nC3  3  three\n"
    assert story.bytes() == before and story.users() == users


def test_lines_since_the_last_checkpoint_are_nobodys_yet(story: Place) -> None:
    story.write("list", "zero\none\nTWO\nthree\nfour\n")
    story.write("new", "a\nb")
    assert written(story, "list")[:2] == [("now", "zero"), ("C1", "one")]
    assert written(story, "new") == [("now", "a"), ("now", "b")]
    assert written(story, "new", "--lines", "2") == [("now", "b")]


def test_the_bytes_on_disk_are_what_counts_whatever_attributes_say(place: Place) -> None:
    place.write(".gitattributes", "* text eol=lf filter=gone\n")
    place.git("config", "filter.gone.clean", "false")
    place.write("f", "a\r\nb\r\n")
    place.ok("save")
    assert [who for who, _ in written(place, "f")] == ["start", "start"]


def test_a_link_is_shown_as_what_it_is_and_never_followed(place: Place, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours\n")
    (place.path / "link").symlink_to(tmp_path / "secret")
    (place.path / "dangling").symlink_to("nowhere")
    place.ok("save")
    assert written(place, "link") == [("start", str(tmp_path / "secret"))]
    (place.path / "new").symlink_to("/dev/zero")
    assert written(place, "new") == [("now", "/dev/zero")] and written(place, "dangling") == [("start", "nowhere")]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["gone"], 3, "there is no file 'gone'"),
        (["list", "--at", "start"], 3, "has no file 'list'"),
        (["list", "-L", "9"], 2, "has 4 lines"),
        (["list", "-L", "0,2"], 2, "has 4 lines"),
        (["list", "-L", "/x/"], 2, "are no lines"),
        (["../list"], 3, "outside of the work tree"),
        (["list", "--at", "C9"], 3, "C9"),
    ],
)
def test_a_file_or_line_that_is_not_there(story: Place, arguments: list[str], status: int, said: str) -> None:
    answer = story.run("blame", *arguments)
    assert answer.status == status and said in answer.err, answer


def test_bisect_finds_the_checkpoint_and_shows_what_it_did(story: Place) -> None:
    before, users = story.bytes(), story.users()
    said = story.ok("bisect", "C2", "C4", "--", "grep", "-q", "two", "list").out
    assert "run/C3 is the first bad one; run/C2 was good" in said
    assert "done: three and a break" in said and "+TWO" in said
    assert story.bytes() == before and story.users() == users
    assert not list(Path(story.env["TMPDIR"]).glob("gitckpt-*")), "the scratch directory is left"


def test_what_was_run_on_the_same_files_is_not_run_again(story: Place, tmp_path: Path) -> None:
    command = ["--", "sh", "-c", f"echo x >> {tmp_path}/runs; grep -q two list"]
    for more, runs in (([], 3), ([], 3), (["--anew"], 6)):
        document = story.ok("bisect", *more, "--json", "C2", "C4", *command).json
        assert document["first_bad"] == "run/C3"
        assert (tmp_path / "runs").read_text().count("x") == runs


def test_the_command_has_the_files_and_no_way_to_the_repository(story: Place, tmp_path: Path) -> None:
    script = f"env > {tmp_path}/env; ls -A > {tmp_path}/files; rm -rf list; grep -q two list || exit 1"
    story.run("bisect", "C1", "C4", "--keep", "--", "sh", "-c", script, env={"GIT_DIR": str(story.path / ".git")})
    given = (tmp_path / "env").read_text()
    assert "GIT_DIR" not in given and "GITCKPT_CHECKPOINT=run/C" in given
    assert "list" in (tmp_path / "files").read_text() and ".git\n" not in (tmp_path / "files").read_text()


@pytest.mark.parametrize("arguments", [["bisect", "C1", "C4"], ["rollback", "--last-green"]])
def test_told_to_end_it_leaves_no_scratch_directory(story: Place, tmp_path: Path, arguments: list[str]) -> None:
    script = f"touch {tmp_path}/begun; exec sleep 600"
    story.git("config", "gitckpt.verify", f"exec sh -c '{script}'")
    process = subprocess.Popen(
        [sys.executable, "-m", "gitckpt", *arguments], cwd=story.path, env=story.env, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + HANG
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.terminate()
    assert process.wait(HANG) == 143
    assert not list(Path(story.env["TMPDIR"]).glob("gitckpt-*")), "the scratch directory is left"


def test_what_came_of_it_is_shown_where_people_look(story: Place) -> None:
    before = story.ok("log").out
    assert "passed" not in before and [e["tests"] for e in story.json("log")["events"]] == [[]] * 6
    story.ok("bisect", "C2", "C4", "--", "grep", "-q", "two", "list")
    told = story.ok("log", "--format", "{id} {tests}").out.splitlines()
    assert told == ["start ", "C0 ", "C1 ", "C2 passed", "C3 failed", "C4 failed"]
    shown = {line.split("●")[1].split()[0]: line for line in story.ok("log").out.splitlines() if "●" in line}
    assert "implement          one" in shown["C1"] and "implement  failed  three and a break" in shown["C3"]
    assert "failed (1): grep -q two list" in story.ok("log", "--stat").out
    assert "tests          passed: grep -q two list" in story.ok("show", "C2").out
    run = {"command": ["grep", "-q", "two", "list"], "status": 1, "result": "failed"}
    for answer, schema in (
        (story.ok("show", "C3", "--json"), "gitckpt.event/1"),
        (story.ok("log", "--json"), "gitckpt.log/1"),
    ):
        assert_published(answer, schema)
    assert story.json("show", "C3")["tests"] == [run]
    assert b'"verdict": "failed"' in story.ok("report", "-o", "-").raw
    # the newer result counts, a line that is torn does not
    with (story.path / ".git" / "gitckpt" / "results.jsonl").open("a") as file:
        file.write(f'\n{{"tree": "{story.git("rev-parse", "refs/gitckpt/run/tags/C3^{tree}")}", ')
        file.write('"command": ["grep", "-q", "two", "list"], "status": 0}\n{"tree": "x", "status": Infinity}\n[[[')
    assert story.json("show", "C3")["tests"] == [run | {"status": 0, "result": "passed"}]


@pytest.mark.parametrize("left", ["ln -s $KEPT files", "mkdir -p files/shut/in; chmod 0 files/shut", "touch files"])
def test_whatever_the_command_makes_of_the_directory_goes_and_nothing_else(
    story: Place, tmp_path: Path, left: str
) -> None:
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    (kept / "inner").chmod(0o751)
    (kept / "file").write_text("kept")
    script = f"grep -q two list; told=$?; cd ..; rm -rf files; KEPT={kept}; {left}; exit $told"
    answer = story.bound("bisect", "C2", "C4", "--", "sh", "-c", script)
    assert answer.status == 0 and "run/C3 is the first bad one" in answer.out, answer
    assert (kept / "file").read_text() == "kept" and (kept / "inner").stat().st_mode & 0o777 == 0o751
    assert not list(Path(story.env["TMPDIR"]).glob("gitckpt-*")), "the scratch directory is left"


def test_one_that_cannot_tell_is_passed_over(story: Place) -> None:
    script = "grep -q three list && ! grep -q four list && exit 125; ! grep -q four list"
    document = story.ok("bisect", "--json", "C1", "C4", "--", "sh", "-c", script).json
    assert document["first_bad"] is None and document["suspects"] == ["run/C3", "run/C4"]
    assert {row["ref"]: row["result"] for row in document["tried"]} == {
        "run/C1": "good", "run/C2": "good", "run/C3": "skipped", "run/C4": "bad",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["C1", "C4", "--", "false"], 1, "does not succeed at run/C1"),
        (["C1", "C4", "--", "true"], 1, "does not fail at run/C4"),
        (["C4", "C1", "--", "true"], 2, "does not lead to"),
        (["C1", "C4"], 2, "which command"),
        (["C1", "C4", "--", "no-such-program"], 127, "command not found"),
        (["C1", "C4", "--", "sh", "-c", "kill -9 $$"], 2, "was killed by signal 9"),
        (["C1", "C9", "--", "true"], 3, "C9"),
    ],
)
def test_a_bisection_that_cannot_be(story: Place, arguments: list[str], status: int, said: str) -> None:
    answer = story.run("bisect", *arguments)
    assert answer.status == status and said in answer.err, answer


def test_rollback_to_the_last_green_one(story: Place) -> None:
    assert story.run("rollback", "--last-green").status == 2
    story.git("config", "gitckpt.verify", "grep -q two list")
    story.ok("rollback", "--last-green", "--yes")
    assert story.read("list") == "one\ntwo\n"
    story.ok("undo")
    assert story.read("list").endswith("four\n")
    story.git("config", "gitckpt.verify", "false")
    before = story.bytes()
    assert story.run("rollback", "--last-green").status == 1
    assert story.bytes() == before
    assert story.run("rollback", "C1", "--last-green").status == 2


def test_a_repositorys_own_file_names_no_command(story: Place) -> None:
    story.write(".gitckpt.yaml", "verify: touch owned\n")
    answer = story.run("rollback", "--last-green")
    assert answer.status == 2 and not (story.path / "owned").exists()
