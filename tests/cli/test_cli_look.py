"""`status`, `log`, `show`, `diff` and `sessions`: what they tell of the record, and that looking changes nothing."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest
import yaml
from commandline import Place, checkpoint, retry, stable

LOG = (
    "session run  DATE  4 events on main\n"
    "TIME   ▷     start\n"
    "TIME   ● C1  implement  step 1  → go on, tool: edit_file\n"
    "TIME   ● C2  implement  step 2  → go on, tool: edit_file\n"
    "TIME   ● C3  implement  step 3  → go on, tool: edit_file\n"
    "           @ main goes on here, after C3\n"
)


@pytest.fixture
def worked(recorded: Place) -> Place:
    """After C3 a person has edited, added and deleted a file."""
    recorded.write("a.txt", "by hand\n")
    recorded.write("mine.txt", "mine\n")
    (recorded.path / "new1.txt").unlink()
    return recorded


def test_looking_changes_nothing(worked: Place) -> None:
    before = worked.bytes(), worked.users(), worked.git("for-each-ref"), worked.git("count-objects")
    for command in (["log", "--graph", "--stat"], ["show", "C2"], ["diff", "C1", "C2"], ["sessions"], ["context"]):
        worked.ok(*command)
    assert (worked.bytes(), worked.users(), worked.git("for-each-ref"), worked.git("count-objects")) == before


def test_gits_log_of_all_refs_without_checkpoints_is_as_the_readme_says(recorded: Place) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    command = re.search(r"`git (log --exclude=[^`]+)`", readme)
    assert command is not None
    recorded.ok("rollback", "C1", "--yes")
    assert "C1" in recorded.git("log", "--all", "--format=%s")
    words = shlex.split(command.group(1))
    assert recorded.git(*words, "--format=%s") == recorded.git("log", "--format=%s")


# -- status


def test_status_before_anything_is_recorded(place: Place) -> None:
    what = "none here yet: `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand"
    assert place.ok("status") == (0, f"session      {what}\n".encode(), "")
    assert place.ok() == place.ok("status")


def test_status_tells_what_changed_since_and_what_is_not_covered(worked: Place) -> None:
    os.mkfifo(worked.path / "pipe")
    assert worked.ok("status").out == (
        "session      run, line main, open\n"
        "last         C3  implement  step 3\n"
        "changed      3 paths since C3\n"
        "             M a.txt\n"
        "             A mine.txt\n"
        "             D new1.txt\n"
        "not covered  pipe: a FIFO\n"
    )
    document = worked.json("status")
    assert (document["session"], document["line"], document["open"]) == ("run", "main", True)
    assert (document["last"]["id"], document["interrupted"]) == ("C3", None)
    assert [(row["status"], row["path"]) for row in document["changes"]] == [
        ("M", "a.txt"), ("A", "mine.txt"), ("D", "new1.txt"),
    ]  # fmt: skip
    assert document["missing"] == [{"path": "pipe", "reason": "a FIFO"}]


def test_status_names_permission_bits_and_empty_directories_that_a_rollback_would_bring_back(recorded: Place) -> None:
    (recorded.path / "a.txt").chmod(0o600)
    (recorded.path / "hollow").mkdir()
    assert "changed      no content since C3\n" in (told := recorded.ok("status").out)
    assert "permission bits or empty directories: a.txt, hollow/\n" in told
    assert recorded.json("status")["metadata"] == ["a.txt", "hollow/"]
    recorded.ok("rollback", "C3", "--yes")
    assert "changed      nothing since" in recorded.ok("status").out


def test_status_in_a_subdirectory_and_without_an_argument_is_the_same(worked: Place) -> None:
    assert worked.ok(cwd=worked.path / "src") == worked.ok("status")


# -- log


def test_log_before_anything_is_recorded(place: Place) -> None:
    said = "gitckpt: nothing has been recorded in this work tree yet; `gitckpt wrap -- CMD` records an agent\n"
    assert place.ok("log") == (0, b"", said)
    assert place.json("log") == {"schema": "gitckpt.log/1", "session": None, "events": [], "attempts": []}


def test_log_lists_a_session_from_its_first_event(recorded: Place) -> None:
    assert stable(recorded.ok("log").out) == LOG
    assert recorded.ok("log", "--session", "run").out == recorded.ok("log").out
    assert recorded.ok("log", "--events").out == recorded.ok("log").out


def test_log_with_the_files_of_each_event(recorded: Place) -> None:
    assert stable(recorded.ok("log", "--graph", "--stat").out) == (
        "session run  DATE  4 events on main\n"
        "TIME   ▷     start\n"
        "TIME   ● C1  implement  step 1  → go on, tool: edit_file\n"
        "TIME   ● C2  implement  step 2  → go on, tool: edit_file\n"
        "           │   M a.txt\n"
        "           │   A new2.txt\n"
        "           │   changed, not said: new2.txt\n"
        "TIME   ● C3  implement  step 3  → go on, tool: edit_file\n"
        "           │   M a.txt\n"
        "           │   A new3.txt\n"
        "           │   changed, not said: new3.txt\n"
        "           @ main goes on here, after C3\n"
    )


def test_log_of_the_last_events_says_how_many_there_are(recorded: Place) -> None:
    for option in (["-n", "1"], ["-n1"], ["--count", "1"], ["--count=1"]):
        assert stable(recorded.ok("log", *option).out) == (
            "session run  DATE  1 of 4 events on main\n"
            "TIME   ● C3  implement  step 3  → go on, tool: edit_file\n"
            "           @ main goes on here, after C3\n"
        )


def test_log_as_json_is_every_event_oldest_first(recorded: Place) -> None:
    recorded.ok("record", stdin=retry("C1"))
    document = recorded.json("log")
    events = document["events"]
    assert (document["session"], [event["seq"] for event in events]) == ("run", [1, 2, 3, 4, 5])
    assert [(event["kind"], event["id"], event["line"]) for event in events] == [
        ("start", None, "main"), ("checkpoint", "C1", "main"), ("checkpoint", "C2", "main"),
        ("checkpoint", "C3", "main"), ("retry", "R1", "main"),
    ]  # fmt: skip
    assert [event["parent"] for event in events] == [None, *(event["commit"] for event in events[:-1])]
    assert events[2]["files"] == [
        {"status": "M", "path": "a.txt", "old_path": None}, {"status": "A", "path": "new2.txt", "old_path": None},
    ]  # fmt: skip
    assert recorded.ok("log", "--json", "-n", "2").json["events"] == events[-2:]
    assert recorded.ok("log", "--json", "--all").json == {**document, "session": None}


def test_log_of_all_sessions_heads_each_once(recorded: Place) -> None:
    recorded.ok("record", "--session", "second", stdin=checkpoint("1"))
    assert stable(recorded.ok("log", "--all").out) == LOG + (
        "\nsession second  DATE  2 events on main\n"
        "TIME   ▷     start\n"
        "TIME   ● C1  implement  changed a.txt  → go on, tool: edit_file\n"
        "           @ main goes on here, after C1\n"
    )


def test_log_of_an_unknown_session(recorded: Place) -> None:
    for name in ("nope", "", "../x", "run/heads", "*"):
        answer = recorded.run("log", "--session", name)
        assert answer == (3, b"", f"gitckpt: no session {name!r}\ngitckpt:   → gitckpt sessions lists them\n")


def test_log_at_a_terminal_has_colours_and_fits(recorded: Place) -> None:
    recorded.ok("save", "-m", "长" * 200)
    answer = recorded.typed("log")
    assert "\x1b" not in answer.out  # NO_COLOR is set there
    assert all(len(line) + line.count("长") <= 100 for line in answer.out.splitlines())
    coloured = recorded.typed("log", colours=True)
    assert re.sub(r"\x1b\[\d*m", "", coloured.out) == answer.out and "\x1b[32m●" in coloured.out


# -- show


def test_what_was_said_beside_what_was_done(recorded: Place) -> None:
    recorded.write("src/one.py", "1\n")
    recorded.write("src/two.py", "1\n")
    recorded.ok("record", "--session", "run", stdin=checkpoint("4", "wrote src/one.py and src/two.py"))
    recorded.write("src/two.py", "2\n")
    recorded.ok("record", "--session", "run", stdin=checkpoint("5", "rewrote src/one.py"))
    row = recorded.json("log")["events"][-1]
    assert row["claims"] == {"unchanged": ["src/one.py"], "unnamed": ["src/two.py"]}
    assert recorded.json("show", "C5")["claims"] == row["claims"]
    assert recorded.json("log", "-n", "1")["events"][0]["claims"] == row["claims"]
    said = ["said, not changed: src/one.py", "changed, not said: src/two.py"]
    assert [line.strip(" │") for line in recorded.ok("log", "--stat").out.splitlines()[-3:-1]] == said
    assert [line[8:].strip() for line in recorded.ok("show", "C5").out.splitlines()[-2:]] == said


def test_show_tells_an_event_whole(recorded: Place) -> None:
    assert stable(recorded.ok("show", "C2").out) == (
        "● C2  checkpoint  implement\n"
        "session        run, line main, event 3\n"
        "commit         COMMIT\n"
        "at             DATE\n"
        "after          C1 (COMMIT)\n"
        "written as     2\n"
        "\n"
        "phase          implement\n"
        "done           step 2\n"
        "next           go on, tool: edit_file\n"
        "state_ref      current: a.txt\n"
        "rollback_hint  git checkout a.txt\n"
        "\n"
        "git            main at COMMIT\n"
        "               staging: tree: COMMIT\n"
        "files          2 paths changed\n"
        "               M a.txt\n"
        "               A new2.txt\n"
        "claims         changed, not said: new2.txt\n"
    )


def test_show_as_yaml_and_as_json_say_the_same(recorded: Place) -> None:
    record = yaml.safe_load(recorded.ok("show", "C2", "--yaml").raw)
    event = recorded.json("show", "C2")
    assert (record["gitckpt"], record["kind"], record["id"], record["seq"]) == (1, "checkpoint", "C2", 3)
    assert record["fields"] | {"phase": record["phase"], "next": record["next"]} == event["fields"]
    assert (record["git"]["head"], record["git"]["branch"]) == (event["head"], event["branch"])


def test_show_gives_a_file_as_it_was_byte_for_byte(recorded: Place) -> None:
    content = bytes(range(256)) * 3
    recorded.write("dir/all bytes", content)
    recorded.ok("save")
    (recorded.path / "dir" / "all bytes").unlink()
    assert recorded.ok("show", "C4", "--path", "dir/all bytes").raw == content
    assert recorded.ok("show", "C1", "--path", "a.txt").out == "a at C1\n"


def test_paths_are_seen_from_where_one_stands(recorded: Place) -> None:
    src = recorded.path / "src"
    assert recorded.ok("show", "C1", "--path", "b.txt", cwd=src).out == "b as committed\n"
    assert recorded.ok("show", "C1", "--path", "../a.txt", cwd=src).out == "a at C1\n"
    assert recorded.ok("diff", "C1", "C2", "../a.txt", "--stat", cwd=src).out.startswith(" a.txt |")
    assert recorded.ok("diff", "C1", "C2", "b.txt", "--stat", cwd=src).out == ""


def test_the_root_as_a_path_is_all_of_a_difference(recorded: Place) -> None:
    src = recorded.path / "src"
    for place, root in ((recorded.path, "."), (src, "..")):
        assert recorded.ok("diff", "C1", "C2", root, cwd=place).out == recorded.ok("diff", "C1", "C2").out != ""
        assert recorded.json("diff", "C1", "C2", root, cwd=place) == recorded.json("diff", "C1", "C2")
    answer = recorded.run("show", "C1", "--path", ".")
    assert (answer.status, answer.err.splitlines()[0]) == (3, "gitckpt: run/C1 has no file '.'")


def test_a_mistyped_path_does_not_look_like_one_that_has_not_changed(recorded: Place) -> None:
    for command in (["C1", "C2", "none.txt"], ["C1", "a.txt", "none.txt", "--stat"], ["a.txt", "none.txt", "--json"]):
        assert recorded.run("diff", *command).status == 3
    assert recorded.run("diff", "C1", "C2", "none.txt", cwd=recorded.path / "src").err.startswith(
        "gitckpt: neither side of this difference has 'src/none.txt'\ngitckpt:   → paths are meant from where you stand"
    )


def test_a_file_that_is_not_there_or_not_of_the_work_tree(recorded: Place) -> None:
    for path in ("none.txt", "src", ".git/config", ":(top)a.txt", "../elsewhere/a.txt", "/etc/passwd", ""):
        answer = recorded.run("show", "C1", "--path", path)
        assert (answer.status, answer.out) == (3, "")
        assert repr(path) in answer.err


def test_show_of_an_unknown_id(recorded: Place, place: Place) -> None:
    what = "gitckpt: no checkpoint 'C9' here; the nearest are C3, C2, C1\n"
    assert recorded.run("show", "C9") == (3, b"", what + "gitckpt:   → gitckpt log lists them all\n")
    what = "gitckpt: no checkpoint 'C9': nothing has been recorded in this work tree\n"
    assert place.run("show", "C9") == (3, b"", what + "gitckpt:   → gitckpt save records one\n")


def test_work_trees_see_each_others_sessions_only_when_asked(recorded: Place) -> None:
    recorded.git("worktree", "add", "-q", "../other", "-b", "other")
    other = recorded.path.parent / "other"
    assert recorded.run("show", "C1", cwd=other).status == 3
    assert recorded.ok("show", "run/C1", "--all", "--path", "a.txt", cwd=other).out == "a at C1\n"
    assert recorded.json("sessions", cwd=other)["sessions"] == []
    assert "gitckpt sessions --all lists 1 session of other work trees" in recorded.ok("sessions", cwd=other).err
    there = "there is 1 session of other work trees and remotes"
    hint = ["gitckpt sessions --all lists them", "gitckpt log --session run shows the newest"]
    assert "\ngitckpt: ".join([there, *hint]) in recorded.ok("log", cwd=other).err
    assert [line.strip() for line in recorded.ok("status", cwd=other).out.splitlines()[1:]] == [there, *hint]
    answer = recorded.run("report", cwd=other)
    assert (answer.status, answer.err) == (
        2,
        f"gitckpt: nothing has been recorded in this work tree yet; {there}\n"
        f"gitckpt:   → {hint[0]}; gitckpt report --session run shows the newest\n",
    )
    assert "C3" in recorded.ok("log", "--session", "run", cwd=other).out
    assert [row["id"] for row in recorded.ok("sessions", "--all", "--json", cwd=other).json["sessions"]] == ["run"]


# -- diff


def test_diff_with_the_work_tree(worked: Place) -> None:
    assert worked.ok("diff", "--stat").out == (
        " a.txt    |   2 +-\n mine.txt |   1 +\n new1.txt |   1 -\n 3 files changed, 2 insertions(+), 2 deletions(-)\n"
    )
    assert worked.ok("diff", "C3", "a.txt").out == (
        "diff --git a/a.txt b/a.txt\n"
        "index d877da7..304919f 100644\n"
        "--- a/a.txt\n"
        "+++ b/a.txt\n"
        "@@ -1 +1 @@\n"
        "-a at C3\n"
        "+by hand\n"
    )


def test_a_diff_between_checkpoints_is_a_patch_that_git_applies(recorded: Place) -> None:
    recorded.ok("rollback", "C1")
    before = recorded.bytes()
    patch = recorded.ok("diff", "C1", "C3").raw
    (recorded.path.parent / "patch").write_bytes(patch)
    recorded.git("apply", "../patch")
    recorded.ok("rollback", "C3")
    after = recorded.bytes()
    recorded.git("apply", "-R", "../patch")
    assert (recorded.bytes(), recorded.read("a.txt")) == (before, "a at C1\n")
    assert after["a.txt"][2] == b"a at C3\n"


def test_diff_as_json(recorded: Place) -> None:
    document = recorded.json("diff", "C1", "C2")
    assert document == {
        "schema": "gitckpt.diff/1",
        "before": recorded.json("show", "C1")["commit"],
        "after": recorded.json("show", "C2")["commit"],
        "files": [
            {"status": "M", "path": "a.txt", "old_path": None},
            {"status": "A", "path": "new2.txt", "old_path": None},
        ],
    }
    assert recorded.json("diff", "C1", "C2", "new2.txt")["files"] == document["files"][1:]
    assert recorded.ok("diff", "C1", "C1") == (0, b"", "")


def test_a_word_that_is_neither_event_nor_path_is_an_unknown_event(recorded: Place) -> None:
    answer = recorded.run("diff", "C1", "C9")
    assert (answer.status, answer.err.splitlines()[0]) == (
        3, "gitckpt: no checkpoint 'C9' here; the nearest are C3, C2, C1",
    )  # fmt: skip


def test_diff_before_anything_is_recorded(place: Place) -> None:
    what = "gitckpt: nothing has been recorded in this work tree yet\n"
    assert place.run("diff") == (2, b"", what + "gitckpt:   → gitckpt save records a first checkpoint\n")


# -- sessions


def test_sessions_are_listed_oldest_first(recorded: Place) -> None:
    recorded.ok("wrap", "--", "true")
    text = stable(recorded.ok("sessions").out)
    assert [line.split() for line in text.splitlines()] == [
        ["SESSION", "FROM", "TO", "EVENTS", "CHECKPOINTS", "LINES", "SIZE", "AGENT"],
        ["run", "DATE", "open", "4", "3", "1", *text.splitlines()[1].split()[6:8]],
        ["SESSION", "DATE", "DATE", "2", "0", "1", *text.splitlines()[2].split()[6:8], "true"],
    ]
    rows = recorded.json("sessions")["sessions"]
    assert [(row["id"] == "run", row["open"], row["events"], row["agent"]) for row in rows] == [
        (True, True, 4, ""), (False, False, 2, "true"),
    ]  # fmt: skip
    assert all(row["size"] > 0 and row["first"] <= row["last"] for row in rows)


def test_no_sessions(place: Place) -> None:
    assert place.ok("sessions").out == (
        "No sessions here. `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand.\n"
    )
