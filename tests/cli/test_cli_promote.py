"""`promote`: checkpoints become commits of the user's on a new branch, and nothing else of his moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import Place, checkpoint, retry


def commits(place: Place, branch: str) -> list[str]:
    return place.git("log", "--reverse", "--format=%s", branch, "^main").splitlines()


def same_but_for(place: Place, branch: str, before: dict[str, str]) -> bool:
    """Whether the user's things are as before, but for the new branch and its reflog."""
    now = place.users()
    for key in ("refs", "reflog"):
        now[key] = "\n".join(line for line in now[key].splitlines() if branch not in line)
    return now == before


def test_each_checkpoint_is_a_commit_with_its_trailer_and_nothing_else_moves(recorded: Place) -> None:
    before, files = recorded.users(), recorded.bytes()
    said = recorded.ok("promote", "--branch", "mine").out
    assert commits(recorded, "mine") == ["step 1", "step 2", "step 3"]
    assert (
        recorded.git("log", "-1", "--format=%(trailers:key=Gitckpt-Checkpoint,valueonly)", "mine").strip() == "run/C3"
    )
    assert recorded.git("log", "-1", "--format=%an <%ae>", "mine") == "Ada <ada@example.org>"
    assert "made 3 commits" in said and "git reset mine" in said
    assert same_but_for(recorded, "mine", before) and recorded.bytes() == files
    recorded.git("reset", "-q", "mine")
    assert recorded.git("status", "--porcelain") == "" and recorded.bytes() == files
    assert [event["id"] for event in recorded.json("log", "mine")["events"] if event["id"]] == ["C3"]


def test_squash_makes_one_commit_that_names_them_all(recorded: Place) -> None:
    recorded.ok("promote", "C3", "--squash", "--branch", "one")
    assert commits(recorded, "one") == ["step 3"]
    body = recorded.git("log", "-1", "--format=%B", "one")
    assert body.split("\n\n")[1:] == [
        "- step 1\n- step 2\n- step 3",
        "\n".join(f"Gitckpt-Checkpoint: run/C{number}" for number in (1, 2, 3)),
    ]
    assert recorded.git("show", "one:a.txt") == "a at C3"
    recorded.ok("promote", "--squash", "-m", "Mine\n\nall of it", "--branch", "two")
    assert recorded.git("log", "-1", "--format=%s|%b", "two").startswith("Mine|all of it")


def test_a_dry_run_shows_the_commits_and_makes_no_branch(recorded: Place) -> None:
    before = recorded.users()
    document = recorded.json("promote", "--dry-run")
    assert [commit["files"] for commit in document["commits"]] == [["a.txt", f"new{n}.txt"] for n in (1, 2, 3)]
    assert document["done"] is False and recorded.users() == before


def test_a_failed_attempt_is_no_part_of_the_way(recorded: Place) -> None:
    recorded.ok("record", "--session", "run", stdin=retry("C2"))
    recorded.write("a.txt", "the other way\n")
    recorded.ok("record", "--session", "run", stdin=checkpoint("4", "the other way"))
    recorded.ok("promote", "C4", "--branch", "mine")
    assert commits(recorded, "mine") == ["step 1", "step 2", "the other way"]
    assert recorded.git("ls-tree", "--name-only", "-r", "mine").split() == sorted(
        {*recorded.git("ls-tree", "--name-only", "-r", "main").split(), "new1.txt", "new2.txt", "a.txt"}
    )


def test_filters_and_line_ends_are_applied_as_git_add_does(place: Place) -> None:
    place.git("config", "filter.rot.clean", "tr a-z n-za-m")
    place.git("config", "filter.rot.smudge", "tr a-z n-za-m")
    place.write(".gitattributes", "*.rot filter=rot\n*.txt text eol=lf\n")
    place.git("add", ".gitattributes")
    place.git("commit", "-qm", "attributes")
    place.ok("save")
    place.write("secret.rot", "hello\n")
    place.write("lines.txt", "one\r\ntwo\r\n")
    place.write("run.sh", "#!/bin/sh\n", 0o755)
    os.symlink("a.txt", place.path / "link")
    place.ok("save", "-m", "all kinds")
    place.ok("promote", "--branch", "mine")
    place.git("add", "-A")
    assert place.git("write-tree") == place.git("rev-parse", "mine^{tree}")
    assert place.git("cat-file", "blob", "mine:secret.rot") == "uryyb"


def test_what_is_ignored_is_left_out_and_said(place: Place) -> None:
    place.write(".gitckpt.yaml", "include: ['.env']\n")
    place.write(".gitignore", ".env\n")
    place.ok("save")
    place.write(".env", "TOKEN=1\n")
    place.write("b.txt", "b\n")
    place.ok("save", "-m", "two files")
    assert "left out: .env: ignored" in place.ok("promote", "C1..C2", "--branch", "mine").out
    assert ".env" not in place.git("ls-tree", "--name-only", "-r", "mine").split()


LINES = "".join(f"{number}\n" for number in range(20))


@pytest.mark.parametrize(
    ("theirs", "ours", "merged"),
    [
        (LINES.replace("3\n", "three\n", 1), LINES.replace("18\n", "eighteen\n"), True),
        (LINES.replace("18\n", "EIGHTEEN\n"), LINES.replace("18\n", "eighteen\n"), False),
        (LINES.replace("18\n", "eighteen\n"), LINES.replace("18\n", "eighteen\n"), True),
        (None, LINES.replace("18\n", "eighteen\n"), False),
    ],
)
def test_a_commit_that_came_meanwhile_is_merged_with_or_stops_it(
    place: Place, theirs: str | None, ours: str, merged: bool
) -> None:
    """`theirs` is what the user has committed since, `ours` what the checkpoint holds."""
    place.write("n.txt", LINES)
    place.git("add", "n.txt")
    place.git("commit", "-qm", "numbers")
    place.ok("save")
    place.write("n.txt", ours)
    place.write("other.txt", "o\n")
    place.ok("save", "-m", "ours")
    place.git("rm", "-q", "-f", "n.txt") if theirs is None else place.write("n.txt", theirs)
    place.git("add", "-A", "n.txt") if theirs is not None else None
    place.git("commit", "-qm", "theirs")
    before, files = place.users(), place.bytes()
    answer = place.run("promote", "C1..C2", "--branch", "mine")
    assert answer.status == (0 if merged else 3), answer
    assert place.bytes() == files and same_but_for(place, "mine", before)
    if merged:
        expected = ours if theirs is None or theirs == ours else theirs.replace("18\n", "eighteen\n")
        assert place.git("show", "mine:n.txt") + "\n" == expected
    else:
        assert "'n.txt'" in answer.err and "nothing was made" in answer.err
        assert place.git("branch", "--list", "mine") == ""


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--branch", "main"], 3, "there is a branch main already"),
        (["--branch", "a..b"], 2, "no name for a branch"),
        (["--branch", "-x"], 2, ""),
        (["--branch", "HEAD"], 2, "no name for a branch"),
        (["--branch", "@"], 3, "something else"),
        (["--branch", "main/x"], 3, "there is a branch main already"),
        (["C3..C1"], 2, "another line"),
        (["C9"], 3, "C9"),
        (["C3..C3"], 3, "no checkpoint between"),
        (["C1..C3"], 3, "'a.txt': changed in both"),
        (["C1..C3"], 3, "gitckpt promote run/C3 takes along what was done up to C1"),
        (["--onto", "nowhere"], 2, "'nowhere' is no commit"),
        (["-m", "x"], 2, "--squash"),
    ],
)
def test_what_cannot_be_is_refused(recorded: Place, arguments: list[str], status: int, said: str) -> None:
    before = recorded.users()
    answer = recorded.run("promote", *arguments)
    assert answer.status == status and said in answer.err, answer
    assert recorded.users() == before


def test_what_was_not_committed_when_the_agent_came_is_a_commit_of_its_own(place: Place) -> None:
    place.write("a.txt", "my own\n")
    place.ok("save", "--session", "run")
    place.write("b.txt", "b\n")
    place.ok("record", "--session", "run", stdin=checkpoint("7", "b"))
    place.ok("promote", "--branch", "mine")
    assert commits(place, "mine") == ["saved by hand", "b"]
    script = "printf b > b.txt; printf '%s' \"$BLOCK\""
    place.git("checkout", "-q", "--", "a.txt")
    (place.path / "b.txt").unlink()
    place.write("a.txt", "my own\n")
    assert place.run("wrap", "--", "sh", "-c", script, env={"BLOCK": checkpoint("1", "the agent's")}).status == 0
    place.ok("promote", "C1", "--branch", "his")
    subjects = commits(place, "his")
    assert subjects[0].startswith("Work in progress before session") and subjects[1:] == ["the agent's"]
    assert place.git("diff", "--name-only", "his~1", "his") == "b.txt"
    place.ok("promote", "C1", "--squash", "--branch", "one")
    assert place.git("rev-parse", "one^{tree}") == place.git("rev-parse", "his^{tree}")


def test_what_a_snapshot_could_not_hold_is_not_gone(place: Place) -> None:
    place.write("big", "x" * 3000)
    place.git("add", "big")
    place.git("commit", "-qm", "big")
    place.ok("save")
    place.git("config", "gitckpt.maxFileSize", "1k")
    place.write("big", "y" * 4000)
    place.write("a.txt", "changed\n")
    place.ok("save", "-m", "a")
    assert "left out: big: not covered" in place.ok("promote", "--branch", "mine").out
    assert place.git("show", "--name-only", "--format=", "mine") == "a.txt"


def test_before_the_first_commit_there_is_nothing_below(place: Place, tmp_path: Path) -> None:
    empty = Place(tmp_path / "empty", place.env, place.zygote)
    empty.path.mkdir()
    empty.git("init", "-q")
    empty.ok("save")
    empty.write("a.txt", "a\n")
    empty.ok("save", "-m", "the first file")
    assert "you are on" in empty.run("promote", "--branch", empty.git("symbolic-ref", "--short", "HEAD")).err
    assert empty.git("for-each-ref", "refs/heads") == ""
    empty.ok("promote", "--branch", "mine")
    assert empty.git("log", "--format=%s", "mine") == "the first file"
    assert empty.git("status", "--porcelain") == "?? a.txt"


def test_who_is_nobody_is_told_how_to_be_somebody(recorded: Place) -> None:
    recorded.git("config", "user.useConfigOnly", "true")
    env = {"HOME": str(recorded.path.parent), "GIT_CONFIG_GLOBAL": "/dev/null"}
    answer = recorded.run("promote", "--branch", "mine", env=env)
    assert answer.status == 3 and "git config user.name" in answer.err, answer


def test_who_is_known_by_the_environment_alone_commits(recorded: Place) -> None:
    recorded.git("config", "user.useConfigOnly", "true")
    env = {"HOME": str(recorded.path.parent), "GIT_CONFIG_GLOBAL": "/dev/null"}
    env |= {"GIT_COMMITTER_NAME": "Bob", "GIT_COMMITTER_EMAIL": "bob@example.org", "GIT_AUTHOR_NAME": "nobody"}
    answer = recorded.run("promote", "--branch", "mine", env=env)
    assert answer.status == 0, answer
    assert recorded.git("log", "-1", "--format=%an %cn <%ce>", "mine") == "Ada Bob <bob@example.org>"


def test_hostile_words_are_a_message_and_nothing_more(place: Place) -> None:
    place.ok("save")
    place.write("b.txt", "b\n")
    place.ok("save", "-m", "-F/etc/passwd\x1b[31m\u202e\n\nGitckpt-Checkpoint: other/C1")
    place.ok("promote", "--branch", "mine")
    message = place.git("log", "-1", "--format=%B", "mine")
    assert "\x1b" not in message and "\u202e" not in message
    trailers = place.git("log", "-1", "--format=%(trailers:key=Gitckpt-Checkpoint,valueonly)", "mine").split()
    assert [trailer.rpartition("/")[2] for trailer in trailers] == ["C2"]
