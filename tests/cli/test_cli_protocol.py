"""`validate`, `prompt`, `context` and `replay`: the protocol without, and with, a repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint, retry

SUMMARY = "===SUMMARY S1 (covers C1-C3)===\nOne thing is done. Another is too. The third is next.\n===END===\n"
COOKING = checkpoint("1", phase="cooking")
FINDING = "P002 `cooking` is no phase; write explore, implement, verify or finish (探索, 实施, 验证, 收尾)\n"


@pytest.fixture
def nowhere(place: Place, tmp_path: Path) -> Place:
    """A directory that is in no repository."""
    directory = tmp_path / "nowhere"
    directory.mkdir()
    return Place(directory, place.env, place.zygote)


# -- validate


def test_a_clean_text_passes_without_a_repository(nowhere: Place) -> None:
    nowhere.write("good.md", checkpoint("1"))
    assert nowhere.ok("validate", "good.md") == (0, b"", "")
    assert nowhere.ok("validate", stdin=checkpoint("1")) == (0, b"", "")
    assert nowhere.ok("validate", "-", stdin=b"\xff\xfe\x00 no text at all") == (0, b"", "")


def test_findings_are_told_by_place_in_each_form(nowhere: Place) -> None:
    nowhere.write("a.md", f"some words\n{COOKING}")
    nowhere.write("b.md", COOKING)
    text = f"a.md:3:1: {FINDING}b.md:2:1: {FINDING}"
    assert nowhere.run("validate", "a.md", "b.md") == (1, text.encode(), "")
    document = nowhere.run("validate", "--format", "json", "a.md", "b.md").json
    assert document["schema"] == "gitckpt.findings/1"
    assert [(f["file"], f["line"], f["code"], f["level"]) for f in document["findings"]] == [
        ("a.md", 3, "P002", "error"), ("b.md", 2, "P002", "error"),
    ]  # fmt: skip
    github = nowhere.run("validate", "--format", "github", "b.md")
    assert (github.status, github.out) == (1, f"::error file=b.md,line=2,col=1,title=P002::{FINDING[5:]}")
    sarif = nowhere.run("validate", "--format", "sarif", "b.md").json
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["P002"]


def test_rules_are_selected_and_ignored(nowhere: Place) -> None:
    text = COOKING + checkpoint("1", hint="回滚")
    codes = {"": ["P002", "P005", "P006"], "--select=P002,P006": ["P002", "P006"], "--ignore=P005": ["P002", "P006"]}
    for option, expected in codes.items():
        answer = nowhere.run("validate", *([option] if option else []), stdin=text)
        assert sorted(line.split(" ")[1] for line in answer.out.splitlines()) == expected
    assert nowhere.run("validate", "--ignore", "P0", stdin=text) == (0, b"", "")


def test_the_configuration_file_selects_unless_the_command_line_does(nowhere: Place) -> None:
    nowhere.write(".gitckpt.yaml", "ignore: [P002]\n")
    assert nowhere.run("validate", stdin=COOKING).status == 0
    assert nowhere.run("validate", "--ignore", "P001", stdin=COOKING).status == 1


def test_strict_wants_blocks_only_and_finished_wants_an_end(nowhere: Place) -> None:
    prose = nowhere.run("validate", "--strict", stdin=f"prose\n{checkpoint('1')}")
    assert (prose.status, prose.out.startswith("<stdin>:1:1: P012 ")) == (1, True)
    unfinished = nowhere.run("validate", "--finished", stdin=checkpoint("1"))
    assert (unfinished.status, unfinished.out.startswith("<stdin>:1:1: P011 ")) == (1, True)


def test_what_cannot_run_is_a_usage_error(nowhere: Place) -> None:
    helped = "\ngitckpt:   → give the path of a file, or - for standard input: gitckpt validate -\n"
    wrong = {
        ("--format", "xml"): "--format 'xml' is none of text, json, github, sarif",
        ("--select", "Q9"): "no rule has the code 'Q9'",
        ("none.md",): f"'none.md' cannot be read: No such file or directory{helped}",
        (".",): f"'.' cannot be read: Is a directory{helped}",
        ("--commit-msg", "none"): f"'none' cannot be read: No such file or directory{helped}",
    }
    for options, said in wrong.items():
        answer = nowhere.run("validate", *options)
        assert (answer.status, answer.out) == (2, "")
        assert said in answer.err


def test_staged_content_is_what_counts(place: Place) -> None:
    place.write("t.md", COOKING)
    place.git("add", "t.md")
    place.write("t.md", checkpoint("1"))
    assert place.run("validate", "--staged") == (1, f"t.md:2:1: {FINDING}".encode(), "")
    place.git("add", "t.md")
    place.write("t.md", COOKING)
    assert place.ok("validate", "--staged") == (0, b"", "")


def test_a_commit_message_is_read_without_its_comments(place: Place) -> None:
    scissors = "# ------------------------ >8 ------------------------\n"
    place.write("message", f"subject\n\n# a comment\n{checkpoint('1')}{scissors}{COOKING}")
    assert place.ok("validate", "--commit-msg", "message") == (0, b"", "")
    place.write("message", f"subject\n\n# a comment\n{COOKING}")
    assert place.run("validate", "--commit-msg", "message") == (1, f"message:5:1: {FINDING}".encode(), "")


def test_the_shipped_hooks_stop_a_commit_that_breaks_the_rules(place: Place) -> None:
    place.git("config", "core.hooksPath", str(Path(__file__).parents[2] / "hooks"))
    place.env["PATH"] = f"{Path(sys.executable).parent}:{place.env['PATH']}"
    place.write("t.md", COOKING)
    place.git("add", "t.md")
    commit = ["git", "commit", "-m", "subject"]
    stopped = subprocess.run(commit, cwd=place.path, env=place.env, capture_output=True, timeout=HANG)
    assert (stopped.returncode, stopped.stdout + stopped.stderr) == (1, f"t.md:2:1: {FINDING}".encode())
    place.write("t.md", checkpoint("1"))
    place.git("commit", "-q", "-a", "-m", "subject")
    assert place.git("log", "-1", "--format=%s") == "subject"


# -- prompt


def test_the_prompt_is_filled_in_and_is_itself_no_block(recorded: Place, nowhere: Place) -> None:
    for language, words in (("en", "## Task\ndo {it}\n"), ("zh", "## 当前任务\ndo {it}\n")):
        prompt = nowhere.ok("prompt", "--task", "do {it}", "--lang", language)
        assert words in prompt.out and prompt.err == ""
        assert recorded.ok("record", stdin=prompt.raw) == (0, b"", "")
    assert "{{task}}" in nowhere.ok("prompt").out
    assert recorded.ids() == ["start", "C1", "C2", "C3"]


def test_the_prompt_to_resume_with_holds_what_was_done(recorded: Place) -> None:
    prompt = recorded.ok("prompt", "--resume", "--lang", "en")
    assert "\n| ===CHECKPOINT 3===\n| phase: implement\n| done: [step 3]\n" in prompt.out
    assert recorded.ok("record", stdin=prompt.raw) == (0, b"", "")
    assert recorded.ids() == ["start", "C1", "C2", "C3"]


def test_an_unknown_language_is_a_usage_error(nowhere: Place) -> None:
    answer = nowhere.run("prompt", "--lang", "fr")
    assert (answer.status, answer.out, "'fr'" in answer.err) == (2, "", True)


# -- context


def test_the_context_is_summaries_and_what_came_after(recorded: Place) -> None:
    recorded.ok("record", stdin=SUMMARY + checkpoint("4", "step 4") + checkpoint("5", "step 5"))
    text = recorded.ok("context").out
    assert text == "\n".join([SUMMARY, *(_as_written(number) for number in ("4", "5"))])
    document = recorded.json("context")
    assert document["schema"] == "gitckpt.context/1"
    assert [[entry["id"] for entry in document[name]] for name in ("summaries", "steps", "latest")] == [
        ["S1"], ["C4"], ["C5"],
    ]  # fmt: skip


def _as_written(number: str) -> str:
    return checkpoint(number, f"step {number}").replace("[go on, tool: edit_file]", "go on, tool: edit_file").replace(
        "[git checkout a.txt]", "git checkout a.txt"
    )  # fmt: skip


def test_a_budget_leaves_out_the_oldest_and_says_so(recorded: Place) -> None:
    text = recorded.ok("context", "--budget", "0").out
    assert text.startswith("(left out: C1-C2; `gitckpt show ID` has each whole)\n\n===CHECKPOINT 3===\n")
    assert recorded.ok("context", "--budget", "10000").out == recorded.ok("context").out
    assert recorded.run("context", "--budget", "-1").status == 2


def test_the_context_is_that_of_the_current_line(recorded: Place) -> None:
    recorded.ok("record", stdin=retry("C1") + checkpoint("2", "another way"))
    document = recorded.json("context")
    assert [entry["id"] for entry in document["steps"] + document["latest"]] == ["C1", "C2"]
    assert document["latest"][0]["fields"]["done"] == ["another way"]


def test_without_a_session_there_is_no_context(place: Place) -> None:
    assert place.ok("context").out.strip() == ""
    assert place.json("context")["latest"] == []


# -- replay

TRANSCRIPT = checkpoint("1", "read", phase="探索") + checkpoint("2", hint="回退到 CHECKPOINT 1，git checkout a.txt")


def test_replay_lists_the_steps_and_tells_one_whole(nowhere: Place) -> None:
    nowhere.write("run.log", TRANSCRIPT)
    assert nowhere.ok("replay", "run.log").out == "C1  explore  read\nC2  implement  changed a.txt\n"
    for name in ("2", "C2", "CHECKPOINT 2"):
        assert nowhere.ok("replay", "-", "--to", name, stdin=TRANSCRIPT).out == (
            "C2\n"
            "phase          implement\n"
            "done           changed a.txt\n"
            "next           go on, tool: edit_file\n"
            "state_ref      current: a.txt\n"
            "rollback_hint  回退到 CHECKPOINT 1，git checkout a.txt\n"
        )
    assert nowhere.json("replay", "run.log", "--to", "2")["state"]["history"] == ["C1", "C2"]


def test_replay_finds_what_a_failed_step_goes_back_to(nowhere: Place) -> None:
    nowhere.write("run.log", TRANSCRIPT)
    assert nowhere.ok("replay", "run.log", "--rollback-target", "C2").out == "C1\n"
    assert nowhere.json("replay", "run.log", "--rollback-target", "2")["target"] == "C1"


def test_replay_of_what_is_not_there(nowhere: Place) -> None:
    answer = nowhere.run("replay", "-", "--to", "9", stdin=TRANSCRIPT)
    assert (answer.status, answer.out) == (3, "")
    assert "no checkpoint '9'; the last are C1, C2\n" in answer.err
    assert nowhere.run("replay", "-", "--rollback-target", "9", stdin=TRANSCRIPT).status == 3
    missing = nowhere.run("replay", "none.log")
    assert (missing.status, missing.err) == (
        2,
        "gitckpt: 'none.log' cannot be read: No such file or directory\n"
        "gitckpt:   → give the path of a file, or - for standard input: gitckpt replay -\n",
    )
    assert nowhere.ok("replay", "-", stdin=b"\xff\x00").out == "no checkpoint in this text\n"


def test_without_earlier_work_the_prompt_says_so_and_has_no_open_slot(place: Place) -> None:
    answer = place.ok("prompt", "--resume", "--lang", "en")
    assert answer.err == "gitckpt: nothing has been recorded here to go on from: the prompt is that of a beginning\n"
    assert "{{prior_context}}" not in answer.out and "(none)" in answer.out


def test_what_an_agent_wrote_is_sent_raw_into_a_pipe_and_never_to_a_terminal(place: Place) -> None:
    place.ok("save", "-m", "a\x1b]0;title\x07b\u202e")
    for command in (["context"], ["prompt", "--resume"], ["show", "C1", "--yaml"]):
        assert not set(place.typed(*command).out) & {"\x1b", "\x07", "\u202e"}
    assert "\x1b]0;title" in place.ok("context").out
