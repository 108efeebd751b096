"""`init --agent`: ours among what a person has configured, and out again to the byte."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import Place

from gitckpt.agents.named import HOOKED

MINE = '{"theme":"dark",\n  "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}}'


@pytest.fixture
def configured(place: Place, tmp_path: Path) -> Place:
    """A place whose owner has a home of his own."""
    home = tmp_path / "owner"
    home.mkdir()
    place.env["HOME"] = str(home)
    return place


def files(place: Place) -> dict[str, tuple[bytes, int]]:
    """All files of the home directory and the work tree, but for git's and for what we keep."""
    found = {}
    for top in (Path(place.env["HOME"]), place.path):
        for path in top.rglob("*"):
            if path.is_file() and ".git" not in path.parts and ".local" not in path.parts:
                found[str(path)] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


def directories(place: Place) -> set[Path]:
    return {p for p in Path(place.env["HOME"]).rglob("*") if p.is_dir() and ".local" not in p.parts}


def settings(place: Place) -> Path:
    path = Path(place.env["HOME"], ".claude/settings.json")
    path.parent.mkdir(exist_ok=True)
    return path


def hooks(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())["hooks"]
    return found


@pytest.mark.parametrize("name", HOOKED)
def test_a_client_is_set_up_and_taken_out_without_a_trace(configured: Place, name: str) -> None:
    before = files(configured), directories(configured)
    shown = configured.ok("init", "--agent", name, "--print").out
    assert "+" in shown and (files(configured), directories(configured)) == before
    configured.ok("init", "--agent", name)
    after = files(configured)
    new = set(after) - set(before[0])
    assert new and all(b"gitckpt" in after[path][0] for path in new)
    assert "so already" in configured.ok("init", "--agent", name).out
    assert files(configured) == after
    configured.ok("init", "--agent", name, "--remove")
    assert (files(configured), directories(configured)) == before
    assert "nothing of gitckpt's" in configured.ok("init", "--agent", name, "--remove").out


#: A variable of a client → a file of ours, as seen from the directory that it names.
MOVED = {
    "CLAUDE_CONFIG_DIR": ("claude-code", "settings.json"), "CODEX_HOME": ("codex", "hooks.json"),
    "GEMINI_CLI_HOME": ("gemini", ".gemini/settings.json"), "QWEN_HOME": ("qwen", "settings.json"),
    "XDG_CONFIG_HOME": ("opencode", "opencode/plugin/gitckpt.js"), "CLINE_DIR": ("cline", "hooks/PreToolUse"),
    "CLINE_DATA_DIR": ("cline", "settings/cline_mcp_settings.json"), "COPILOT_HOME": ("copilot", "hooks/gitckpt.json"),
    "PI_CODING_AGENT_DIR": ("pi", "extensions/gitckpt.ts"),
}  # fmt: skip


@pytest.mark.parametrize("variable", MOVED)
def test_a_client_that_keeps_its_files_elsewhere_is_set_up_there(
    configured: Place, tmp_path: Path, variable: str
) -> None:
    name, file = MOVED[variable]
    configured.env[variable] = str(tmp_path / "elsewhere")
    configured.ok("init", "--agent", name)
    assert "gitckpt" in (tmp_path / "elsewhere" / file).read_text()
    configured.ok("init", "--agent", name, "--remove")
    assert not (tmp_path / "elsewhere").exists()


def test_a_place_below_the_home_directory_may_be_written_with_a_tilde(configured: Place) -> None:
    configured.env["CODEX_HOME"] = "~/codex"
    configured.ok("init", "--agent", "codex")
    hooks_file = Path(configured.env["HOME"], "codex/hooks.json")
    assert hooks_file.exists() and not Path(configured.env["HOME"], ".codex").exists()
    assert "have been trusted" in configured.run("doctor").out
    config = hooks_file.with_name("config.toml")
    config.write_text(config.read_text() + f'[hooks.state."{hooks_file}:pre_tool_use:0:0"]\ntrusted_hash = "x"\n')
    assert "have been trusted" not in configured.run("doctor").out


def test_what_a_person_has_written_stays_and_comes_back_to_the_byte(configured: Place) -> None:
    path = settings(configured)
    path.write_text(MINE)
    path.chmod(0o600)
    configured.ok("init", "--agent", "claude-code")
    assert hooks(path)["PreToolUse"][0]["hooks"][0]["command"] == "mine"
    assert "hook claude-code" in hooks(path)["PreToolUse"][1]["hooks"][0]["command"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    configured.ok("init", "--agent", "claude-code", "--remove")
    assert path.read_text() == MINE and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_a_person_has_changed_since_stays(configured: Place) -> None:
    path = settings(configured)
    path.write_text(MINE)
    configured.ok("init", "--agent", "claude-code", "--lang", "zh")
    document = json.loads(path.read_text()) | {"theme": "light"}
    path.write_text(json.dumps(document))
    configured.ok("init", "--agent", "claude-code", "--lang", "en")
    assert "--lang en" in path.read_text()
    configured.ok("init", "--agent", "claude-code", "--remove")
    assert json.loads(path.read_text()) == json.loads(MINE) | {"theme": "light"}


def test_another_gitckpt_takes_the_place_of_the_first_and_the_old_bytes_still_come_back(configured: Place) -> None:
    path = settings(configured)
    path.write_text(MINE)
    configured.ok("init", "--agent", "claude-code", "--lang", "zh")
    configured.ok("init", "--agent", "claude-code", "--lang", "en")
    assert len(hooks(path)["Stop"]) == 1 and "--lang en" in hooks(path)["Stop"][0]["hooks"][0]["command"]
    configured.ok("init", "--agent", "claude-code", "--remove")
    assert path.read_text() == MINE


@pytest.mark.parametrize("content", [b"{ // mine\n}", b"[]", b"\xff", b'{"a": 1'])
def test_a_file_that_cannot_be_read_is_refused_before_any_is_written(configured: Place, content: bytes) -> None:
    path = settings(configured)
    path.write_bytes(content)
    before = files(configured)
    answer = configured.run("init", "--agent", "codex", "--agent", "claude-code")
    assert (answer.status, answer.out) == (3, "") and str(path) in answer.err
    assert files(configured) == before


def test_a_link_to_a_file_of_a_persons_own_stays_one(configured: Place) -> None:
    own = Path(configured.env["HOME"], "dotfiles.json")
    own.write_text(MINE)
    settings(configured).symlink_to(own)
    configured.ok("init", "--agent", "claude-code")
    assert settings(configured).is_symlink() and "hook claude-code" in own.read_text()
    configured.ok("init", "--agent", "claude-code", "--remove")
    assert settings(configured).is_symlink() and own.read_text() == MINE


@pytest.mark.parametrize("target", ["../owner/of-mine.json", "../owner/none.json", ".git/hooks/post-checkout"])
def test_a_link_in_the_repository_leads_nowhere_else(configured: Place, target: str) -> None:
    Path(configured.env["HOME"], "of-mine.json").write_text("{}")
    (configured.path / ".mcp.json").symlink_to(target)
    before = files(configured)
    for more in ([], ["--remove"]):
        answer = configured.run("init", "--agent", "claude-code", *more)
        assert (answer.status, "leads out of the work tree" in answer.err) == (3, True)
    assert files(configured) == before and not (configured.path / ".git/hooks/post-checkout").exists()


def test_a_persons_hook_that_calls_gitckpt_is_not_taken_for_ours(configured: Place) -> None:
    own = Path(configured.env["HOME"], ".cline/hooks/PreToolUse")
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/sh\nmy-own-check\ngitckpt hook cline PreToolUse\n")
    before = files(configured)
    answer = configured.run("init", "--agent", "cline")
    assert (answer.status, f"{own} is there already, and not ours" in answer.err) == (3, True)
    configured.ok("init", "--agent", "cline", "--remove")
    assert files(configured) == before


def test_what_all_who_have_the_repository_share_names_no_place_of_one_machine(configured: Place) -> None:
    configured.ok("init", "--agent", "claude-code")
    server = json.loads(configured.read(".mcp.json"))["mcpServers"]["gitckpt"]
    assert server["command"] == "gitckpt"


def test_outside_of_a_repository_the_home_directory_alone_is_written_to(configured: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = configured.ok("init", "--agent", "claude-code", cwd=elsewhere)
    assert "no work tree" in answer.err and list(elsewhere.iterdir()) == []
    assert "PreToolUse" in hooks(settings(configured))


def test_codex_is_said_to_want_trust(configured: Place) -> None:
    assert "trusted once" in configured.ok("init", "--agent", "codex").err
    assert "trusted once" in configured.run("doctor").out


def test_a_client_that_nobody_knows_is_a_mistake(configured: Place) -> None:
    answer = configured.run("init", "--agent", "emacs")
    assert answer.status == 2 and "claude-code" in answer.err


@pytest.mark.parametrize(("locale", "told"), [("zh_CN.UTF-8", ""), ("C.UTF-8", " --lang en")])
def test_the_agent_is_told_in_the_language_of_the_locale(configured: Place, locale: str, told: str) -> None:
    configured.process("init", "--agent", "claude-code", env=configured.env | {"LC_ALL": locale})
    assert hooks(settings(configured))["Stop"][0]["hooks"][0]["command"].endswith(f"hook claude-code{told}")


def test_a_language_that_is_none_is_not_written(configured: Place) -> None:
    assert configured.run("init", "--agent", "claude-code", "--lang", "fr").status == 2
    assert not settings(configured).exists()


def test_a_gitckpt_that_the_repositorys_file_would_not_find_is_told(configured: Place, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "")
    env = {"PATH": str(tmp_path / "bin")}
    told = "no gitckpt is in PATH"
    assert told in configured.run("init", "--agent", "claude-code", env=env).err
    assert told not in configured.run("init", "--agent", "qwen", env=env).err
    (tmp_path / "bin" / "gitckpt").symlink_to(sys.executable)
    assert told not in configured.run("init", "--agent", "claude-code", env=env).err
