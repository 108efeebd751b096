"""A process with all of gitckpt loaded, which forks for each command line it is asked to run.

Each command runs in its own process, directory and environment, as for a user, but without the third of a second that
Python needs to import everything. A request is a line of JSON: `{"args", "cwd", "env", "stdin", "stdout", "stderr"}`,
the last three being file paths. Optional fields are `"unprivileged": true`, which makes permission bits bind even root,
`"largest_file"`, the maximum size in bytes of any file, and `"fault"`, which describes what happens at the command's
n-th change of files. The answer has two lines: the process id immediately, and the exit status at the end.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import pkgutil
import resource
import signal
import sys
import traceback
from importlib import import_module
from typing import Any, NoReturn

import gitckpt
from gitckpt.__main__ import main

#: From <linux/prctl.h> and <linux/capability.h>.
PR_CAPBSET_DROP, CAPABILITY_VERSION = 24, 0x20080522


def load_everything() -> None:
    for module in pkgutil.walk_packages(gitckpt.__path__, "gitckpt."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    import_module("openai.resources.chat")  # slow to import, and imported on demand


def drop_capabilities() -> None:
    """Drop all capabilities of this process, and those that root would regain at the next exec."""
    libc = ctypes.CDLL(None)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)())


#: The audit events with which Python announces a change on disk.
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate")


class Fault:
    """Makes this process die (`dies`) or find `no room` at change number `at` of what is `below` a directory.

    It counts changes in a file, `count`, so that the number survives the process."""

    def __init__(self, *, at: int, how: str, below: str, count: str) -> None:
        self._at, self._how, self._below, self._number = at, how, below, 0
        self._count = os.open(count, os.O_WRONLY | os.O_CREAT, 0o644)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Handle a Python audit event."""
        changes = event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if not changes or not isinstance(arguments[0], str | bytes):
            return
        if not os.path.abspath(os.fsdecode(arguments[0])).startswith(self._below):
            return
        self._number += 1
        os.pwrite(self._count, b"%d" % self._number, 0)
        if self._number == self._at and self._how == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._number == self._at and self._how == "no room" and event not in ("os.remove", "os.rmdir"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fsdecode(arguments[0]))


def take_place(request: dict[str, Any]) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_APPEND
        opened = os.open(request[name], flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    if "fault" in request:
        sys.addaudithook(Fault(**request["fault"]).hear)
    if request.get("unprivileged"):
        drop_capabilities()
    if "largest_file" in request:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"], request["largest_file"]))


def run(request: dict[str, Any]) -> NoReturn:
    status = 1  # like Python's own status for an uncaught exception
    try:
        take_place(request)
        sys.argv = ["gitckpt", *request["args"]]
        status = main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def serve() -> None:
    load_everything()
    buffer = b""
    while chunk := os.read(0, 1 << 20):
        buffer += chunk
        while b"\n" in buffer:
            line, _, buffer = buffer.partition(b"\n")
            pid = os.fork()
            if pid == 0:
                run(json.loads(line))
            os.write(1, b"%d\n" % pid)
            os.write(1, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


if __name__ == "__main__":
    serve()
