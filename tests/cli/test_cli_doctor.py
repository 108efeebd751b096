"""`gitckpt doctor`: each check with something to find, and nothing to mend where all is well."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from commandline import Place, checkpoint

from gitckpt.views.schemas import MODELS


def remarks(
    place: Place, check: str = "", cwd: Path | None = None, env: dict[str, str] | None = None
) -> list[tuple[str, str, str]]:
    """Level, message and help of what a check, or every check, has to say."""
    answer = place.run("doctor", "--json", cwd=cwd, env=env)
    MODELS["gitckpt.doctor/1"].model_validate_json(answer.raw)
    assert answer.status == (0 if answer.json["healthy"] else 1)
    return [(r["level"], r["message"], r["help"]) for r in answer.json["checks"] if not check or r["check"] == check]


def write(place: Place, name: str, content: str, mode: int = 0o644) -> None:
    path = place.path / ".git" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    path.chmod(mode)


def left_lock(name: str) -> Callable[[Place], None]:
    def leave(place: Place) -> None:
        write(place, name, "")
        os.utime(place.path / ".git" / name, (1_700_000_000, 1_700_000_000))

    return leave


def interrupted(place: Place) -> None:
    stopped = place.before_git('case " $* " in *" read-tree -m -u "*) exit 128;; esac')
    assert place.run("rollback", "C1", env=stopped).status == 4


def of_the_future(place: Place) -> None:
    content = place.git("cat-file", "commit", "refs/gitckpt/run/heads/main").replace('at: "20', 'at: "29')
    (place.path.parent / "forged").write_text(content + "\n")
    oid = place.git("hash-object", "-t", "commit", "-w", str(place.path.parent / "forged"))
    place.git("update-ref", "refs/gitckpt/run/heads/main", oid)


def without_refs(place: Place) -> None:
    place.git("symbolic-ref", "refs/worktree/gitckpt/current", "refs/gitckpt/run/heads/main")
    blob = place.git("rev-parse", "refs/gitckpt/run/tags/C2")
    (place.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


class Case(NamedTuple):
    """What is amiss, and what is said of it."""

    amiss: Callable[[Place], object]
    check: str
    level: str
    said: str
    help: str


CASES = {
    "a world-writable git directory": Case(
        lambda place: (place.path / ".git").chmod(0o777), "writers", "mend", "anybody may write into ", "chmod -R o-w "
    ),
    "a lock of git": Case(left_lock("index.lock"), "locks", "mend", "a lock of git was left behind: ", "rm "),
    "a lock on a ref": Case(left_lock("refs/gitckpt/run/heads/main.lock"), "locks", "mend", "a lock of git was left behind: ", "rm "),
    "an interrupted rollback": Case(interrupted, "interrupted", "mend", "a rollback to run/C1 was interrupted", "gitckpt rollback --continue"),
    "a merge under way": Case(lambda place: write(place, "MERGE_HEAD", ""), "interrupted", "note", "a merge of git is under way", "git status"),
    "a clock that was put back": Case(of_the_future, "clock", "mend", "the newest event is of 29", "date -u"),
    "a wrong configuration": Case(lambda place: place.write(".gitckpt.yaml", "bogus: 1\n"), "settings", "mend", ".gitckpt.yaml:1: bogus: ", "the settings are "),
    "a wrong value": Case(
        lambda place: place.git("config", "gitckpt.freeze", "maybe"), "settings", "mend", "git config gitckpt.freeze: 'maybe'", "correct it"
    ),
    "durable is off": Case(
        lambda place: place.git("config", "gitckpt.durable", "false"), "settings", "note", "durable is off", "git config gitckpt.durable true"
    ),
    "no identity": Case(
        lambda place: place.git("config", "user.name", ""), "settings", "note", "git has no identity of yours", "git config --global user.name"
    ),
    "a private directory that is none": Case(
        lambda place: (shutil.rmtree(place.path / ".git/gitckpt"), write(place, "gitckpt", "")), "private", "mend", "/gitckpt is no directory", "gitckpt save"
    ),
    "a private directory not made yet": Case(lambda place: shutil.rmtree(place.path / ".git/gitckpt"), "private", "ok", ", not made yet", ""),
    "hooks": Case(lambda place: write(place, "hooks/pre-commit", "gitckpt validate --staged\n", 0o755), "hooks", "ok", "pre-commit (calls gitckpt)", ""),
    "hooks that do not run": Case(lambda place: write(place, "hooks/pre-push", ""), "hooks", "note", "not executable: pre-push", "chmod +x "),
    "a hooks path": Case(
        lambda place: place.git("config", "core.hooksPath", "nowhere"), "hooks", "note", "core.hooksPath names no directory, nowhere", "git config --unset"
    ),
    "history that cannot be read": Case(without_refs, "interrupted", "mend", "the history of a session cannot be read", "gitckpt verify"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_amiss_is_named_with_what_mends_it(recorded: Place, name: str) -> None:
    case = CASES[name]
    recorded.git("config", "gitckpt.durable", "true")
    assert not any(case.said in message for _, message, _ in remarks(recorded))
    case.amiss(recorded)
    found = [(level, help) for level, message, help in remarks(recorded, case.check) if case.said in message]
    assert [level for level, _ in found] == [case.level] * len(found) and found
    assert all(help.startswith(case.help) for _, help in found)
    assert recorded.run("doctor").status == (1 if case.level == "mend" else 0)


@pytest.mark.parametrize(
    "name", ["a world-writable git directory", "a lock of git", "durable is off", "hooks that do not run"]
)
def test_the_command_that_is_named_mends_it(recorded: Place, name: str) -> None:
    recorded.git("config", "gitckpt.durable", "true")
    case = CASES[name]
    case.amiss(recorded)
    [(_, _, help)] = [row for row in remarks(recorded, case.check) if case.said in row[1]][:1]
    recorded.git("-c", f"alias.mend=!{help}", "mend")
    assert not any(case.said in message for _, message, _ in remarks(recorded))


def test_nothing_is_amiss(recorded: Place) -> None:
    recorded.git("config", "gitckpt.durable", "true")
    answer = recorded.ok("doctor")
    assert answer.err == "" and answer.out.endswith("nothing to mend\n")
    levels = [(check, level) for level, check, _ in remarks(recorded)]
    assert {level for _, level in levels} == {"ok"}, answer.out


def test_looking_changes_nothing(recorded: Place) -> None:
    before, users = recorded.bytes(), recorded.users()
    files = {path: path.lstat().st_mtime_ns for path in (recorded.path / ".git").rglob("*")}
    recorded.ok("doctor")
    assert (recorded.bytes(), recorded.users()) == (before, users)
    assert {path: path.lstat().st_mtime_ns for path in (recorded.path / ".git").rglob("*")} == files


def test_a_lock_that_somebody_holds_is_left_alone(recorded: Place) -> None:
    left_lock("index.lock")(recorded)
    with (recorded.path / ".git" / "index.lock").open():
        assert remarks(recorded, "locks") == []
    (recorded.path / ".git" / "index.lock").touch()
    assert remarks(recorded, "locks") == []


def test_an_agent_that_died(recorded: Place) -> None:
    recorded.ok("wrap", "--", "printf", "%s", checkpoint("1"))
    assert remarks(recorded, "sessions") == [("ok", "on record here: sessions 2, events 7", "")]
    # as if it had been killed before it could say that the agent ended
    ref = recorded.git("for-each-ref", "--format=%(refname)", "refs/gitckpt/2*/heads/main")
    recorded.git("update-ref", ref, f"{ref}~")
    (level, message, help), _ = remarks(recorded, "sessions")
    assert level == "note" and "was left open by an agent that is dead" in message
    assert help.startswith("gitckpt log --session 2")


def test_an_agent_that_ended_before_a_rollback_did_not_die(recorded: Place) -> None:
    recorded.ok("wrap", "--session", "ended", "--", "printf", "%s", checkpoint("1"))
    recorded.ok("rollback", "ended/C1", "--yes")
    assert recorded.json("status")["open"]
    assert [level for level, _, _ in remarks(recorded, "sessions")] == ["ok"]


def test_outside_of_a_repository(place: Place, tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    answer = place.run("doctor", cwd=tmp_path / "nowhere")
    assert answer.status == 0 and "note  this is not a git repository" in answer.out
    place.git("clone", "-q", "--bare", ".", "../bare")
    assert ("mend", "this is a bare repository: there is no work tree to record") in [
        row[:2] for row in remarks(place, "repository", cwd=tmp_path / "bare")
    ]


def test_a_home_directory_is_no_work_tree(place: Place) -> None:
    found = remarks(place, "repository", env={"HOME": str(place.path)})
    assert [level for level, _, _ in found] == ["mend"] and "your home directory" in found[0][1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_somebody_else(place: Place) -> None:
    for path in (place.path, place.path / ".git"):
        os.chown(path, 65534, 65534)
    [(level, _, help)] = remarks(place, "repository")
    assert (level, help) == ("mend", "if you trust it: git config --global --add safe.directory <its path>")


def test_without_git(place: Place) -> None:
    assert remarks(place, env={"PATH": "/nonexistent"})[2:] == [
        ("mend", "git was not found on PATH", "install git 2.30 or newer")
    ]


@pytest.mark.parametrize(
    ("answer", "level"), [("git version 2.29.2", "mend"), ("git version 2.30.0", "ok"), ("git version 3.1", "ok")]
)
def test_the_version_of_git(place: Place, answer: str, level: str) -> None:
    env = place.before_git(f'case " $* " in *" version "*) echo "{answer}"; exit;; esac')
    assert [(found, answer in message) for found, message, _ in remarks(place, "git", env=env)] == [(level, True)]


def test_an_odd_git_is_told(place: Place) -> None:
    env = place.before_git("")
    directory = place.path.parent / "bin"
    assert remarks(place, "path", env=env) == []
    directory.chmod(0o777)
    assert [row[0] for row in remarks(place, "path", env=env)] == ["mend"]
    inside = place.path / "tools"
    shutil.copytree(directory, inside)
    inside.chmod(stat.S_IRWXU)
    [(_, message, _)] = remarks(place, "path", env=env | {"PATH": f"{inside}:{place.env['PATH']}"})
    assert "lies in the work tree" in message
    assert "relative entry" in remarks(place, "path", env=env | {"PATH": f"tools:{place.env['PATH']}"})[0][1]


def test_what_is_slow_is_told(place: Place) -> None:
    (place.path / "node_modules").mkdir()
    for number in range(5_000):
        (place.path / "node_modules" / str(number)).touch()
    [(level, message, help)] = remarks(place, "untracked")
    assert (level, help.split(" >>")[0]) == ("note", "echo /node_modules")
    assert message == "5,000 untracked files go into snapshots, 5,000 of them in node_modules"
    many = place.before_git('case " $* " in *" count-objects "*) printf "count: 30000\\nsize: 2048000\\n"; exit;; esac')
    assert remarks(place, "loose", env=many) == [("note", "30,000 loose objects, 2,000 MiB", "git gc")]
    large = place.before_git('case " $* " in *" ls-files -z ") head -c 60000 /dev/zero; exit;; esac')
    assert [row[2] for row in remarks(place, "size", env=large)] == ["git config core.fsmonitor true"]
    place.git("config", "core.fsmonitor", "true")
    assert remarks(place, "size", env=large) == []


#: What somebody else's umask, or a container, may close.
CLOSED = [
    "refs/gitckpt",
    "refs/gitckpt/run/heads",
    "refs/gitckpt/run/heads/main",
    "refs/worktree",
    "packed-refs",
    "refs",
]


@pytest.mark.parametrize("name", CLOSED)
def test_what_is_closed_is_not_told_as_gone(recorded: Place, name: str) -> None:
    recorded.git("pack-refs")
    path = recorded.path / ".git" / name
    mode = stat.S_IMODE(path.stat().st_mode)
    path.chmod(0)
    answers = [recorded.bound(*command) for command in (("status",), ("verify",), ("rollback", "C1"), ("save",))]
    told = recorded.bound("doctor", "--json").json["checks"]
    path.chmod(mode)
    assert {answer.status for answer in answers} == {4}
    assert not any("gone" in answer.err or "nothing" in answer.err for answer in answers)
    assert all(f"chmod -R u+rwX {path}" in answer.err or "gitckpt doctor" in answer.err for answer in answers)
    assert [row["help"] for row in told if row["level"] == "mend"] == [f"chmod -R u+rwX {path}"]


@pytest.mark.parametrize("content", [b"DIRC", None])
def test_a_staging_area_that_cannot_be_read_is_told_once(recorded: Place, content: bytes | None) -> None:
    index = recorded.path / ".git" / "index"
    index.chmod(0) if content is None else index.write_bytes(content)
    told = recorded.bound("doctor", "--json").json["checks"]
    assert [row["check"] for row in told if row["level"] == "mend"] == ["staging area"]


def test_a_record_that_may_be_read_and_not_written_is_shown(recorded: Place) -> None:
    refs = [path for path in (recorded.path / ".git" / "refs").rglob("*") if path.is_dir()]
    for path in refs:
        path.chmod(0o555)
    assert recorded.bound("log").status == 0
    assert recorded.bound("verify").status == 0
