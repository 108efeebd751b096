"""`gitckpt verify`: what is damaged on purpose is found and named, with what suffers from it; what is whole is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commandline import Answer, Place, checkpoint, retry

from gitckpt.views.schemas import MODELS

RUN = "refs/gitckpt/run"


def object_path(place: Place, name: str) -> Path:
    oid = place.git("rev-parse", name)
    return place.path / ".git" / "objects" / oid[:2] / oid[2:]


def missing(name: str) -> Callable[[Place], object]:
    """Delete an object."""
    return lambda place: object_path(place, name).unlink()


def rubbish(name: str) -> Callable[[Place], object]:
    """An object that cannot be unpacked."""
    return lambda place: overwrite(object_path(place, name), b"rubbish")


def swapped(name: str, other: str) -> Callable[[Place], object]:
    """An object that holds, in sound form, what another one should: git reads it without a word."""
    return lambda place: overwrite(object_path(place, name), object_path(place, other).read_bytes())


def overwrite(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def git(*args: str) -> Callable[[Place], object]:
    return lambda place: place.git(*args)


def raw(path: str, content: bytes) -> Callable[[Place], object]:
    """Write into the git directory."""
    return lambda place: overwrite(place.path / ".git" / path, content)


def forged(edit: Callable[[bytes], bytes], ref: str = f"{RUN}/heads/main") -> Callable[[Place], object]:
    """Put a commit in the place of the newest event that is the same but for an edit."""

    def forge(place: Place) -> None:
        content = edit(place.git("cat-file", "commit", ref).encode() + b"\n")
        (place.path.parent / "forged").write_bytes(content)
        oid = place.git("hash-object", "-t", "commit", "-w", str(place.path.parent / "forged"))
        place.git("update-ref", ref, oid)
        if ref.endswith("heads/main"):
            place.git("update-ref", f"{RUN}/tags/C3", oid)

    return forge


def replaced(old: bytes, new: bytes) -> Callable[[Place], object]:
    def edit(content: bytes) -> bytes:
        assert old in content
        return content.replace(old, new)

    return forged(edit)


def gone(prefix: str) -> Callable[[Place], object]:
    """Delete all refs below."""

    def delete(place: Place) -> None:
        for name in place.git("for-each-ref", "--format=%(refname)", prefix).splitlines():
            place.git("update-ref", "-d", name)

    return delete


class Case(NamedTuple):
    """What somebody did, and what is to be said of it: the first finding, how many more, who suffers."""

    harm: Callable[[Place], object]
    status: int
    check: str
    said: str
    affected: str = ""
    more: int = 0


CASES = {
    "a file is missing": Case(missing(f"{RUN}/tags/C2:a.txt"), 5, "object", "is missing: the content of a.txt at run/C2", "C2"),
    "a file cannot be unpacked": Case(rubbish(f"{RUN}/tags/C2:a.txt"), 5, "object", "is damaged: the content of a.txt at run/C2", "C2"),
    "a file holds another": Case(
        swapped(f"{RUN}/tags/C2:a.txt", f"{RUN}/tags/C1:a.txt"), 5, "object", "is damaged: the content of a.txt at run/C2", "C2"
    ),
    "a file of many events": Case(
        missing("HEAD:src/b.txt"), 5, "object", "is missing: the content of src/b.txt at run/start, run/C1, run/C2 and 1 more", "start C1 C2 C3"
    ),
    "a directory is missing": Case(missing("HEAD:src"), 5, "object", "is missing: the directory src at run/start, ", "start C1 C2 C3"),
    "a whole tree is damaged": Case(rubbish(f"{RUN}/tags/C3^{{tree}}"), 5, "object", "is damaged: the directory . at run/C3", "C3"),
    "an event is missing": Case(missing(f"{RUN}/tags/C2"), 5, "line", f"{RUN}/tags/C2, commit ", "C3"),
    "an event is damaged": Case(rubbish(f"{RUN}/tags/C2"), 5, "line", "is damaged", "C3"),
    "an event holds another": Case(swapped(f"{RUN}/tags/C2", f"{RUN}/tags/C1"), 5, "line", "is damaged", "C3"),
    "an event without a tag is missing": Case(missing(f"{RUN}/tags/C1~"), 5, "line", "the event before run/C1, commit ", "C1 C2 C3"),
    "the root is missing": Case(missing(f"{RUN}/tags/C1~2"), 5, "line", "is missing", "start C1 C2 C3"),
    "the commit of HEAD is missing": Case(missing("HEAD"), 5, "object", "HEAD or the staging area was at it at run/start", "start"),
    "a message is rubbish": Case(replaced(b"gitckpt: 1\n", b"nothing\n"), 5, "message", "not one of gitckpt's"),
    "a document is no YAML": Case(replaced(b"coverage:", b"coverage: ["), 5, "message", "run/C3 cannot be read: ", "C3"),
    "a document has a wrong form": Case(replaced(b"missing: []", b"missing: 7"), 5, "message", "run/C3 cannot be read: ", "C3"),
    "a path leads out": Case(
        replaced(b"missing: []", b"missing: [{path: ../x, reason: y}]"), 5, "message", "run/C3 cannot be read: ", "C3"
    ),
    "a parent is taken away": Case(
        forged(lambda c: c.replace(c[c.index(b"parent") : c.index(b"author")], b"")), 5, "line", "has no event before it", "start C1 C2 C3", 1
    ),
    "a number is used again": Case(replaced(b"seq: 4", b"seq: 3"), 5, "number", "is number 3 of its session and follows number 3", "C3"),
    "a number is left out": Case(replaced(b"seq: 4", b"seq: 6"), 5, "number", "events of session run are gone (number 4, 5)"),
    "a line is moved back": Case(
        git("update-ref", f"{RUN}/heads/main", f"{RUN}/tags/C2"), 5, "line", "line main of session run was moved away", "C3"
    ),
    "a line is moved to a commit of the user": Case(
        git("update-ref", f"{RUN}/heads/main", "HEAD"), 5, "line", "is no event of gitckpt", "start C1 C2 C3", 1
    ),
    "a line is deleted": Case(
        git("update-ref", "-d", f"{RUN}/heads/main"), 5, "line", "line main of session run is gone", "start C1 C2 C3", 1
    ),
    "all refs are deleted": Case(gone("refs/gitckpt"), 5, "current", "session run was being recorded here, and its refs are gone"),
    "a ref is empty": Case(
        raw(f"{RUN}/heads/main", b""), 5, "ref", f"{RUN}/heads/main is damaged", "start C1 C2 C3"
    ),
    "a tag is deleted": Case(git("update-ref", "-d", f"{RUN}/tags/C2"), 5, "tag", "tag C2 of session run is gone", "C2"),
    "a tag is moved": Case(
        git("update-ref", f"{RUN}/tags/C2", f"{RUN}/tags/C1"), 1, "tag", "and not on the newest C2"
    ),
    "a tag is strange": Case(git("update-ref", f"{RUN}/tags/C9", "HEAD"), 1, "tag", "tag C9 of session run belongs to no checkpoint"),
    "a tag is no commit": Case(
        git("update-ref", f"{RUN}/tags/C9", "HEAD:a.txt"), 1, "tag", "tag C9 of session run belongs to no checkpoint"
    ),
    "a ref of an unknown kind": Case(git("update-ref", f"{RUN}/other/x", "HEAD"), 1, "ref", f"{RUN}/other/x is none of gitckpt's"),
    "a ref where a folder must be": Case(git("update-ref", "refs/gitckpt/x", "HEAD"), 1, "ref", "refs/gitckpt/x is none of gitckpt's"),
    "a symbolic ref": Case(
        git("symbolic-ref", f"{RUN}/heads/retry-2", "refs/heads/main"), 1, "ref", "points to refs/heads/main"
    ),
    "recording is on a branch": Case(
        git("symbolic-ref", "refs/worktree/gitckpt/current", "refs/heads/main"), 1, "current", "recording is on refs/heads/main"
    ),
    "recording is on a commit": Case(
        git("update-ref", "--no-deref", "refs/worktree/gitckpt/current", "HEAD"), 1, "current", "recording is on a commit"
    ),
    "recording is on a line that is gone": Case(
        git("symbolic-ref", "refs/worktree/gitckpt/current", f"{RUN}/heads/undo-9"), 5, "current", "line undo-9 of session run was being"
    ),
}  # fmt: skip


def verified(place: Place, *options: str) -> Any:
    answer = place.run("verify", "--json", *options)
    MODELS["gitckpt.verify/1"].model_validate_json(answer.raw)
    return answer.json


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_wrong_is_named(recorded: Place, name: str) -> None:
    case = CASES[name]
    case.harm(recorded)
    answer = recorded.run("verify")
    assert (answer.status, answer.err) == (case.status, ""), answer
    assert case.said in answer.out.splitlines()[0] and answer.out.splitlines()[1].startswith("  → ")
    document = verified(recorded)
    assert (document["findings"][0]["check"], len(document["findings"])) == (case.check, case.more + 1), answer.out
    suffering = [ref.removeprefix("run/") for session in document["sessions"] for ref in session["affected"]]
    assert suffering == case.affected.split() or case.check == "message"
    assert (f"and {case.more} more:" in answer.out) is bool(case.more)


def test_parents_that_the_record_does_not_explain(recorded: Place) -> None:
    recorded.git("commit", "-q", "-am", "second")
    recorded.ok("record", "--session", "run", stdin=checkpoint("4"))
    head = f"parent {recorded.git('rev-parse', 'HEAD')}\n".encode()
    first = f"parent {recorded.git('rev-parse', 'HEAD~')}\n".encode()
    for edit, said in (
        (lambda content: content.replace(head, b""), f"run/C4 is not bound to {head[7:19].decode()}, the commit that HEAD was at"),
        (lambda content: content.replace(head, head + first), f"run/C4 has a parent that its record does not name, {first[7:19].decode()}"),
    ):  # fmt: skip
        place = recorded.copy(recorded.path.parent / f"copy{len(said)}" / "work")
        forged(edit)(place)
        place.git("update-ref", f"{RUN}/tags/C4", f"{RUN}/heads/main")
        place.git("update-ref", f"{RUN}/tags/C3", f"{RUN}/heads/main~")
        [finding] = verified(place)["findings"]
        assert (finding["check"], finding["message"], finding["affected"]) == ("parents", said, ["run/C4"])


def test_a_tree_with_names_that_lead_out_is_damage(recorded: Place) -> None:
    blob = bytes.fromhex(recorded.git("rev-parse", "HEAD:a.txt"))
    (recorded.path.parent / "tree").write_bytes(b"100644 .GIT\0" + blob)
    tree = recorded.git("hash-object", "-t", "tree", "--literally", "-w", str(recorded.path.parent / "tree"))
    forged(lambda content: b"tree " + tree.encode() + content[45:])(recorded)
    [finding] = verified(recorded)["findings"]
    assert (finding["check"], finding["affected"]) == ("object", ["run/C3"])
    assert finding["message"].startswith(f"object {tree} is damaged: the directory . at run/C3")


@pytest.mark.parametrize("name", ["a tag is deleted", "a tag is moved", "a tag is strange", "a line is moved back"])
def test_the_command_that_is_named_helps(recorded: Place, name: str) -> None:
    CASES[name].harm(recorded)
    help = verified(recorded)["findings"][0]["help"].removesuffix(" removes it").split()
    assert help[0] == "git"
    recorded.git(*help[1:])
    assert recorded.ok("verify").out.startswith("1 session, 4 events, 3 checkpoints, ")


def test_an_object_comes_back_from_a_copy(recorded: Place, tmp_path: Path) -> None:
    copy = recorded.copy(tmp_path / "copy")
    blob = recorded.git("rev-parse", f"{RUN}/tags/C2:a.txt")
    for harm in (missing(blob), rubbish(blob)):
        harm(recorded)
        help = verified(recorded)["findings"][0]["help"]
        if help.startswith("move "):
            (recorded.path / ".git" / help.split()[1]).unlink()
        command = help.rpartition(": ")[2].replace("COPY", str(copy.path))
        place_shell(recorded, command)
        assert verified(recorded)["whole"] is True


def place_shell(place: Place, command: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=place.path, env=place.env, check=True, capture_output=True)


def test_damage_in_a_pack_is_found_and_mended_from_a_copy(recorded: Place, tmp_path: Path) -> None:
    recorded.write("noise.bin", os.urandom(5000))
    recorded.ok("record", "--session", "run", stdin=checkpoint("4"))
    copy = recorded.copy(tmp_path / "copy")
    recorded.git("repack", "-adq")
    [pack] = (recorded.path / ".git" / "objects" / "pack").glob("*.pack")
    content = bytearray(pack.read_bytes())
    blob = recorded.git("rev-parse", f"{RUN}/tags/C4:noise.bin")
    index = recorded.git("verify-pack", "-v", str(pack.with_suffix(".idx")))
    [offset] = [int(line.split()[4]) for line in index.splitlines() if line.startswith(blob)]
    content[offset + 2000] ^= 0xFF
    overwrite(pack, bytes(content))
    document = verified(recorded)
    assert (
        document["findings"][0]["message"].startswith(f"object {blob} is damaged in its pack"),
        len(document["findings"]),
    ) == (True, 1)
    command = document["findings"][0]["help"].rpartition(": ")[2].replace("COPY", str(copy.path))
    place_shell(recorded, command)
    assert verified(recorded)["whole"] is True


def test_all_is_whole_after_everything_that_gitckpt_does(recorded: Place) -> None:
    recorded.ok(
        "record", "--session", "run", stdin=retry("C2") + checkpoint("3", "again") + retry("C9") + checkpoint("4")
    )
    recorded.write("staged.txt", "staged\n")
    recorded.git("add", "staged.txt")
    recorded.write("staged.txt", "and changed\n")
    recorded.ok("save")
    recorded.git("commit", "-q", "-m", "second")
    for command in ("rollback C1", "undo", "redo", "rollback C2 --scope all", "undo", "save"):
        recorded.ok(*command.split())
    recorded.git("switch", "-q", "-f", "-c", "elsewhere")
    recorded.write("staged.txt", "elsewhere\n")
    recorded.git("commit", "-q", "-am", "elsewhere")
    for command in ("rollback C1 --scope all", "undo", "redo"):
        recorded.ok(*command.split())
    recorded.ok("wrap", "--", "printf", "%s", checkpoint("1") + retry("C1"))
    answer = recorded.ok("verify")
    assert answer.out.startswith("2 sessions, ") and answer.out.endswith(": whole\n"), answer.out
    assert verified(recorded)["whole"] is True


def test_verifying_changes_nothing(recorded: Place) -> None:
    before, users = recorded.bytes(), recorded.users()
    files = {path: path.lstat().st_mtime_ns for path in (recorded.path / ".git").rglob("*") if path.is_file()}
    recorded.ok("verify")
    assert (recorded.bytes(), recorded.users()) == (before, users)
    assert {p: p.lstat().st_mtime_ns for p in (recorded.path / ".git").rglob("*") if p.is_file()} == files


def test_one_session_alone(recorded: Place) -> None:
    recorded.ok("record", "--session", "other", stdin=checkpoint("1"))
    missing(f"{RUN}/tags/C2:a.txt")(recorded)
    assert recorded.run("verify").status == recorded.run("verify", "--session", "run").status == 5
    assert recorded.ok("verify", "--session", "other").out.startswith("1 session, 2 events, 1 checkpoint, ")
    assert recorded.run("verify", "--session", "none").status == 3


def test_nothing_is_on_record(place: Place) -> None:
    assert place.ok("verify").out == "nothing has been recorded in this repository yet\n"
    assert verified(place)["sessions"] == []


def test_a_newer_format_is_shown_as_such(recorded: Place) -> None:
    replaced(b"gitckpt: 1\n", b"gitckpt: 2\n")(recorded)
    answer = recorded.ok("verify")
    assert answer.out.splitlines()[1] == "written by a newer gitckpt, and only their files were looked at: run/C3"
    assert verified(recorded)["newer"] == ["run/C3"]
    missing(f"{RUN}/tags/C3:a.txt")(recorded)
    assert recorded.run("verify").status == 5


@pytest.mark.parametrize(
    ("old", "new"), [(b"seq: 4", b"seq: 99999999999"), (b'line: "main"', b'line: "retry-%s"' % (b"9" * 15))]
)
def test_a_number_that_nobody_can_count_to_is_damage(recorded: Place, old: bytes, new: bytes) -> None:
    replaced(old, new)(recorded)
    assert recorded.run("verify").status == 5


FINAL = "===FINAL===\ncheckpoints: [{}]\nsummaries: []\nresult: [done]\n===END===\n"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("C1, C2, C3", ""),
        ("C1-C3", ""),
        ("C1, C3", "the FINAL of session run leaves out C2"),
        ("C1, C2, C3, C7", "the FINAL of session run lists C7, not on record"),
    ],
)
def test_a_final_lists_what_is_on_record(recorded: Place, listed: str, said: str) -> None:
    recorded.ok("save", "--session", "run", "-m", "a person's own is not the agent's to list")
    recorded.ok("record", "--session", "run", stdin=FINAL.format(listed))
    answer = recorded.run("verify")
    assert (answer.status, said in answer.out.splitlines()[0]) == (1 if said else 0, True)


def test_an_interrupted_rollback_is_named(recorded: Place) -> None:
    stopped = recorded.before_git('case " $* " in *" read-tree -m -u "*) exit 128;; esac')
    assert recorded.run("rollback", "C1", env=stopped).status == 4
    answer = recorded.run("verify")
    assert (answer.status, answer.out.startswith("a rollback to run/C1 was interrupted: run/")) == (1, True)
    recorded.ok("rollback", "--abort")
    recorded.ok("verify")


# -- repositories of other kinds


def test_the_users_history_may_be_shallow(recorded: Place, tmp_path: Path) -> None:
    recorded.git("commit", "-q", "-am", "second")
    recorded.git("clone", "-q", "--depth=1", f"file://{recorded.path}", str(tmp_path / "shallow"))
    shallow = Place(tmp_path / "shallow", recorded.env, recorded.zygote)
    shallow.ok("record", stdin=checkpoint("1"))
    assert shallow.git("rev-parse", "--is-shallow-repository") == "true"
    assert shallow.ok("verify").out.endswith(": whole\n")


def partial(origin: Place, path: Path) -> Place:
    """A clone without blobs and with half of the files, whose origin is then gone."""
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--filter=blob:none", "--sparse", f"file://{origin.path}", str(path))
    shutil.move(origin.path, origin.path.with_name("away"))
    return Place(path, origin.env, origin.zygote)


def test_what_a_partial_clone_left_with_its_origin_is_no_damage(recorded: Place, tmp_path: Path) -> None:
    clone = partial(recorded, tmp_path / "partial")
    clone.write("mine.txt", "mine\n")
    clone.ok("record", "--session", "run", stdin=checkpoint("1"))
    assert clone.git("rev-list", "--objects", "--missing=print", f"{RUN}/tags/C1").count("?") == 1
    assert clone.ok("verify").out.endswith(": whole\n")
    missing(f"{RUN}/tags/C1:mine.txt")(clone)
    answer = clone.run("verify")
    assert (answer.status, "the content of mine.txt at run/start, run/C1" in answer.out) == (5, True), answer.out
    assert len(verified(clone)["findings"]) == 1


def test_damage_is_found_in_a_repository_of_sha256_too(place: Place, tmp_path: Path) -> None:
    place.git("init", "-q", "--object-format=sha256", "../new")
    new = Place(tmp_path / "new", place.env, place.zygote)
    new.write("a.txt", "first\n")
    new.ok("record", "--session", "run", stdin=checkpoint("1"))
    assert new.ok("verify").out == "1 session, 2 events, 1 checkpoint, 7 objects: whole\n"
    swapped(f"{RUN}/tags/C1:a.txt", f"{RUN}/tags/C1^{{tree}}")(new)
    assert new.run("verify").status == 5


def test_linked_work_trees_and_alternates(recorded: Place, tmp_path: Path) -> None:
    recorded.git("worktree", "add", "-q", "../linked")
    linked = Place(tmp_path / "linked", recorded.env, recorded.zygote)
    linked.ok("record", "--session", "there", stdin=checkpoint("1"))
    for place in (recorded, linked):
        assert place.ok("verify").out.startswith("2 sessions, ")
    recorded.git("symbolic-ref", "worktrees/linked/refs/worktree/gitckpt/current", "refs/gitckpt/gone/heads/main")
    answer = recorded.run("verify")
    assert (answer.status, "session gone was being recorded in work tree linked" in answer.out) == (5, True)
    recorded.git("clone", "-q", "--shared", ".", "../shared")
    shared = Place(tmp_path / "shared", recorded.env, recorded.zygote)
    shared.ok("record", stdin=checkpoint("1"))
    assert shared.ok("verify").out.endswith(": whole\n")


def test_an_error_is_a_document_too(place: Place, tmp_path: Path) -> None:
    answer: Answer = place.run("verify", "--json", cwd=tmp_path)
    assert (answer.status, json.loads(answer.raw)["exit"]) == (3, 3)
