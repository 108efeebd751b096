"""What a remote sends is somebody's word: what does not read as a session is left there, and harms nothing here. And
what is cut off in the middle leaves nothing half."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from commandline import HANG, Place, checkpoint
from machines import Shared, refs

MAIN = "refs/gitckpt/run/heads/main"

#: Kills gitckpt when it gives git this command, which then goes on or does not.
KILL_AT = """
case "$*" in *" $KILL_AT "*) kill -9 $PPID; $GO_ON "$GIT" "$@"; exit 1;; esac
"""


def put(place: Place, kind: str, content: bytes) -> str:
    """Write an object, whatever it holds; its id."""
    command = ["git", "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
    done = subprocess.run(command, cwd=place.path, env=place.env, input=content, capture_output=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def content(place: Place, name: str) -> bytes:
    return place.git("cat-file", "commit", name).encode()


def changed(old: bytes, new: bytes) -> Callable[[Place], str]:
    """The newest event of the session with other bytes in it."""

    def make(server: Place) -> str:
        before = content(server, MAIN)
        assert old in before
        return put(server, "commit", before.replace(old, new, 1))

    return make


def with_tree(entry: bytes) -> Callable[[Place], str]:
    """The newest event on a tree of this one file."""

    def make(server: Place) -> str:
        blob = bytes.fromhex(put(server, "blob", b"x\n"))
        tree = put(server, "tree", entry + b"\0" + blob)
        before = content(server, MAIN)
        return put(server, "commit", b"tree " + tree.encode() + before[before.index(b"\n") :])

    return make


def without_root(server: Place) -> str:
    lines = content(server, "refs/gitckpt/run/tags/C1").split(b"\n")
    return put(server, "commit", b"\n".join(line for line in lines if not line.startswith(b"parent ")))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (changed(b'kind: "checkpoint"', b"knd: x"), "in it cannot be read"),
        pytest.param(
            changed(b"\nfields:", b"\nfields: {{{\nx:"), "is no YAML that can be read", marks=pytest.mark.slow
        ),
        (changed(b"\nfields:", b"\nanchor: &a [1]\nb: *a\nfields:"), "YAML aliases"),
        (changed(b"committer gitckpt", b"committer mallory"), "in it is no event of gitckpt's"),
        pytest.param(
            changed(b"\nfields:", b"\nx: " + b"x" * (17 << 20) + b"\nfields:"),
            "longer than 16 MiB",
            marks=pytest.mark.slow,
        ),
        (lambda server: server.git("rev-parse", "main"), "in it is no event of gitckpt's"),
        (without_root, "in it is no event of gitckpt's"),
        (with_tree(b"100644 .git"), "git does not let in what origin sends"),
        pytest.param(with_tree(b"100644 .."), "git does not let in what origin sends", marks=pytest.mark.slow),
        (lambda server: put(server, "blob", b"no commit"), ""),
    ],
)
def test_a_session_that_does_not_read_as_one_is_left_there(
    pushed: Shared, make: Callable[[Place], str], said: str
) -> None:
    pushed.one.ok("record", "--session", "good", stdin=checkpoint("1"))
    pushed.one.ok("push", "--session", "good")
    server, two = pushed.server, pushed.two
    bad = make(server)
    (server.path / MAIN).write_text(f"{bad}\n")
    answer = two.run("fetch")
    assert (answer.status, "Traceback" in answer.err) == (1, False)
    assert "fetched good (new, 1 line, 2 events)" in answer.out
    assert "not taken: run: " in answer.out and said in answer.out
    assert {name.split("/")[2] for name in refs(two)} == {"good"}
    two.ok("verify")
    answer = two.run("fetch", "--session", "run")
    assert (answer.status, answer.out) == (3, "")


def test_a_missing_object(pushed: Shared) -> None:
    blob = pushed.server.git("rev-parse", f"{MAIN}:new2.txt")
    for pack in list(pushed.server.path.glob("objects/pack/*.pack")):
        aside = pushed.top / pack.name
        pack.rename(aside)
        for other in pushed.server.path.glob(f"objects/pack/{pack.stem}.*"):
            other.unlink()
        with aside.open("rb") as file:
            subprocess.run(
                ["git", "unpack-objects", "-q"], cwd=pushed.server.path, stdin=file, check=True, timeout=HANG
            )
    (pushed.server.path / "objects" / blob[:2] / blob[2:]).unlink()
    answer = pushed.two.run("fetch")
    assert (answer.status in (3, 4), "Traceback" in answer.err, answer.out) == (True, False, "")
    assert refs(pushed.two) == {}


def test_events_that_claim_to_be_of_a_session_that_was_recorded_here(pushed: Shared) -> None:
    two = pushed.two
    two.ok("record", "--session", "mine", stdin=checkpoint("1"))
    own = refs(two)
    forged = changed(b'session: "run"', b'session: "mine"')(pushed.server)
    pushed.server.git("update-ref", MAIN, forged)
    answer = two.run("fetch")
    assert (answer.status, "claims to be of session mine" in answer.err) == (3, True)
    assert refs(two) == own


def test_refs_of_a_form_that_gitckpt_does_not_make(pushed: Shared) -> None:
    tip = refs(pushed.server)[MAIN]
    odd = [
        "refs/gitckpt/top", "refs/gitckpt/run/heads/a/b", "refs/gitckpt/run/notes/x", "refs/gitckpt/.x/heads/main",
        "refs/gitckpt/a=b/heads/main", f"refs/gitckpt/{'x' * 80}/heads/main", "refs/gitckpt/-x/heads/main",
    ]  # fmt: skip
    for name in odd:
        path = pushed.server.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{tip}\n")
    pushed.server.git("update-ref", "refs/gitckpt/run/tags/C9", tip)
    pushed.server.git("update-ref", "refs/gitckpt/run/from/elsewhere", tip)
    answer = pushed.two.ok("fetch")
    assert answer.out.startswith("fetched run (new, 1 line, 4 events)\nleft aside: ")
    assert {name: oid for name, oid in refs(pushed.two).items() if "/from/" not in name} == refs(pushed.one)
    pushed.two.ok("verify")


def test_a_session_of_ones_own_is_not_made_a_foreign_one(pushed: Shared) -> None:
    pushed.two.ok("fetch")
    pushed.two.git("push", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    pushed.one.ok("fetch")
    assert [s["origin"] for s in pushed.one.json("sessions", "--all")["sessions"]] == [None]
    pushed.one.ok("save", "--session", "run")


@pytest.mark.parametrize("go_on", ["", pytest.param(":", marks=pytest.mark.slow)], ids=["git goes on", "git does not"])
@pytest.mark.parametrize("call", ["ls-remote", "fetch", "update-ref", "push"])
def test_killed_in_the_middle(shared: Shared, call: str, go_on: str) -> None:
    if call != "push":
        shared.one.ok("push")
    place = shared.one if call == "push" else shared.two
    command = "push" if call == "push" else "fetch"
    answer = place.run(command, env=place.before_git(KILL_AT) | {"KILL_AT": call, "GO_ON": go_on})
    assert answer.status == -9
    target = shared.server if call == "push" else place
    assert len(refs(target)) in (0, 4, 5)
    place.ok(command)
    assert {name: oid for name, oid in refs(target).items() if "/from/" not in name} == refs(shared.one)
    shared.one.ok("verify")
    shared.two.ok("verify")
