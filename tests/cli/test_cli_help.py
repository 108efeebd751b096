"""Help, and what the shell offers while a person types."""

from __future__ import annotations

import pytest
from commandline import Answer, Place, checkpoint
from declared_commands import commands

from gitckpt.cli.usage import EXAMPLES

#: An agent's words that would steer the terminal of whoever presses Tab.
HOSTILE = "a\x1b]0;title\x07 b: \"c\" 'd' $(e) `f`"


def completed(place: Place, *words: str, shell: str = "zsh") -> Answer:
    """What is offered for the last of the words after `gitckpt`."""
    line = " ".join(["gitckpt", *words])
    env = {"_GITCKPT_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line}
    return place.run(env=env | {"COMP_WORDS": line, "COMP_CWORD": str(len(words))})


def test_the_commands_are_listed_by_what_they_are_for(place: Place) -> None:
    lines = place.ok("--help").out.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == [
        "Options:", "Record:", "Go back:", "Try:", "Look:", "Use:", "Protocol:", "Share:", "Keep:", "Check:", "Set up:",
        "Measure:",
    ]  # fmt: skip
    assert {line.split()[0] for line in lines if line.startswith("  ")} >= set(commands())


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_shows_an_example_and_no_name_of_a_type(place: Place, name: str) -> None:
    text = place.ok(name, "--help").out
    assert text.endswith(f"\nExample:\n  {EXAMPLES[name]}\n")
    assert "<" not in text and "..." not in text.replace("CMD...", "").replace("]...", "")
    declared = {option for parameter in commands()[name] for option in parameter.options}
    assert all(option in text for option in declared)


def test_help_is_plain_on_a_terminal(place: Place) -> None:
    assert "\x1b" not in place.typed("rollback", "--help", colours=True).out


def test_the_shell_completes_commands_and_options(place: Place) -> None:
    assert completed(place, "roll", shell="bash") == (0, b"rollback\n", "")
    assert completed(place, "rollback", "--sc", shell="bash") == (0, b"--scope\n", "")


@pytest.mark.parametrize("command", ["rollback", "show", "diff", "retry"])
def test_the_shell_completes_ids_newest_first(recorded: Place, command: str) -> None:
    assert completed(recorded, command, "", shell="bash").out.split() == ["C3", "C2", "C1", "last", "start"]
    assert completed(recorded, command, "C", shell="bash").out.split() == ["C3", "C2", "C1"]
    assert '"C2":"step 2"' in completed(recorded, command, "").out


def test_ids_of_all_sessions_are_completed_behind_their_names(recorded: Place) -> None:
    recorded.ok("save", "--session", "other")
    assert completed(recorded, "show", "run/", shell="bash").out.split() == ["run/C3", "run/C2", "run/C1"]
    assert completed(recorded, "log", "--session", "", shell="bash").out.split() == ["other", "run"]


def test_an_id_that_was_used_again_is_offered_once_as_the_newest(recorded: Place) -> None:
    recorded.ok("record", stdin=checkpoint("2", "once more"))
    assert completed(recorded, "show", "C2").out.count("C2") == 1
    assert "once more" in completed(recorded, "show", "C2").out


def test_what_an_agent_wrote_is_offered_escaped(recorded: Place) -> None:
    recorded.ok("save", "-m", HOSTILE)
    for shell in ("bash", "zsh", "fish"):
        answer = completed(recorded, "show", "C4", shell=shell)
        assert (answer.status, answer.err) == (0, "") and not set(answer.out) & {"\x1b", "\x07"}


def test_where_nothing_can_be_offered_nothing_is_said(place: Place) -> None:
    assert completed(place, "rollback", "", shell="bash") == (0, b"\n", "")
    place.path.joinpath(".git", "HEAD").unlink()
    assert completed(place, "rollback", "", shell="bash") == (0, b"\n", "")


def test_the_script_for_the_shell_is_printed(place: Place) -> None:
    env = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the shell that a test runs under is not told
    assert "_GITCKPT_COMPLETE=complete_bash" in place.run("--show-completion", "bash", env=place.env | env).out
