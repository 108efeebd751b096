"""`--json`: each document is of its published schema, and an error is one too, alone on standard output."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commandline import Answer, Place, checkpoint, retry

from gitckpt.views.schemas import MODELS, json_schema


def assert_published(answer: Answer, name: str = "") -> None:
    """The document is on one line, says which schema it is of, and is of it."""
    assert answer.out.count("\n") == 1 and answer.out.endswith("\n")
    stated = answer.json.get("schema", "gitckpt.event/1")
    assert stated == (name or stated)
    assert stated in MODELS, f"{stated} is not published"
    MODELS[stated].model_validate_json(answer.raw)


@pytest.fixture(scope="module")
def eventful(recorded_template: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Every kind of event, odd names of files, things that no snapshot holds; two sessions."""
    place = recorded_template.copy(tmp_path_factory.mktemp("eventful") / "work")
    place.write(os.fsdecode(b"not utf-8 \xff"), "x")
    place.write("new\nline", "x")
    os.mkfifo(place.path / "pipe")
    place.ok("record", stdin=checkpoint("4", hint="回退到 C3，npm uninstall x") + retry("C9") + checkpoint("5"))
    place.write(os.fsdecode(b"not utf-8 \xff"), "y")
    place.ok("rollback", "C4")
    place.ok("undo")
    place.ok("wrap", "--", "printf", "%s", checkpoint("1"))
    place.ok("record", "--session", "run", stdin=checkpoint("6"))
    place.write("later.txt", "x")
    return place


def test_an_event_of_each_kind(eventful: Place) -> None:
    document = eventful.ok("log", "--all", "--json")
    assert_published(document, "gitckpt.log/1")
    of_kind = {event["kind"]: event for event in document.json["events"]}
    assert set(of_kind) == {"start", "checkpoint", "retry", "rollback", "end"}
    for event in of_kind.values():
        shown = eventful.ok("show", event["ref"] if event["id"] else event["commit"], "--json")
        assert_published(shown, "gitckpt.event/1")
        assert shown.json == event


@pytest.mark.parametrize(
    "command",
    [
        "log", "log -n 2", "log --session run", "log --stat", "status", "sessions", "sessions --all", "show C4", "diff",
        "diff C1 C4", "diff C1 C4 a.txt", "context", "context --budget 10", "rollback C1 --dry-run",
        "rollback C1 --dry-run --scope all", "rollback --hint C4 --dry-run",
    ],
)  # fmt: skip
def test_documents_of_looking(eventful: Place, command: str) -> None:
    assert_published(eventful.ok(*command.split(), "--json"))


def test_documents_of_doing(recorded: Place) -> None:
    assert_published(recorded.ok("prune", "--keep-last", "0", "--json"), "gitckpt.prune/1")
    for command in ("rollback C1", "undo", "redo", "rollback C2 --path a.txt"):
        assert_published(recorded.ok(*command.split(), "--json"), "gitckpt.rollback/1")


@pytest.mark.parametrize("options", [[], ["--to", "2"], ["--rollback-target", "2"]])
def test_documents_of_a_replay(eventful: Place, options: list[str]) -> None:
    text = checkpoint("1") + checkpoint("2", hint="back to C1")
    assert_published(eventful.ok("replay", "-", *options, "--json", stdin=text))


def test_findings_are_a_published_document(eventful: Place) -> None:
    answer = eventful.run("validate", "--format", "json", stdin=checkpoint("1", phase="cooking"))
    MODELS[answer.json["schema"]].model_validate_json(answer.raw)


def test_names_that_are_not_utf8_keep_their_bytes(eventful: Place) -> None:
    [event] = [event for event in eventful.json("log")["events"] if event["id"] == "C4"]
    [odd] = [file for file in event["files"] if "not utf-8" in file["path"]]
    assert odd == {"status": "A", "path": "not utf-8 \\xff", "old_path": None, "b64": "bm90IHV0Zi04IP8="}
    plan = eventful.ok("rollback", "C1", "-n", "--json").json
    assert {"b64": "bm90IHV0Zi04IP8="} in [step["path"] for step in plan["steps"]]


#: Everything that takes --json and needs a repository.
COMMANDS = (
    "log", "log --all", "status", "sessions", "show C1", "diff", "diff C1", "context", "rollback C1", "rollback C1 -n",
    "rollback --continue", "rollback --abort", "undo", "redo", "prune --keep-last 1",
)  # fmt: skip


def assert_error(answer: Answer, status: int) -> None:
    assert (answer.status, answer.err) == (status, "")
    assert_published(answer, "gitckpt.error/1")
    assert answer.json["exit"] == status


def test_errors_outside_of_a_repository(place: Place, tmp_path: Path) -> None:
    for command in COMMANDS:
        answer = place.run(*command.split(), "--json", cwd=tmp_path)
        assert_error(answer, 3)
        assert (answer.json["error"], answer.json["hint"]) == (
            f"this is not a git repository ({tmp_path})", "git init makes one here",
        )  # fmt: skip


def test_errors_without_git(place: Place) -> None:
    for command in COMMANDS:
        answer = place.run(*command.split(), "--json", env={"PATH": "/nonexistent"})
        assert_error(answer, 4)
        assert answer.json["error"] == "git was not found on PATH"


def test_errors_of_usage_and_of_unknown_names(recorded: Place) -> None:
    wrong = {
        "rollback": 2, "rollback C1 --scope x": 2, "log --bogus": 2, "log -n x": 2, "show": 2, "frobnicate": 2,
        "show C9": 3, "diff C9": 3, "log --session x": 3, "rollback C9": 3, "undo": 3, "redo": 3,
        "replay none.log": 2,
    }  # fmt: skip
    for command, status in wrong.items():
        assert_error(recorded.run(*command.split(), "--json"), status)


def test_agents_text_cannot_steer_a_terminal_through_json(place: Place) -> None:
    place.ok("save", "-m", "\x1b]0;owned\x07 \u202e \x9b31m")
    answer = place.ok("log", "--json")
    assert not any(character in answer.out for character in "\x1b\x07\x9b\u202e")
    assert answer.json["events"][1]["fields"]["done"] == ["\x1b]0;owned\x07 \u202e \x9b31m"]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_has_a_json_schema(name: str) -> None:
    schema = json_schema(name)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["type"] == "object" and schema["additionalProperties"] is False
