"""Our plugins that run inside opencode and pi, where hooks are functions, and what they pass to our hook."""

from __future__ import annotations

import json
from typing import Any, Final

from gitckpt.agents.hook import Hooked, read_shell_hook
from gitckpt.agents.lookup import rows, text
from gitckpt.agents.signals import Opened, Said
from gitckpt.agents.wiring import Wiring

#: Both plugins pass what was said since the last call to our hook, in the format of a shell hook, and wait for it to
#: end. They also call at the start, so that the hooks claim the session before `wrap` reads any words.
_TELL: Final = """\
// Written by gitckpt: tells `gitckpt hook` what the agent has said and which tool comes next, and waits for it.
import { spawnSync } from "node:child_process"

const [PROGRAM, ...WORDS] = %s
const tell = (payload) =>
  spawnSync(PROGRAM, WORDS, { input: JSON.stringify(payload), stdio: ["pipe", "ignore", "ignore"], timeout: 30000 })
"""

_OPENCODE: Final = """
export const Gitckpt = async ({ directory }) => {
  const heard = {}
  const pass = (event, session, more = {}) => {
    const said = Object.values(heard[session] ?? {})
    delete heard[session]
    tell({ hook_event_name: event, session_id: session, cwd: directory, said, ...more })
  }
  return {
    event: async ({ event: { type, properties: p } }) => {
      if (type === "message.part.delta" && p.field === "text") {
        const parts = (heard[p.sessionID] ??= {})
        const part = (parts[p.partID] ??= { message: p.messageID, text: "" })
        part.text += p.delta
      } else if (type === "session.created") pass("SessionStart", p.info?.id ?? p.sessionID ?? "")
      else if (type === "session.idle") pass("Stop", p.sessionID)
    },
    "tool.execute.before": async (call, { args }) =>
      pass("PreToolUse", call.sessionID, { tool_name: call.tool, tool_use_id: call.callID, tool_input: args }),
    "tool.execute.after": async (call) =>
      pass("PostToolUse", call.sessionID, { tool_name: call.tool, tool_use_id: call.callID }),
  }
}
"""

_PI: Final = """
export default function (pi) {
  let said = []
  const pass = (event, ctx, more = {}) => {
    const file = ctx?.sessionManager?.getSessionFile?.() ?? ""
    const session = file.replace(/^.*_/s, "").replace(/\\.jsonl$/, "")
    tell({ hook_event_name: event, session_id: session, transcript_path: file, cwd: ctx?.cwd ?? "", said, ...more })
    said = []
  }
  pi.on("session_start", async (_, ctx) => void pass("SessionStart", ctx))
  pi.on("message_end", async ({ message }) => {
    if (message?.role === "assistant")
      for (const part of message.content ?? [])
        if (part.type === "text") said.push({ message: String(message.timestamp), text: part.text })
  })
  pi.on("tool_call", async (call, ctx) =>
    void pass("PreToolUse", ctx, { tool_name: call.toolName, tool_use_id: call.toolCallId, tool_input: call.input }))
  pi.on("tool_result", async (call, ctx) =>
    void pass("PostToolUse", ctx, { tool_name: call.toolName, tool_use_id: call.toolCallId }))
  pi.on("agent_end", async (_, ctx) => void pass("Stop", ctx))
  pi.on("session_shutdown", async (_, ctx) => void pass("SessionEnd", ctx))
}
"""


def opencode_plugin(wiring: Wiring) -> str:
    """Return the plugin for opencode, in JavaScript."""
    return _TELL % json.dumps(wiring.hook) + _OPENCODE


def pi_extension(wiring: Wiring) -> str:
    """Return the extension for pi, in JavaScript that is valid TypeScript."""
    return _TELL % json.dumps(wiring.hook) + _PI


def read_plugin_hook(payload: dict[str, Any], event: str = "") -> Hooked:
    """Read a call by one of these plugins: like a shell hook's, plus everything said since the previous call."""
    call = read_shell_hook(payload, event)
    said = [Said(text(row, "text"), text(row, "message"), whole=True) for row in rows(payload, "said")]
    opened = [signal for signal in call.signals if isinstance(signal, Opened)]
    others = [signal for signal in call.signals if not isinstance(signal, Opened)]
    return call._replace(signals=(*opened, *said, *others))
