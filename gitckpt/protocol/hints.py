"""A rollback hint: text that an agent wrote, read into a plan of typed actions. Nothing of it is ever run as a command.

>>> parse_hint("回退到 C6，git checkout src/a.ts撤销", exists={"src/a.ts"}.__contains__).actions
(RestorePaths(paths=('src/a.ts',), ref=None),)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gitckpt.protocol.hint_actions import (
    Action,
    CleanNew,
    MoveBranch,
    Nothing,
    RemovePaths,
    RestoreAll,
    RestorePaths,
    RevertCommit,
    SwitchBranch,
)
from gitckpt.protocol.hint_commands import READERS
from gitckpt.protocol.hint_cursor import PROSE_WORDS, Cursor, trimmed
from gitckpt.protocol.hint_paths import looks_like_path, tidy
from gitckpt.protocol.hint_prose import (
    by_hand_in,
    clause_end,
    has_object,
    is_alternative,
    is_negated,
    names_previous,
    paths_spoken_of,
    says_nothing_to_undo,
    shell_end,
    span_end,
    target_in,
    unwrapped,
)
from gitckpt.protocol.hint_words import COMMAND
from gitckpt.protocol.ids import canonical

__all__ = [
    "Action", "CleanNew", "Hint", "MoveBranch", "Nothing", "RemovePaths", "RestoreAll", "RestorePaths", "RevertCommit",
    "SwitchBranch", "is_executable_text", "parse_hint",
]  # fmt: skip

#: Limits, in characters and in commands (or words that may be one); the rest of a longer hint is left to the user.
_LONGEST_HINT = 4_000
_MOST_COMMANDS = 64

#: Characters that cannot be in an unquoted path in prose, judging by form alone.
_NO_PART_OF_A_PATH = re.compile(r"[\s，。；、：（）！？]")
_QUOTED = re.compile(r"""(["'`])([^"'`\n]+)\1""")
_PIPED = re.compile(r"&(?!&)|\||\d?>|<|\$\(")
_CHECKPOINT_REVISION = re.compile(r"(?:(?:refs/)?gitckpt/[^/\s]+/tags/)?([Cc]\d+)")


@dataclass(frozen=True, slots=True)
class Hint:
    """What a hint asks for.

    `target` is the canonical id of the checkpoint that it names; None means the checkpoint before the step. `actions`
    are in the order written. `by_hand` are commands for the user, as written. `refused` are paths that no action may
    touch, each with the reason. `executable` is false if neither gitckpt nor the user is told anything that could be
    carried out (rule P006); it may be true without actions, when everything is to be done by hand.
    """

    target: str | None
    actions: tuple[Action, ...]
    by_hand: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    executable: bool


def parse_hint(text: str, *, exists: Callable[[str], bool], is_ref: Callable[[str], bool] | None = None) -> Hint:
    """Parse a hint.

    `exists(path)` says whether a path, relative to the root of the work tree without leading `./` or trailing `/`,
    names a file or directory in the target snapshot or in the work tree; it is called with prefixes of the text.
    `is_ref(name)` says whether `name` is a branch; without it `git switch X` is trusted and `git checkout X` is not.
    Never raises, whatever the text.
    """
    written = unwrapped(text)
    beyond = written[_LONGEST_HINT:].strip()
    return _Reading(written[:_LONGEST_HINT], exists, is_ref, by_hand=[beyond] if beyond else []).hint()


def is_executable_text(text: str) -> bool:
    """Return whether the hint's form alone says what to do: a word that looks like a path or a branch counts as one."""
    quoted = {found[2] for found in _QUOTED.finditer(text)}

    def may_be_path(path: str) -> bool:
        if _NO_PART_OF_A_PATH.search(path):
            return path in quoted
        return looks_like_path(path) or _may_be_branch(path)

    return parse_hint(text, exists=may_be_path, is_ref=_may_be_branch).executable


def _may_be_branch(word: str) -> bool:
    return re.fullmatch(r"[\w./@+~-]+", word, re.ASCII) is not None and word.lower() not in PROSE_WORDS


def _name(found: re.Match[str]) -> str:
    """Return the command's name as a key of `READERS`."""
    if found["delete"] or found["delete_zh"]:
        return "delete"
    if found["undo"] or found["undo_zh"]:
        return "undo"
    return re.sub(r"\s+", " ", found["name"] or "").lower()


def _is_concrete(name: str, arguments: str) -> bool:
    """Return whether a command that could not be parsed tells the user enough: one with an option does, a name followed
    by prose does not.
    """
    if name == "delete":
        return has_object(arguments)
    return name == "git stash" or arguments.lstrip().startswith("-")


@dataclass(slots=True)
class _Reading:
    """One pass over the text: commands are parsed where they start, and everything between them is prose."""

    text: str
    exists: Callable[[str], bool]
    is_ref: Callable[[str], bool] | None
    actions: list[Action] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    target: str | None = None
    concrete: bool = False
    tried: bool = False

    def hint(self) -> Hint:
        self.prose.append(self.text[self._read_commands() :])
        self._finish(" ⏎ ".join(self.prose))
        executable = bool(self.actions) or self.concrete
        return Hint(self.target, tuple(self.actions), tuple(self.by_hand), tuple(self.refused), executable)

    def _read_commands(self) -> int:
        """Parse all commands, collect the prose between them, and return the position after the last one."""
        at = behind = 0
        for _ in range(_MOST_COMMANDS):
            found = COMMAND.search(self.text, behind)
            if found is None:
                return at
            before, behind = self.text[at : found.start()], found.end()
            stop = self._command(found, before)
            if stop is not None:
                self.prose.append(before)
                at = behind = max(stop, behind)
        return self._leave_to(at, len(self.text), concrete=False)

    def _finish(self, prose: str) -> None:
        self.target = self.target or target_in(prose)
        for piece in self.prose:
            self._leave(*by_hand_in(piece), concrete=True)
        if self.actions or self.refused or self.tried:
            return
        if says_nothing_to_undo(prose):
            self.actions += [] if self.by_hand else [Nothing()]
        elif self.target or names_previous(prose):
            self._go_back(prose)

    def _go_back(self, prose: str) -> None:
        """Restore the whole tree for a target without a command, unless the hint mentions a file, which makes it
        ambiguous.
        """
        if any(self.exists(tidy(word)) for word in paths_spoken_of(prose)):
            self._leave(self.text.strip(), concrete=True)
        else:
            self.actions.append(RestoreAll())

    def _command(self, found: re.Match[str], before: str) -> int | None:
        """Parse the command that starts here and return the position after it, or None if it is prose after all."""
        start, limit, name = found.start(), span_end(self.text, found.start()), _name(found)
        if name in ("cd", "pushd"):
            return self._leave_to(start, limit, concrete=True)
        stop = clause_end(self.text, found.end(), limit)
        if found["opaque"] or (self.tried and is_alternative(before)):
            return self._leave_to(start, stop, concrete=bool(found["opaque"]))
        if name not in READERS:
            return stop if is_negated(before) else self._leave_to(start, stop, concrete=True)
        end = shell_end(self.text, found.end(), limit)
        cursor = Cursor(self.text, found.end(), end, self.exists, self.is_ref)
        return self._known_command(name, start, cursor, limit, is_negated(before))

    def _known_command(self, name: str, start: int, cursor: Cursor, limit: int, negated: bool) -> int | None:
        arguments = cursor.at
        actions = READERS[name](cursor)
        if name == "undo" and actions is None:
            return None
        if negated:
            return cursor.at
        self.tried = self.tried or name != "delete" or bool(actions)
        self.refused += cursor.refused
        if actions is None:
            stop = clause_end(self.text, arguments, limit)
            return self._leave_to(start, stop, concrete=_is_concrete(name, self.text[arguments:stop]))
        self.actions += [self._aimed(action) for action in actions]
        return self._rest_of_pipeline(cursor, limit)

    def _rest_of_pipeline(self, cursor: Cursor, limit: int) -> int:
        """Leave a pipe, an `||` or a redirection after an action to the user."""
        if cursor.end >= limit or not _PIPED.match(self.text, cursor.end):
            return cursor.at
        self.prose.append(self.text[cursor.at : cursor.end])
        return self._leave_to(cursor.end, clause_end(self.text, cursor.end, limit), concrete=False)

    def _aimed(self, action: Action) -> Action:
        """Make a checkpoint given as the revision the hint's target, since it is not a git revision."""
        ref = action.ref if isinstance(action, (RestoreAll, RestorePaths)) else None
        found = _CHECKPOINT_REVISION.fullmatch(ref or "")
        if found is None or not isinstance(action, (RestoreAll, RestorePaths)):
            return action
        self.target = self.target or canonical(found[1])
        return replace(action, ref=None)

    def _leave_to(self, start: int, stop: int, *, concrete: bool) -> int:
        self._leave(trimmed(self.text[start:stop]), concrete=concrete)
        return stop

    def _leave(self, *commands: str, concrete: bool) -> None:
        for command in commands:
            if command and command not in self.by_hand:
                self.by_hand.append(command)
                self.concrete = self.concrete or concrete
