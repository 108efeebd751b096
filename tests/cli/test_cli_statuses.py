"""Each exit status with a real cause, and what is said: what happened, why, and the command that helps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import HANG, Place, broken_python, checkpoint, retry, stable

# -- 1: done, and the answer is no


def test_1_a_rollback_that_somebody_interferes_with_is_not_called_verified(recorded: Place) -> None:
    writer = 'case " $* " in *" read-tree -m -u "*) "$GIT" "$@" || exit; echo meddled >a.txt; exit;; esac'
    answer = recorded.run("rollback", "C1", env=recorded.before_git(writer))
    assert answer == (
        1,
        b"",
        "gitckpt: the work tree is not as planned after the rollback:\n"
        "  a.txt is not as it was\n"
        "gitckpt:   → gitckpt rollback --continue tries again; gitckpt rollback --abort goes back to where you were\n",
    )
    recorded.ok("rollback", "--continue")
    assert recorded.read("a.txt") == "a at C1\n"


# -- 3: refused, and nothing changed


def test_3_where_no_work_tree_can_be_recorded(place: Place, tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    place.git("clone", "-q", "--bare", ".", "../bare")
    place.git("init", "-q", place.env["HOME"])
    try:
        for directory, said in {
            tmp_path / "nowhere": f"this is not a git repository ({tmp_path / 'nowhere'})\ngitckpt:   → git init",
            tmp_path / "bare": "this is a bare repository: there is no work tree to record\ngitckpt:   → go to a work",
            place.path
            / ".git": "this is inside the git directory, not in a work tree\ngitckpt:   → cd to the work tree",
            Path(place.env["HOME"]): "the work tree is your home directory",
        }.items():
            for command in (["save"], ["status"], ["log"], ["record"], ["rollback", "C1"], ["undo"]):
                answer = place.run(*command, cwd=directory, stdin=checkpoint("1"))
                assert (answer.status, answer.out) == (3, "")
                assert answer.err.startswith(f"gitckpt: {said}")
    finally:
        shutil.rmtree(Path(place.env["HOME"], ".git"))


def test_3_in_a_directory_that_was_deleted(place: Place) -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && exec {sys.executable} -P -m gitckpt status"
    done = subprocess.run(["sh", "-c", script], cwd=place.path, env=place.env, capture_output=True, timeout=HANG)
    assert (done.returncode, done.stderr.decode()) == (
        3, "gitckpt: the current directory has been deleted\ngitckpt:   → cd to a directory that exists\n",
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_3_in_a_repository_of_somebody_else(place: Place) -> None:
    for path in (place.path, place.path / ".git"):
        os.chown(path, 65534, 65534)
    answer = place.run("save")
    assert (answer.status, answer.out) == (3, "")
    assert answer.err.startswith("gitckpt: git calls this repository unsafe: ") and "safe.directory" in answer.err
    assert not (place.path / ".git" / "gitckpt").exists()


# -- 4: git failed


def test_4_where_the_files_cannot_be_written_what_finishes_it_is_told(recorded: Place) -> None:
    complains = 'case " $* " in *" read-tree -m -u "*) echo "error: unable to unlink old a.txt" >&2; exit 128;; esac'
    answer = recorded.run("rollback", "C1", env=recorded.before_git(complains))
    assert (answer.status, answer.out) == (4, "")
    assert answer.err.endswith(
        ": error: unable to unlink old a.txt\n"
        "gitckpt:   → gitckpt rollback --continue finishes it once that can be written; gitckpt rollback --abort goes back\n"
    )
    recorded.ok("rollback", "--continue")
    assert recorded.read("a.txt") == "a at C1\n"


def test_4_where_a_ref_has_the_name_of_a_directory_of_ours(place: Place) -> None:
    place.git("update-ref", "refs/gitckpt", "HEAD")
    answer = place.run("save")
    assert (answer.status, answer.out) == (4, "")
    assert "'refs/gitckpt' exists" in answer.err and "\ngitckpt:   → git branch kept REF" in answer.err
    place.git("branch", "kept", "refs/gitckpt")
    place.git("update-ref", "--no-deref", "-d", "refs/gitckpt")
    place.ok("save")


def test_4_without_git(recorded: Place) -> None:
    for command in (["log"], ["status"], ["save"], ["rollback", "C1"], ["validate", "--staged"]):
        what, help = "git was not found on PATH", "install git 2.30 or newer, and see that `git --version` works"
        assert recorded.run(*command, env={"PATH": "/nonexistent"}) == (
            4,
            b"",
            f"gitckpt: {what}\ngitckpt:   → {help}\n",
        )


def test_without_git_what_needs_none_works(place: Place) -> None:
    for command in (["--version"], ["validate"], ["prompt"], ["replay", "-"], ["--help"]):
        assert place.run(*command, env={"PATH": "/nonexistent"}, stdin=checkpoint("1")).status == 0


def test_4_what_git_says_is_passed_on(recorded: Place) -> None:
    answer = recorded.run("save", env=recorded.before_git('echo "fatal: the disk is on fire" >&2; exit 128'))
    assert (answer.status, answer.out) == (4, "")
    assert "fatal: the disk is on fire" in answer.err and "Traceback" not in answer.err


def test_a_damaged_staging_area_hides_no_history_and_can_be_made_anew(recorded: Place) -> None:
    commands = (["log", "--stat"], ["show", "C2"], ["diff", "C1", "C2"], ["diff", "C1", "C2", "--stat"], ["sessions"])
    before = [recorded.run(*command) for command in commands]
    recorded.write(".git/index", "no index\n")
    assert [recorded.run(*command) for command in commands] == before
    answer = recorded.run("validate", "--staged")
    assert (answer.status, answer.out) == (4, "")
    help = answer.err.partition("→ ")[2].partition(" makes it anew")[0]
    subprocess.run(help, shell=True, cwd=recorded.path, check=True)
    assert recorded.run("validate", "--staged").status == 0


def test_4_a_broken_configuration_of_git_is_named(recorded: Place) -> None:
    recorded.write(".git/config", "[core\n")
    answer = recorded.run("status")
    assert (answer.status, answer.out) == (4, "")
    assert "bad config line 1 in file" in answer.err


def test_4_a_name_that_stands_where_a_folder_must_be(place: Place) -> None:
    place.git("update-ref", "refs/gitckpt/run", "HEAD")
    answer = place.run("save", "--session", "run")
    assert (answer.status, answer.out, "refs/gitckpt/run" in answer.err) == (4, "", True)


# -- 5: history is damaged


def delete_refs(place: Place, prefix: str = "refs/gitckpt") -> None:
    for name in place.git("for-each-ref", "--format=%(refname)", prefix).splitlines():
        place.git("update-ref", "-d", name)


def test_5_refs_were_deleted(recorded: Place) -> None:
    delete_refs(recorded)
    what = "session run was being recorded here, and its refs are gone: somebody deleted them"
    for command in (
        "log", "log -n 3", "log --all", "status", "sessions", "context", "diff", "show C1", "diff C1", "rollback C1",
        "rollback C1 -n", "retry C1 --reason r --strategy s",
    ):  # fmt: skip
        answer = recorded.run(*command.split())
        assert (command, answer.status, answer.out) == (command, 5, "")
        assert answer.err.startswith(f"gitckpt: {what}\ngitckpt:   → ")
    assert recorded.run("log", "--json").json["exit"] == 5
    assert recorded.ok("save", "-m", "a new beginning").status == 0
    assert recorded.ids() == ["start", "C1"]


def test_5_refs_of_the_current_session_were_deleted_and_there_are_older_ones(recorded: Place) -> None:
    recorded.ok("record", "--session", "second", stdin=checkpoint("1"))
    delete_refs(recorded, "refs/gitckpt/second")
    for command in ("log", "status"):
        answer = recorded.run(command)
        assert (command, answer.status, "session second was being recorded here" in answer.err) == (command, 5, True)
    assert recorded.ok("log", "--session", "run").out.startswith("session run ")


def test_5_a_line_was_deleted_and_others_are_left(recorded: Place) -> None:
    recorded.ok("record", "--session", "run", stdin=retry("C2") + checkpoint("3"))
    recorded.git("update-ref", "-d", "refs/gitckpt/run/heads/main")
    for command in (["log"], ["log", "--graph"], ["log", "--all"], ["log", "--json"]):
        answer = recorded.run(*command)
        assert (command, answer.status, answer.err) == (
            command,
            5,
            "gitckpt: 2 events of session run are gone: somebody deleted or moved a ref\n"
            "gitckpt:   → gitckpt verify names what is missing, and the command that helps\n",
        )
        assert "C2" in answer.out and "R1" not in answer.out
    delete_refs(recorded, "refs/gitckpt/run/heads/retry-2")
    recorded.git("update-ref", "refs/gitckpt/run/heads/main", "refs/gitckpt/run/tags/C2")
    assert recorded.run("log", "-n", "1").err.startswith(
        "gitckpt: line retry-2 of session run, which was being recorded here, is gone: somebody deleted or moved a ref\n"
    )


def destroy(place: Place, object_id: str) -> None:
    path = place.path / ".git" / "objects" / object_id[:2] / object_id[2:]
    path.chmod(0o644)
    path.write_bytes(b"rubbish")


def test_5_a_file_of_the_target_is_damaged(recorded: Place) -> None:
    commit = recorded.json("show", "C1")["commit"]
    blob = recorded.git("rev-parse", f"{commit}:a.txt")
    destroy(recorded, blob)
    before, ids = recorded.bytes(), recorded.ids()
    answer = recorded.run("rollback", "C1")
    assert (answer.status, answer.out) == (5, "")
    assert answer.err.startswith(f"gitckpt: object {blob} of the checkpoint is missing or damaged\ngitckpt:   → ")
    assert (recorded.bytes(), recorded.ids()) == (before, ids)
    assert recorded.ok("rollback", "C2").out == "rolled back to C2, 2 paths, verified\n"


def test_5_an_event_is_damaged(recorded: Place) -> None:
    destroy(recorded, recorded.json("show", "C2")["commit"])
    for command in (["log"], ["log", "--all"], ["show", "C2"], ["rollback", "C1"]):
        answer = recorded.run(*command)
        assert (answer.status, answer.out) == (5, "")
        assert answer.err.startswith("gitckpt: the history of a session cannot be read: ")


# -- 70: a fault of ours


def test_70_a_fault_of_ours_leaves_a_report_without_content(recorded: Place) -> None:
    recorded.write("secret-名.txt", "secret content\n")
    recorded.write(os.fsdecode(b"secret-\xff"), "secret content\n")
    recorded.ok("save", "-m", "secret message")
    answer = recorded.process("diff", "C3", "C4", "--stat", env=broken_python(recorded, "unicodedata.east_asian_width"))
    assert (answer.status, answer.out) == (70, "")
    assert answer.err.startswith("gitckpt: this is a fault of gitckpt: ") and "Traceback" not in answer.err
    [report] = [Path(word) for word in answer.err.split() if "gitckpt-fault-" in word]
    text = report.read_text()
    assert "secret" not in text and "in _columns" in text
    assert text.splitlines()[0].startswith("gitckpt 0.") and text.count("  gitckpt/views/text.py:") >= 1
    told = recorded.process("diff", "C3", "C4", "--json", env=broken_python(recorded, "binascii.b2a_base64"))
    assert told.json["exit"] == 70


def test_what_no_session_can_be_called_is_a_usage_error_and_no_agent_runs(place: Place) -> None:
    answer = place.run("wrap", "--session", "../x", "--", "touch", "ran")
    assert (answer.status, "'../x' is no name for a session" in answer.err) == (2, True)
    assert not (place.path / "ran").exists()


def test_staged_files_are_looked_for_in_a_repository(place: Place, tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    answer = place.run("validate", "--staged", cwd=tmp_path / "nowhere")
    assert (answer.status, answer.err.startswith("gitckpt: --staged has nothing to look at: this is not")) == (2, True)


# -- 141 and the like: whoever reads or writes for us is gone


def shell(place: Place, script: str) -> subprocess.CompletedProcess[bytes]:
    """A shell line in which `$GITCKPT` is the command."""
    env = place.env | {"GITCKPT": f"{sys.executable} -P -m gitckpt"}
    return subprocess.run(["sh", "-c", script], cwd=place.path, env=env, capture_output=True, timeout=HANG)


def test_141_the_reader_has_left(recorded: Place) -> None:
    done = shell(recorded, "(sleep 0.2; $GITCKPT log; echo $? >&2) | true")
    assert (done.returncode, done.stderr) == (0, b"141\n")


@pytest.mark.parametrize("command", ["log", "--version"])
def test_a_full_disk_under_standard_output_is_no_fault_of_ours(recorded: Place, command: str) -> None:
    done = shell(recorded, f"$GITCKPT {command} >/dev/full")
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert b"No space left on device" in done.stderr and b"fault" not in done.stderr


def test_what_one_has_no_right_to_is_no_fault_of_ours(recorded: Place) -> None:
    recorded.write(".gitckpt.yaml", "max_file_size: 1M\n", 0)
    answer = recorded.bound("status")
    assert answer.status != 70 and "Permission denied" in answer.err


def test_closed_standard_streams_are_like_dev_null(recorded: Place) -> None:
    for redirection in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = shell(recorded, f"$GITCKPT log {redirection}")
        assert (redirection, done.returncode, done.stderr) == (redirection, 0, b"")
    assert shell(recorded, "$GITCKPT save -m closed <&- >&- 2>&-").returncode == 0
    assert recorded.json("show", "C4")["fields"]["done"] == ["closed"]
    assert shell(recorded, "$GITCKPT record <&-").returncode == 0


# -- before the first commit


def test_a_repository_without_a_commit_is_as_good_as_any(place: Place, tmp_path: Path) -> None:
    place.git("init", "-q", "../fresh")
    fresh = Place(tmp_path / "fresh", place.env, place.zygote)
    fresh.write("a.txt", "first\n")
    fresh.ok("record", stdin=checkpoint("1"))
    fresh.write("a.txt", "second\n")
    fresh.ok("record", stdin=checkpoint("2") + retry("C1"))
    assert fresh.read("a.txt") == "first\n"
    fresh.ok("undo")
    assert fresh.read("a.txt") == "second\n"
    fresh.ok("rollback", "C1", "--scope", "all")
    assert (fresh.read("a.txt"), fresh.json("show", "C1")["head"]) == ("first\n", None)
    assert "git      main, no commit yet\n" in stable(fresh.ok("show", "start").out)
    assert fresh.git("status", "--porcelain") == "?? a.txt"


# -- configuration


WRONG_FILES = {
    "max_file_size: 1M\nbogus: 1\n": ".gitckpt.yaml:2: bogus: ",
    "freeze: sometimes\n": ".gitckpt.yaml:1: freeze: ",
    "# size\n\nmax_file_size: -1\n": ".gitckpt.yaml:3: max_file_size: ",
    "include: '*.log'\n": ".gitckpt.yaml:1: include: ",
    "- a\n- b\n": ".gitckpt.yaml:1: a mapping is wanted",
    "1: 2\n": ".gitckpt.yaml:1: 1: ",
    "a: [\n": ".gitckpt.yaml:2: this is not YAML: ",
    "[" * 20_000: ".gitckpt.yaml",
    "\0": ".gitckpt.yaml: this is not YAML",
}


def test_2_a_wrong_configuration_file_is_named_by_key_and_line(place: Place) -> None:
    for text, said in WRONG_FILES.items():
        place.write(".gitckpt.yaml", text)
        for command in (["save"], ["record"], ["status"] if place.git("for-each-ref", "refs/gitckpt") else ["save"]):
            answer = place.run(*command, stdin=checkpoint("1"))
            assert (answer.status, answer.out) == (2, "")
            assert answer.err.startswith(f"gitckpt: {said}") and "Traceback" not in answer.err
    assert place.git("for-each-ref", "refs/gitckpt") == ""


def test_2_a_configuration_that_is_no_file(place: Place) -> None:
    (place.path / ".gitckpt.yaml").mkdir()
    assert place.run("save").status == 2
    (place.path / ".gitckpt.yaml").rmdir()
    os.mkfifo(place.path / ".gitckpt.yaml")
    assert shell(place, "timeout 5 $GITCKPT save").returncode == 2


def test_2_a_wrong_value_in_gits_configuration_is_named(place: Place) -> None:
    for key, value in {"maxFileSize": "lots", "freeze": "maybe", "onRetry": "never"}.items():
        place.git("config", f"gitckpt.{key}", value)
        answer = place.run("save")
        assert (answer.status, f"git config gitckpt.{key.lower()}: {value!r} is no" in answer.err) == (2, True)
        place.git("config", "--unset", f"gitckpt.{key}")


def test_gits_configuration_wins_over_the_file(place: Place) -> None:
    place.write("big.bin", b"x" * 3000)
    place.write("x.log", "ignored\n")
    place.write(".gitckpt.yaml", "max_file_size: 1K\ninclude: ['*.log']\n")
    place.ok("save")
    assert place.ok("show", "C1", "--path", "x.log").out == "ignored\n"
    assert [missing["path"] for missing in place.json("show", "C1")["coverage"]["missing"]] == ["big.bin"]
    place.git("config", "gitckpt.maxFileSize", "1M")
    place.ok("save")
    assert place.json("show", "C2")["coverage"]["complete"]


def test_no_configuration_in_a_repository_makes_gitckpt_run_a_command(recorded: Place, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external", "pager.log",
        "filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "diff.trap.command", "gpg.program",
    ):  # fmt: skip
        recorded.git("config", key, str(trap))
    recorded.git("config", "commit.gpgSign", "true")
    hooks = recorded.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"):
        shutil.copy(trap, hooks / name)
    recorded.write(".gitattributes", "* filter=trap diff=trap\n")
    recorded.ok("save")
    recorded.ok("rollback", "C1")
    for command in (["undo"], ["log"], ["diff", "C1"], ["status"], ["show", "C4"], ["wrap", "--", "true"]):
        recorded.ok(*command)
    assert not (tmp_path / "sprung").exists()


def test_a_bad_setting_of_ones_own_stops_recording_and_not_the_way_back(recorded: Place) -> None:
    recorded.git("config", "gitckpt.include", "/etc/passwd")
    said = "git config gitckpt.include: '/etc/passwd' is absolute, and patterns are of paths in the work tree"
    assert recorded.run("save").err.startswith(f"gitckpt: {said}\n")
    assert recorded.run("save").status == 2
    answer = recorded.ok("rollback", "C1")
    assert answer.err.startswith(f"gitckpt: {said}; going on without the settings of gitckpt\n")
    assert recorded.read("a.txt") == "a at C1\n"
