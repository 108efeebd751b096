"""`gitckpt init`: install what other programs need to call gitckpt, and remove it again."""

from __future__ import annotations

import os
import shutil
import sys

from gitckpt.cli import render
from gitckpt.errors import GitckptError, Refused, UsageError
from gitckpt.repo import git_hooks
from gitckpt.repo.repository import discover

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.agents.wiring import Wiring
    from gitckpt.installing import Edit, Places

_NOT_IN_PATH = "what is in the repository calls gitckpt by its name, and no gitckpt is in PATH: put it there"


def init(
    *, hooks: bool = False, agents: Sequence[str] = (), remove: bool = False, show: bool = False, lang: str = "zh"
) -> int:
    """Install git's hooks, and hooks and tools of agent clients; show what would be written; or remove them."""
    if not (hooks or agents or remove):
        raise UsageError(
            "nothing to set up was named; gitckpt needs no init to record and to go back",
            "gitckpt init --hooks adds git's hooks, gitckpt init --agent claude-code those of an agent",
        )
    if agents:
        _init_agents(agents, remove=remove, show=show, lang=lang)
    if hooks or not agents:
        _init_hooks(remove=remove, show=show)
    return 0


def _init_hooks(*, remove: bool, show: bool) -> None:
    directory = git_hooks.hooks_directory(discover())
    if show:
        for name in git_hooks.HOOKS:
            path = os.fsdecode(os.path.join(directory, name.encode()))
            render.out([f"# {path}", git_hooks.script(name, program() or "gitckpt").decode("utf-8", "replace")])
    elif remove:
        render.out(git_hooks.remove(directory) or ["there is nothing of gitckpt's to take out"])
    else:
        render.out(git_hooks.install(directory, _program_to_call()))


def _init_agents(names: Sequence[str], *, remove: bool, show: bool, lang: str) -> None:
    from gitckpt.agents.named import HOOKED, hooked_agent
    from gitckpt.installing import additions, installations, removals, write

    if unknown := [name for name in names if name not in HOOKED]:
        raise UsageError(f"there is no agent client {unknown[0]!r}", f"--agent is one of {', '.join(HOOKED)}")
    places = _places()
    command = program() or "gitckpt" if show or remove else _program_to_call()
    files = [
        file
        for name in dict.fromkeys(names)
        for file in installations(hooked_agent(name), _wiring(command, name, lang), _wiring("gitckpt", name, lang))
    ]
    edits = (removals if remove else additions)(files, places)
    if show:
        render.out(line for edit in edits for line in _difference(edit))
        return
    render.out(write(edits, places, remove=remove))
    if not remove:
        named = places.repository and any(file.base == "repository" for file in files)
        cautions = [_NOT_IN_PATH] if named and not shutil.which("gitckpt") else []
        _tell_more([*cautions, *(edit.caution for edit in edits if edit.caution)], places)


def _tell_more(cautions: Sequence[str], places: Places) -> None:
    for caution in cautions:
        render.say(caution)
    if not places.repository:
        render.say("this is no work tree that gitckpt records, so nothing was written into it")


def _wiring(command: str, client: str, lang: str) -> Wiring:
    from gitckpt.agents.wiring import Wiring

    language = ("--lang", lang) if lang != "zh" else ()
    return Wiring((command, "hook", client, *language), (command, "mcp"))


def _places() -> Places:
    from gitckpt.installing import Places

    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise Refused("there is no home directory to configure an agent in", "set HOME")
    try:
        repository = os.fsdecode(discover().work_tree)
    except GitckptError:
        repository = ""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return Places(home, repository, os.path.join(state, "gitckpt", "before-init"), os.environ)


def _difference(edit: Edit) -> list[str]:
    from difflib import unified_diff

    old, new = (edit.old or "").splitlines(), (edit.new or "").splitlines()
    lines = list(unified_diff(old, new, edit.path, edit.path, lineterm="", n=1))
    return lines or [f"# {edit.path}: no change"]


def program() -> str:
    """Return the command that runs this gitckpt, as an absolute path; "" if there is none, as under `python -m gitckpt`
    from a directory that was never installed."""
    here = os.path.join(os.path.dirname(sys.executable), "gitckpt")
    invoked = shutil.which(sys.argv[0]) or ""
    for path in (os.path.abspath(invoked) if invoked else "", here):
        if os.path.basename(path) == "gitckpt" and os.access(path, os.X_OK):
            return path
    return os.path.abspath(found) if (found := shutil.which("gitckpt")) else ""


def _program_to_call() -> str:
    """Return the same. Raises Refused if there is none: a hook that cannot run would block every commit."""
    found = program()
    if not found:
        raise Refused(
            "there is no command gitckpt that a hook could call: this one runs as a module of Python",
            "install it, so that PATH has it: pipx install . in a clone of the repository",
        )
    return found
