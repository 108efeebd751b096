"""Which client a command runs, what its flags make it print, and what of that is lost."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from captured import FIXTURES, NINE, captured, names

from gitckpt.agents.signals import Boundary
from gitckpt.agents.table import AGENTS, CHANNELS, channel_for, channel_named
from gitckpt.errors import UsageError


def chosen(command: str, *, terminal: bool = True) -> tuple[str, str]:
    choice = channel_for(shlex.split(command), terminal=terminal)
    return choice.agent.name if choice.agent else "", choice.channel


@pytest.mark.parametrize(
    ("command", "agent"),
    [
        ("claude -p hi", "claude-code"),
        ("/usr/local/bin/claude", "claude-code"),
        ("npx @anthropic-ai/claude-code -p hi", "claude-code"),
        ("npx -y @anthropic-ai/claude-code@2.1.332 -p hi", "claude-code"),
        ("npx --package=@openai/codex -- codex exec hi", "codex"),
        ("npm exec -- @openai/codex exec hi", "codex"),
        ("pnpm dlx @google/gemini-cli", "gemini"),
        ("bunx opencode-ai run hi", "opencode"),
        ("node --no-warnings /opt/node_modules/@anthropic-ai/claude-code/cli.js -p hi", "claude-code"),
        ("node -r ./hook.js node_modules/@qwen-code/qwen-code/cli.js", "qwen"),
        ("env -u PAGER A=b _C=d claude -p hi", "claude-code"),
        ("env -i nice -n 5 timeout -k 5 60 stdbuf -oL codex exec hi", "codex"),
        ("nohup gemini -p hi", "gemini"),
        ("sudo -u dev cline hi", "cline"),
        ("uvx --from aider-chat aider", "aider"),
        ("python3.11 -m aider --message hi", "aider"),
        ("uv tool run mini-swe-agent", "mini-swe-agent"),
        ("uv run mini -t hi", "mini-swe-agent"),
        ("copilot -p hi", "copilot"),
        ("pi -p hi", "pi"),
        ("claude.exe -p hi", "claude-code"),
        ("sh -c 'claude -p hi'", ""),
        ("my-claude -p hi", ""),
        ("cat claude", ""),
        ("node claude-code.js", ""),
        ("claude-code-router", ""),
        ("env A=b", ""),
        ("timeout 5", ""),
        ("npx", ""),
    ],
)
def test_the_client_that_a_command_runs_is_known(command: str, agent: str) -> None:
    assert chosen(command)[0] == agent


@pytest.mark.parametrize(
    "command",
    [
        "claude -p hi --output-format stream-json --verbose",
        "claude --print --output-format=stream-json --include-partial-messages hi",
        "codex exec --json hi",
        "codex -m gpt-5 --cd . exec --json hi",
        "codex exec --experimental-json hi",
        "gemini -p hi -o stream-json",
        "qwen -p hi --output-format stream-json",
        "opencode run --format json hi",
        "cline --json hi",
        "copilot -p hi --allow-all --output-format json",
        "pi --mode json hi",
    ],
)
def test_json_lines_lose_nothing(command: str) -> None:
    agent, channel = chosen(command)
    choice = channel_for(shlex.split(command))
    assert channel == agent and channel in CHANNELS
    assert (choice.mode.loss, choice.mode.streams) == ("", ("stdout",))


@pytest.mark.parametrize(
    ("command", "loss", "remedy"),
    [
        ("claude -p hi", "last message only", "--output-format stream-json --verbose"),
        ("claude -p hi --output-format json", "last message only", "stream-json"),
        ("codex exec hi", "stand among its words", "codex exec --json"),
        ("codex exec -- --json", "stand among its words", "codex exec --json"),
        ("qwen -p hi", "last message only", "-o stream-json"),
        ("qwen -p hi -o json", "at the end only", "-o stream-json"),
        ("gemini -p hi -o json", "NO block", "-o stream-json"),
        ("pi -p hi", "last message only", "--mode json"),
        ("aider --message hi", "one paragraph", "--no-pretty"),
        ("aider --no-pretty --message hi", "wraps at 80", ""),
        ("mini -t hi", "wraps at 80", ""),
        ("claude", "screen", "claude -p"),
        ("codex", "screen", "codex exec --json"),
        ("codex 'exec this'", "screen", "codex exec --json"),
        ("gemini", "screen", "-o stream-json"),
        ("qwen -i hi", "screen", "-o stream-json"),
        ("opencode", "screen", "opencode run --format json"),
        ("cline -i", "screen", "cline --json"),
        ("cline", "screen", "cline --json"),
        ("copilot", "screen", "--output-format json"),
        ("pi", "screen", "--mode json"),
    ],
)
def test_what_is_lost_is_told_with_what_helps(command: str, loss: str, remedy: str) -> None:
    mode = channel_for(shlex.split(command)).mode
    assert loss in mode.loss and remedy in mode.remedy


@pytest.mark.parametrize("command", ["claude", "codex", "gemini", "qwen", "opencode", "cline -i", "copilot", "pi"])
def test_a_screen_is_not_read(command: str) -> None:
    choice = channel_for(shlex.split(command))
    assert (choice.stream("stdout"), choice.stream("stderr")) == (None, None)


@pytest.mark.parametrize(
    ("command", "capture"),
    [
        ("gemini -p hi", "gemini.text.txt"),
        ("opencode run hi", "opencode.text.txt"),
        ("cline hi", "cline.text.txt"),
        ("copilot -p hi", "copilot.text.txt"),
        ("copilot -p hi --silent", "copilot.silent.txt"),
    ],
)
def test_text_modes_without_a_loss_hold_all_blocks(command: str, capture: str) -> None:
    choice = channel_for(shlex.split(command))
    assert (choice.channel, choice.mode.loss) == ("plain", "")
    stream = choice.stream("stdout")
    assert stream is not None and choice.stream("stderr") is None
    items = stream.feed(captured(capture)) + stream.close()
    assert names(items) == NINE
    assert not [item for item in items if isinstance(item, Boundary)]


def test_a_mode_that_prints_the_last_message_holds_two_blocks() -> None:
    stream = channel_for(["claude", "-p", "hi"]).stream("stdout")
    assert stream is not None
    assert names(stream.feed(captured("claude-code.text.txt")) + stream.close()) == ["C6", "final"]


def test_without_a_terminal_a_client_prints() -> None:
    assert chosen("gemini hi", terminal=False) == ("gemini", "plain")
    assert channel_for(["gemini"], terminal=False).mode.loss == ""
    assert "last message" in channel_for(["claude"], terminal=False).mode.loss
    assert "last message" in channel_for(["codex", "exec", "hi"], terminal=False).mode.loss


def test_an_unknown_command_is_read_on_both_streams() -> None:
    choice = channel_for(["my-agent", "--json"])
    assert (choice.channel, choice.mode.loss) == ("plain", "")
    assert choice.stream("stdout") is not None and choice.stream("stderr") is not None


def test_where_the_arguments_begin_is_known() -> None:
    argv = shlex.split("env A=b npx -y @openai/codex exec hi")
    assert argv[channel_for(argv).program.arguments_at :] == ["exec", "hi"]


def test_channels_go_by_the_names_of_their_clients() -> None:
    for name in CHANNELS:
        assert channel_named(name).channel == name
    with pytest.raises(UsageError, match="'telepathy' is no channel") as caught:
        channel_named("telepathy")
    assert all(name in caught.value.hint for name in CHANNELS)
    with pytest.raises(UsageError):
        channel_named("aider")  # which has no events


def test_names_of_clients_are_their_own() -> None:
    programs = [program for agent in AGENTS for program in agent.programs]
    assert len({agent.name for agent in AGENTS}) == len(AGENTS)
    assert len(set(programs)) == len(programs)


def test_each_capture_is_read_by_a_test() -> None:
    read = "".join(path.read_text() for path in FIXTURES.parent.glob("*.py"))
    assert [path.name for path in FIXTURES.iterdir() if path.name not in read] == []


RECIPES = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()


@pytest.mark.parametrize("command", re.findall(r"^gitckpt wrap -- (.*?)(?: +#.*)?$", RECIPES, re.MULTILINE))
def test_the_recipes_lose_no_words_or_say_so(command: str) -> None:
    choice = channel_for(shlex.split(command), terminal=False)
    assert choice.agent is not None
    is_whole = bool(choice.agent.inject) or not choice.mode.loss
    assert is_whole or "at 80 columns" in RECIPES.partition(command)[2].partition("##")[0]


def test_every_client_has_a_recipe() -> None:
    written = re.findall(r"^gitckpt wrap -- (.*?)(?: +#.*)?$", RECIPES, re.MULTILINE)
    assert {chosen(command)[0] for command in written} == {agent.name for agent in AGENTS}
