"""`push` and `fetch`: sessions go from machine to machine, whole or not at all, and nobody's are overwritten."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint, retry
from http_server import serving
from machines import Shared, refs

#: A hook of a server that lets refs go forward only; docs/teams.md shows it.
FORWARD_ONLY = """#!/bin/sh
case $2 in *[!0]*) test "$2" = "$(git merge-base "$2" "$3")";; esac
"""


def test_a_session_arrives_as_it_left(shared: Shared) -> None:
    assert shared.one.ok("push", "--dry-run").out == "would send to origin: run (4 events, 1 line, 3 tags)\n"
    assert refs(shared.server) == {}
    answer = shared.one.ok("push")
    assert (answer.out, answer.err) == ("sent to origin: run (4 events, 1 line, 3 tags)\n", "")
    assert refs(shared.server) == refs(shared.one)
    shared.server.git("fsck", "--strict")
    assert shared.one.ok("push").out == "nothing to send: origin has it all\n"
    user, files = shared.two.users(), shared.two.bytes()
    assert shared.two.ok("fetch", "--dry-run").out == "would fetch run (new, 1 line)\n"
    assert refs(shared.two) == {}
    assert shared.two.ok("fetch").out == "fetched run (new, 1 line, 4 events)\n"
    tip = refs(shared.one)["refs/gitckpt/run/heads/main"]
    assert refs(shared.two) == refs(shared.one) | {"refs/gitckpt/run/from/origin": tip}
    assert (shared.two.users(), shared.two.bytes()) == (user, files)
    assert shared.two.ok("fetch").out == "nothing new at origin\n"
    assert shared.two.ok("verify").status == 0


def test_a_push_waits_for_another_one_that_is_at_work_on_the_same_refs(pushed: Shared) -> None:
    """As that of a gitckpt that was killed, and its git not."""
    pushed.one.ok("record", "--session", "run", stdin=checkpoint("8"))
    lock = pushed.server.path / "refs/gitckpt/run/heads/main.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    answer = pushed.one.run("push")
    assert answer.status == 4 and "another push is at work there" in answer.err and "cannot lock ref" in answer.err
    away = subprocess.Popen(["sh", "-c", 'sleep 0.4; rm "$1"', "sh", str(lock)])
    pushed.one.ok("push")
    assert away.wait(HANG) == 0 and refs(pushed.server) == refs(pushed.one)


def test_what_was_fetched_is_not_this_work_trees_own(pushed: Shared) -> None:
    two = pushed.two
    two.ok("fetch")
    assert two.json("sessions")["sessions"] == []
    assert [(s["id"], s["origin"]) for s in two.json("sessions", "--all")["sessions"]] == [("run", "origin")]
    assert "REMOTE" in two.ok("sessions", "--all").out
    assert two.ok("context").out == "" and two.ok("log").out == ""
    assert two.run("resume").status == 3 and two.run("undo").status == 3
    assert two.run("show", "C2").status == 3
    assert two.ok("show", "run/C2", "--path", "a.txt").out == "a at C2\n"
    assert two.ok("log", "--session", "run").out.splitlines()[0].startswith("session run ")
    answer = two.run("record", "--session", "run", stdin=checkpoint("4"))
    assert "was fetched from origin, and is only read here" in answer.err and answer.status != 0
    assert two.json("prune", "--keep-last", "0", "--dry-run")["dropped"] == []


def test_one_goes_back_to_a_step_of_a_fetched_session_and_on_from_there(pushed: Shared) -> None:
    two, theirs = pushed.two, refs(pushed.one)
    two.ok("fetch")
    before = two.bytes()
    two.write("mine.txt", "mine\n")
    two.ok("rollback", "run/C2")
    assert (two.read("a.txt"), (two.path / "mine.txt").exists()) == ("a at C2\n", False)
    two.write("a.txt", "and on\n")
    assert two.ok("save", "-m", "mine").out.startswith("C3 saved")
    assert {name: oid for name, oid in refs(two).items() if name in theirs} == theirs
    own = two.json("status")["session"]
    assert own != "run"
    assert [event["session"] for event in two.json("log")["events"]].count("run") >= 2
    assert "===CHECKPOINT 2===" in two.ok("context").out
    two.ok("verify")
    two.ok("undo")
    assert two.bytes() == before | {"mine.txt": ("file", 0o644, b"mine\n")}
    assert two.run("prune", "--session", "run", "--yes").status == 3
    two.ok("push")
    three = pushed.machine("three")
    three.ok("fetch", "--session", own)
    assert {s["id"] for s in three.json("sessions", "--all")["sessions"]} == {own, "run"}
    three.ok("verify")


def test_what_others_rolled_back_is_not_undone_here(shared: Shared) -> None:
    shared.one.ok("rollback", "C1")
    shared.one.ok("push")
    two = shared.two
    two.ok("fetch")
    assert "there is no rollback to undo" in two.run("undo").err
    two.ok("save", "-m", "mine")
    assert "there is no rollback to undo" in two.run("undo").err
    two.ok("verify")


def test_a_session_goes_on_and_its_tags_move(pushed: Shared) -> None:
    one, two = pushed.one, pushed.two
    two.ok("fetch")
    one.write("a.txt", "another way\n")
    one.ok("record", "--session", "run", stdin=retry("C2") + checkpoint("3", "again"))
    assert one.ok("push").out == "sent to origin: run (2 events, 2 lines, 1 tag)\n"
    assert refs(pushed.server) == refs(one)
    assert two.ok("fetch").out == "fetched run (more, 2 lines, 2 events)\n"
    assert {name: oid for name, oid in refs(two).items() if "/from/" not in name} == refs(one)


def test_a_server_that_lets_no_tag_move_still_gets_the_lines(pushed: Shared) -> None:
    one = pushed.one
    hook = pushed.server.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(FORWARD_ONLY)
    hook.chmod(0o755)
    one.ok("record", "--session", "run", stdin=retry("C2") + checkpoint("3", "again"))
    answer = one.ok("push")
    assert "tags of ids that were used again are where they were" in answer.out
    assert refs(pushed.server, "refs/gitckpt/run/heads") == refs(one, "refs/gitckpt/run/heads")
    pushed.two.ok("fetch")
    tags = "refs/gitckpt/run/tags"
    assert refs(pushed.two, tags) == refs(one, tags) != refs(pushed.server, tags)


def test_a_session_of_the_same_name_is_overwritten_on_no_side(pushed: Shared) -> None:
    two = pushed.two
    two.ok("record", "--session", "run", stdin=checkpoint("1"))
    there, here = refs(pushed.server), refs(two)
    answer = two.run("push")
    assert (answer.status, answer.out) == (3, "")
    assert "nothing was sent: origin holds other events under the same name (run, line main)" in answer.err
    answer = two.run("fetch")
    assert (answer.status, "run: it was recorded here, and is different there" in answer.err) == (3, True)
    assert (refs(pushed.server), refs(two)) == (there, here)
    two.ok("record", "--session", "another", stdin=checkpoint("1"))
    assert two.ok("push").out.startswith("sent to origin: another ")
    assert two.run("push", "--all").status == 3
    document = two.run("push", "--all", "--dry-run", "--json")
    assert (document.status, document.json["clashes"], document.json["done"]) == (1, ["run, line main"], False)
    three = pushed.machine("three")
    three.ok("record", "--session", "run", stdin=checkpoint("9"))
    document = three.run("fetch", "--json")
    assert (document.status, [(s["id"], s["state"]) for s in document.json["sessions"]]) == (
        1, [("another", "new"), ("run", "refused")],
    )  # fmt: skip


def test_a_push_that_meets_another_overwrites_nothing(shared: Shared) -> None:
    two = shared.two
    two.ok("record", "--session", "run", stdin=checkpoint("1"))
    other = f'case " $* " in *" push "*) env -u GIT_DIR -u GIT_WORK_TREE "$GIT" -C {two.path} push -q origin refs/gitckpt/*:refs/gitckpt/*;; esac'
    answer = shared.one.run("push", env=shared.one.before_git(other))
    assert (answer.status, "origin has moved meanwhile; nothing there was overwritten" in answer.err) == (3, True)
    assert refs(shared.server) == refs(two)


def test_a_session_whose_history_was_written_anew_is_not_followed(pushed: Shared) -> None:
    pushed.two.ok("fetch")
    before = refs(pushed.two)
    pushed.server.git("update-ref", "refs/gitckpt/run/heads/main", refs(pushed.one)["refs/gitckpt/run/tags/C1"])
    assert pushed.two.run("fetch").status == 3
    assert refs(pushed.two) == before
    pushed.two.ok("prune", "--session", "run", "--yes")
    assert refs(pushed.two) == {}
    assert pushed.two.ok("fetch").out == "fetched run (new, 1 line, 2 events)\n"


def test_a_line_that_the_remote_has_more_of_is_left_to_it(pushed: Shared) -> None:
    older = pushed.one.copy(pushed.top / "older")
    tip = refs(older)["refs/gitckpt/run/tags/C2"]
    older.git("update-ref", "refs/gitckpt/run/heads/main", tip)
    older.git("update-ref", "-d", "refs/gitckpt/run/tags/C3")
    assert older.ok("push").out == (
        "origin has more of run; gitckpt fetch origin says how it stands\nnothing to send: origin has it all\n"
    )


# -- which remote, and what it says


@pytest.mark.parametrize(
    ("prepare", "arguments", "status", "said"),
    [
        (
            ["remote", "remove", "origin"],
            [],
            3,
            "this repository has no remote\ngitckpt:   → git remote add origin URL",
        ),
        ([], ["nowhere"], 3, "no remote 'nowhere'; there is origin"),
        ([], ["--upload-pack=x"], 2, "No such option"),
        (["remote", "set-url", "origin", "../gone.git"], [], 4, "git remote -v shows where origin leads"),
        (["remote", "set-url", "origin", "ext::sh -c touch% ran"], [], 4, "transport 'ext' not allowed"),
        (["remote", "set-url", "origin", "http://127.0.0.1:1/x"], [], 4, "git ls-remote origin shows whether"),
    ],
)
def test_remotes_that_cannot_be_reached(
    shared: Shared, prepare: list[str], arguments: list[str], status: int, said: str
) -> None:
    if prepare:
        shared.one.git(*prepare)
    for command in ("push", "fetch"):
        answer = shared.one.run(command, *arguments)
        assert (answer.status, answer.out) == (status, "")
        assert said in answer.err and "Traceback" not in answer.err
    assert not (shared.one.path / "ran").exists()


def test_an_unknown_session_and_nothing_recorded(shared: Shared) -> None:
    assert "no session 'x'" in shared.one.run("push", "--session", "x").err
    assert "origin has no session 'x'" in shared.one.run("fetch", "--session", "x").err
    assert shared.two.run("push").status == 3
    assert shared.two.ok("push", "--all").out == "nothing to send: origin has it all\n"
    assert shared.two.ok("fetch").out == "origin has no sessions\n"
    assert shared.one.run("push", "--all", "--session", "run").status == 2
    assert shared.one.run("push", "nowhere", "--json").json["exit"] == 3


def test_the_remote_that_git_itself_would_use(shared: Shared) -> None:
    one = shared.one
    shutil.copytree(shared.server.path, shared.top / "mine.git")
    one.git("remote", "add", "mine", "../mine.git")
    one.git("config", "remote.pushDefault", "mine")
    assert one.ok("push").out.startswith("sent to mine: run ")
    assert refs(shared.server) == {}
    assert one.ok("fetch").out == "origin has no sessions\n"


@pytest.mark.slow
def test_a_place_to_push_to_that_is_another_than_that_to_fetch_from(shared: Shared) -> None:
    shutil.copytree(shared.server.path, shared.top / "fork.git")
    shared.one.git("remote", "set-url", "--push", "origin", "../fork.git")
    shared.one.ok("push")
    fork = Place(shared.top / "fork.git", shared.one.env, shared.one.zygote)
    assert (refs(shared.server), refs(fork)) == ({}, refs(shared.one))
    shared.one.git("remote", "set-url", "--push", "--add", "origin", "../server.git")
    assert "origin pushes to 2 places at once" in shared.one.run("push").err


def test_no_hook_of_the_users_runs_and_that_of_the_server_is_heard(shared: Shared) -> None:
    for name in ("pre-push", "reference-transaction", "post-checkout"):
        shared.one.write(f".git/hooks/{name}", "#!/bin/sh\ntouch ran\nexit 1\n", 0o755)
    hook = shared.server.path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = shared.one.run("push")
    assert (answer.status, "not on a Friday" in answer.err, refs(shared.server)) == (4, True, {})
    hook.unlink()
    shared.one.ok("push")
    assert not (shared.one.path / "ran").exists()


@pytest.mark.slow
def test_settings_of_the_users_that_would_change_what_is_sent(shared: Shared) -> None:
    for key, value in {
        "remote.origin.mirror": "true", "push.followTags": "true", "push.default": "matching", "fetch.prune": "true",
        "remote.origin.prune": "true", "remote.origin.tagOpt": "--tags", "fetch.pruneTags": "true",
    }.items():  # fmt: skip
        shared.one.git("config", key, value)
        shared.two.git("config", key, value)
    shared.one.git("tag", "-a", "-m", "x", "v1")
    shared.one.git("branch", "mine")
    shared.one.ok("push")
    branches = shared.server.git("for-each-ref", "refs/heads", "refs/tags")
    assert "mine" not in branches and "v1" not in branches and "main" in branches
    shared.two.git("tag", "v2")
    user = shared.two.users()
    user.pop("config")
    shared.two.ok("fetch")
    after = shared.two.users()
    after.pop("config")
    assert after == user
    assert refs(shared.two)["refs/gitckpt/run/tags/C3"]


def test_a_server_without_atomic_pushes(shared: Shared) -> None:
    shared.server.git("config", "receive.advertiseAtomic", "false")
    shared.one.ok("push")
    assert refs(shared.server) == refs(shared.one)


def test_without_a_branch(shared: Shared) -> None:
    shared.one.git("checkout", "-q", "--detach")
    shared.one.ok("push")
    assert shared.one.ok("fetch").out == "nothing new at origin\n"


def test_another_kind_of_object_ids(shared: Shared) -> None:
    other = shared.top / "other.git"
    shared.one.git("init", "-q", "--bare", "--object-format=sha256", str(other))
    shared.one.git("remote", "set-url", "origin", str(other))
    answer = shared.one.run("push")
    assert (answer.status, answer.out) == (4, "")
    source = Place(shared.top / "sha256", shared.one.env, shared.one.zygote)
    source.path.mkdir()
    source.git("init", "-q", "--object-format=sha256")
    source.write("a.txt", "a\n")
    source.ok("save")
    source.git("remote", "add", "origin", str(other))
    source.ok("push")
    assert refs(source) and len(set(refs(source).values()).pop()) == 64
    for command in ("push", "fetch"):
        answer = shared.one.run(command)
        assert (answer.status, "another kind than this repository (sha1)" in answer.err) == (3, True)


def test_shallow_and_partial_clones(pushed: Shared) -> None:
    pushed.server.git("config", "uploadpack.allowFilter", "true")
    for name, option in (("shallow", "--depth=1"), ("partial", "--filter=blob:none")):
        path = pushed.top / name
        pushed.one.git("clone", "-q", option, f"file://{pushed.server.path}", str(path))
        place = Place(path, pushed.one.env, pushed.one.zygote)
        place.ok("fetch")
        pushed.server.path.rename(pushed.top / "away.git")  # what is needed is here
        place.ok("rollback", "run/C2")
        assert place.read("a.txt") == "a at C2\n"
        place.ok("verify")
        (pushed.top / "away.git").rename(pushed.server.path)
        place.ok("push")
        assert any("rollback-2" in ref for ref in refs(pushed.server))


# -- over ssh and http


def test_over_ssh_as_the_user_has_set_it_up(shared: Shared) -> None:
    ssh = shared.top / "ssh"
    ssh.write_text(
        '#!/bin/sh\ntest "$1" = -G && exit 1\necho "$@" >>"$0.log"\nfor last; do :; done\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    for place in (shared.one, shared.two):
        place.git("remote", "set-url", "origin", f"ada@example.org:{shared.server.path}")
    shared.one.git("config", "core.sshCommand", str(ssh))
    shared.one.ok("push")
    assert shared.two.run("fetch", env={"GIT_SSH_COMMAND": str(ssh)}).out == "fetched run (new, 1 line, 4 events)\n"
    assert "ada@example.org git-receive-pack" in (shared.top / "ssh.log").read_text()
    shared.one.git("config", "core.sshCommand", "echo 'Permission denied (publickey).' >&2; exit 255; :")
    answer = shared.one.run("fetch")
    assert (answer.status, "Permission denied" in answer.err, "an ssh key answers" in answer.err) == (4, True, True)


def test_over_http(shared: Shared) -> None:
    shared.server.git("config", "http.receivepack", "true")
    shared.one.write("big.bin", os.urandom(3 << 20))  # more than one request holds
    shared.one.ok("save", "--session", "run")
    with serving(shared.top) as server:
        for place in (shared.one, shared.two):
            place.git("remote", "set-url", "origin", f"{server.url}/server.git")
        assert shared.one.ok("push").out.startswith("sent to origin: run ")
        assert shared.two.ok("fetch").out.startswith("fetched run (new, 1 line, ")
    shared.two.ok("rollback", "run/last")
    assert shared.two.bytes()["big.bin"] == shared.one.bytes()["big.bin"]


def test_a_password_is_the_users_to_give_and_nobody_is_asked_for_one_without_a_terminal(shared: Shared) -> None:
    shared.server.git("config", "http.receivepack", "true")
    with serving(shared.top, password="secret") as server:
        shared.one.git("remote", "set-url", "origin", f"{server.url}/server.git")
        answer = shared.one.run("push")
        assert (answer.status, "git ls-remote origin asks for the password" in answer.err) == (4, True)
        helper = "!f() { test $1 = get && echo username=ada && echo password=secret; }; f"
        shared.one.git("config", "credential.helper", helper)
        shared.one.ok("push")
        shared.one.git("config", "--unset", "credential.helper")
        ask = shared.top / "ask"
        ask.write_text('#!/bin/sh\ncase "$1" in Username*) echo ada;; *) echo secret;; esac\n')
        ask.chmod(0o755)
        assert shared.one.run("fetch", env={"GIT_ASKPASS": str(ask)}).status == 0
        shared.server.git("config", "http.receivepack", "false")
        shared.one.ok("save", "--session", "run", "-m", "more")
        answer = shared.one.run("push", env={"GIT_ASKPASS": str(ask)})
        assert (answer.status, "Traceback" in answer.err) == (4, False)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM])
def test_a_server_that_does_not_answer_is_given_up_when_one_wants_to(shared: Shared, number: signal.Signals) -> None:
    with serving(shared.top) as server:
        server.stalls = True
        shared.one.git("remote", "set-url", "origin", f"{server.url}/server.git")
        command = [sys.executable, "-m", "gitckpt", "fetch"]
        process = subprocess.Popen(command, cwd=shared.one.path, env=shared.one.env, stderr=subprocess.PIPE)
        deadline = time.monotonic() + HANG
        while not (helpers := talking_to(server.url)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert helpers
        process.send_signal(number)
        assert process.wait(HANG) == 128 + number
        while talking_to(server.url) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert talking_to(server.url) == []
        assert process.stderr is not None
        process.stderr.close()


def talking_to(url: str) -> list[str]:
    """The processes whose command line names this server."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if url.encode() in process.read_bytes():
                found.append(process.parent.name)
        except OSError:
            pass
    return found
