"""How clients are given our hooks and tools, for one run and in their configuration; and the plugins, run for real."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from commandline import HANG, checkpoint

from gitckpt.agents.agent import Agent
from gitckpt.agents.cline import CLINE
from gitckpt.agents.plugins import opencode_plugin, pi_extension, read_plugin_hook
from gitckpt.agents.signals import Boundary, Opened, Said
from gitckpt.agents.table import AGENTS
from gitckpt.agents.wiring import Injection, Installation, Wiring
from gitckpt.errors import Refused

AGENT = {agent.name: agent for agent in AGENTS}
INJECTED = [agent for agent in AGENTS if agent.inject]
INSTALLED = [agent for agent in AGENTS if agent.install]


def wiring(agent: str = "client", directory: str = "/run/ours") -> Wiring:
    return Wiring(("/opt/my tools/gitckpt", "hook", agent), ("/opt/my tools/gitckpt", "mcp"), directory)


def injection(name: str) -> Injection:
    inject = AGENT[name].inject
    assert inject is not None
    return inject(wiring(name))


def installations(agent: Agent) -> list[Installation]:
    assert agent.install is not None
    return list(agent.install(wiring(agent.name)))


def every_text(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in every_text(item)]
    return [text for item in value for text in every_text(item)] if isinstance(value, list) else [str(value)]


# -- for one run


def test_all_but_cline_can_be_given_hooks_for_one_run() -> None:
    assert {agent.name for agent in INJECTED} == {
        "claude-code", "codex", "gemini", "qwen", "opencode", "copilot", "pi",
    }  # fmt: skip


def test_claude_gets_both_on_its_command_line() -> None:
    server, option, settings = injection("claude-code").arguments
    assert json.loads(server.removeprefix("--mcp-config=")) == {
        "mcpServers": {"gitckpt": {"command": "/opt/my tools/gitckpt", "args": ["mcp"], "alwaysLoad": True}}
    }
    assert option == "--settings"
    hooks = json.loads(settings)["hooks"]
    assert {"PreToolUse", "Stop"} <= set(hooks)
    [entry] = hooks["PreToolUse"]
    assert entry["matcher"] == "*"
    assert shlex.split(entry["hooks"][0]["command"]) == list(wiring("claude-code").hook)


def test_codex_gets_settings_that_are_toml() -> None:
    arguments = injection("codex").arguments
    assert set(arguments[::2]) == {"-c"}
    settings: dict[str, Any] = {}
    for assignment in arguments[1::2]:
        key, _, value = assignment.partition("=")
        settings[key] = tomllib.loads(f"value = {value}")["value"]
    assert settings["mcp_servers.gitckpt.args"] == ["mcp"]
    command = settings["hooks.PreToolUse"][0]["hooks"][0]["command"]
    assert shlex.split(command) == list(wiring("codex").hook)
    assert "trusted" in injection("codex").caution


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_a_settings_file_of_ours_is_named_in_the_environment(name: str) -> None:
    given = injection(name)
    [(path, content)] = given.files.items()
    assert list(given.environment.values()) == [path] and path.startswith("/run/ours/")
    assert {"gemini": "BeforeTool", "qwen": "PreToolUse"}[name] in json.loads(content)["hooks"]
    tools = json.loads(content) if name == "gemini" else json.loads(given.arguments[0].removeprefix("--mcp-config="))
    assert tools["mcpServers"]["gitckpt"]["trust"] is True
    assert "system settings" in given.caution


def test_cline_is_told_to_wait_for_the_tools() -> None:
    [settings] = [file for file in installations(CLINE) if file.path.endswith("cline_mcp_settings.json")]
    assert json.loads(settings.merge(None))["mcpServers"]["gitckpt"]["timeout"] >= 60  # its own is three seconds


def test_opencode_gets_its_configuration_in_the_environment_and_a_plugin() -> None:
    given = injection("opencode")
    config = json.loads(given.environment["OPENCODE_CONFIG_CONTENT"])
    assert config["mcp"]["gitckpt"]["command"] == list(wiring().mcp)
    assert config["mcp"]["gitckpt"]["timeout"] >= 60_000  # its own is five seconds
    assert [url.removeprefix("file://") for url in config["plugin"]] == list(given.files)


def test_copilot_and_pi_get_files_that_their_options_name() -> None:
    option, server, directory_option, directory = injection("copilot").arguments
    assert (option, directory_option) == ("--additional-mcp-config", "--plugin-dir")
    assert json.loads(server)["mcpServers"]["gitckpt"]["tools"] == ["*"]
    files = injection("copilot").files
    assert json.loads(files[f"{directory}/plugin.json"])["hooks"] == "hooks.json"
    [hook] = json.loads(files[f"{directory}/hooks.json"])["hooks"]["preToolUse"]
    assert shlex.split(hook["bash"]) == [*wiring("copilot").hook, "preToolUse"]
    assert injection("pi").arguments == ("-e", *injection("pi").files)


# -- in the configuration


@pytest.mark.parametrize("agent", INSTALLED, ids=[agent.name for agent in INSTALLED])
def test_what_is_installed_is_there_once_and_can_be_taken_out(agent: Agent) -> None:
    for file in installations(agent):
        assert not file.path.startswith("/")
        new = file.merge(None)
        assert "gitckpt" in new
        assert file.merge(new) == new
        assert file.remove(new) is None


@pytest.mark.parametrize("agent", INSTALLED, ids=[agent.name for agent in INSTALLED])
def test_what_a_person_has_configured_stays(agent: Agent) -> None:
    mine = {
        "theme": "dark", "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "my-hook"}]}], "Other": []},
        "mcpServers": {"mine": {"command": "mine"}}, "mcp": {"mine": {"enabled": False}}, "名": "值",
    }  # fmt: skip
    for file in installations(agent):
        if not file.path.endswith(".json") or file.path.endswith("hooks/gitckpt.json"):
            continue
        old = json.dumps(mine, indent=4, ensure_ascii=False) + "\n"
        new = file.merge(old)
        assert set(every_text(mine)) < set(every_text(json.loads(new)))
        assert file.merge(new) == new and "\n    " in new and "值" in new
        removed = file.remove(new)
        assert removed is not None and json.loads(removed) == mine


def test_a_hook_of_another_version_is_replaced_and_not_doubled() -> None:
    [file, _] = installations(AGENT["claude-code"])
    install = AGENT["claude-code"].install
    assert install is not None
    older = install(Wiring(("gitckpt", "hook", "claude-code"), ("gitckpt", "mcp")))[0]
    new = json.loads(file.merge(older.merge(None)))
    assert [len(entries) for entries in new["hooks"].values()] == [1] * len(new["hooks"])
    assert "/opt/my tools" in new["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert older.remove(file.merge(None)) is None


def test_a_persons_hook_in_one_group_with_ours_stays() -> None:
    [file, _] = installations(AGENT["claude-code"])
    mine = {"type": "command", "command": "my-hook"}
    ours = {"type": "command", "command": "gitckpt hook claude-code"}
    old = json.dumps({"hooks": {"Stop": [{"matcher": "*", "hooks": [ours, mine]}]}})
    entries = json.loads(file.merge(old))["hooks"]["Stop"]
    assert (entries[0], len(entries)) == ({"matcher": "*", "hooks": [mine]}, 2)
    removed = file.remove(old)
    assert removed is not None and json.loads(removed) == {"hooks": {"Stop": [{"matcher": "*", "hooks": [mine]}]}}


def test_a_server_of_another_version_is_replaced() -> None:
    install = AGENT["opencode"].install
    assert install is not None
    older = install(Wiring(("gitckpt", "hook", "opencode"), ("gitckpt", "mcp")))[0]
    new = json.loads(installations(AGENT["opencode"])[0].merge(older.merge(None)))
    assert new["mcp"]["gitckpt"]["command"] == list(wiring().mcp)


@pytest.mark.parametrize("old", ['{"a": 1, // why\n}', "[]", "", "null", "{" * 100_000])
def test_a_file_that_cannot_be_read_is_refused(old: str) -> None:
    [file, _] = installations(AGENT["claude-code"])
    if old == "":
        assert json.loads(file.merge(old))["hooks"]  # an empty file is none
        return
    for act in (file.merge, file.remove):
        with pytest.raises(Refused, match="left as it was|left as it is") as caught:
            act(old)
        assert "gitckpt" in caught.value.hint


def test_toml_keeps_its_comments_and_its_order() -> None:
    file = installations(AGENT["codex"])[1]
    old = '# mine\nmodel = "m"  # best\n\n[mcp_servers.other]\ncommand = "x"'
    new = file.merge(old)
    assert new.startswith(old)
    servers = tomllib.loads(new)["mcp_servers"]
    times = {"startup_timeout_sec": 60, "tool_timeout_sec": 600}
    assert servers["gitckpt"] == {"command": "/opt/my tools/gitckpt", "args": ["mcp"], **times}
    assert file.merge(new) == new
    after = new + "\n[projects.x]\ntrust_level = 'trusted'\n"
    removed = file.remove(after)
    assert removed is not None and tomllib.loads(removed) == tomllib.loads(
        old + "\n[projects.x]\ntrust_level = 'trusted'\n"
    )
    assert "# mine" in removed and "# best" in removed
    for bad in ("[mcp_servers\n", "mcp_servers = {}\n"):
        with pytest.raises(Refused):
            file.merge(bad)


def test_a_file_that_is_not_ours_is_left() -> None:
    hooks = [file for file in installations(AGENT["cline"]) if file.executable]
    assert [file.path for file in hooks][-1] == ".cline/hooks/PostToolUse"
    assert hooks[-1].merge(None).endswith("hook cline PostToolUse\n")
    with pytest.raises(Refused):
        hooks[0].merge("#!/bin/sh\nmy-own-hook\n")
    assert hooks[0].remove("#!/bin/sh\nmy-own-hook\n") == "#!/bin/sh\nmy-own-hook\n"


# -- the plugins

OPENCODE_RUN = """
import { Gitckpt } from "./gitckpt.mjs"
const hooks = await Gitckpt({ directory: "/repo" })
const heard = (text, partID = "p") =>
  hooks.event({ event: { type: "message.part.delta", properties: { sessionID: "s", messageID: "m", partID, field: "text", delta: text } } })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await heard("===CHECK"); await heard("POINT 1==="); await heard("more", "q")
await hooks["tool.execute.before"]({ sessionID: "s", tool: "bash", callID: "c" }, { args: { filePath: "a.txt" } })
await hooks["tool.execute.after"]({ sessionID: "s", tool: "bash", callID: "c" }, { output: "…" })
await heard("last")
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
await hooks.event({ event: { type: "file.edited", properties: { file: "a.txt" } } })
"""

PI_RUN = """
import extension from "./gitckpt.mjs"
const on = {}
extension({ on: (name, does) => (on[name] = does) })
const ctx = { cwd: "/repo", sessionManager: { getSessionFile: () => "/home/dev/sessions/2026-11-30T03_s.jsonl" } }
const said = (text) => on.message_end({ message: { role: "assistant", timestamp: "m", content: [{ type: "text", text }] } }, ctx)
await on.session_start({ reason: "startup" }, ctx)
await said("===CHECKPOINT 1==="); await said("more")
await on.message_end({ message: { role: "user", content: [{ type: "text", text: "prompt" }] } }, ctx)
await on.tool_call({ toolName: "bash", toolCallId: "c", input: { path: "a.txt" } }, ctx)
await on.tool_result({ toolName: "bash", toolCallId: "c" }, ctx)
await said("last")
await on.agent_end({}, ctx)
await on.session_shutdown({}, ctx)
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="plugins run in node")
@pytest.mark.parametrize(("plugin", "run"), [(opencode_plugin, OPENCODE_RUN), (pi_extension, PI_RUN)])
def test_a_plugin_tells_what_was_said_before_each_tool(plugin: Any, run: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    hook = (sys.executable, "-c", f"import sys; open({str(log)!r}, 'a').write(sys.stdin.read() + '\\n')")
    (tmp_path / "gitckpt.mjs").write_text(plugin(Wiring(hook, ("gitckpt", "mcp"))))
    (tmp_path / "run.mjs").write_text(run)
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, timeout=HANG)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    opened, before, after, turn, *closed = [read_plugin_hook(json.loads(line)) for line in log.read_text().splitlines()]
    assert {call.session for call in (opened, before, after, turn)} == {"s"} and before.cwd == "/repo"
    assert (opened.kind, opened.signals) == ("opened", (Opened("s", "", "/repo"),))
    assert before.signals == (
        Opened("s", "", "/repo"), Said("===CHECKPOINT 1===", "m", True), Said("more", "m", True),
        Boundary("before", "bash", "c", False, ("a.txt",)),
    )  # fmt: skip
    assert after.signals == (Opened("s", "", "/repo"), Boundary("after", "bash", "c"))
    assert turn.signals == (Opened("s", "", "/repo"), Said("last", "m", True), Boundary("turn"))
    assert [call.kind for call in closed] == (["closed"] if plugin is pi_extension else [])


def test_words_that_are_no_words_are_left_out_of_a_plugins_call() -> None:
    call = read_plugin_hook(
        {"hook_event_name": "Stop", "session_id": "s", "said": [None, 1, {"text": 2}, {"text": checkpoint("1")}]}
    )
    assert [signal.text for signal in call.signals if isinstance(signal, Said)] == ["", checkpoint("1")]
