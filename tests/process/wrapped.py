"""Runs an agent as the tests ask for it: `python wrapped.py OPTIONS COMMAND…`, OPTIONS a JSON object.

log         file that gets one JSON object a line for each callback
mode, cwd, patience   passed to run_agent
wait        file that on_output waits for before it returns
freeze      freeze the agent in on_output, then touch `frozen` and wait for `wait`, if given
gone        file whose existence on_output records when it returns
fail        raise from on_output
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from typing import Any

from gitckpt.errors import GitckptError
from gitckpt.process import AgentExit, RunningAgent, run_agent

OPTIONS: dict[str, Any] = json.loads(sys.argv[1])


def log(**record: object) -> None:
    with open(OPTIONS["log"], "a") as file:
        file.write(json.dumps(record) + "\n")


def wait_for_file() -> None:
    while "wait" in OPTIONS and not os.path.exists(OPTIONS["wait"]):
        time.sleep(0.005)


def on_output(chunk: bytes, stream: str, agent: RunningAgent) -> None:
    if OPTIONS.get("quiet"):
        return
    log(event="output", stream=stream, chunk=base64.b64encode(chunk).decode(), agent=agent.pid)
    if "fail" in OPTIONS:
        raise RuntimeError("the recorder failed")
    if "freeze" in OPTIONS:
        with agent.freeze() as freeze:
            log(event="frozen")
            wait_for_file()
        log(event="continued", held=freeze.held)
    wait_for_file()
    log(event="returned", gone="gone" in OPTIONS and os.path.exists(OPTIONS["gone"]))


def on_exit(agent_exit: AgentExit) -> None:
    log(event="exit", status=agent_exit.status, signal=agent_exit.signal, leftover=agent_exit.leftover)
    log(event="memory", kilobytes=peak_kilobytes())


def peak_kilobytes() -> int:
    """Return the peak memory of this program. `ru_maxrss` also counts the memory of the test's process when it started
    us.
    """
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def main() -> int:
    passed = {name: OPTIONS[name] for name in ("mode", "cwd", "patience") if name in OPTIONS}
    try:
        return run_agent(
            sys.argv[2:],
            on_output=on_output,
            before_start=lambda: log(event="before_start"),
            on_exit=on_exit,
            **passed,
        ).status
    except GitckptError as error:
        print(f"{error}\n{error.hint}", file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
