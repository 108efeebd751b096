"""Parse the commands in a rollback hint into typed actions: one function and one table row per command.

A reader gets a cursor positioned after the command's name. It returns the actions, or None if it cannot read the
command with certainty; such a command is listed for the user. If paths were refused, a reader never falls back to a
wider action.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, get_args

from gitckpt.protocol.hint_actions import (
    Action,
    CleanNew,
    MoveBranch,
    RemovePaths,
    ResetMode,
    RestoreAll,
    RestorePaths,
    RevertCommit,
    SwitchBranch,
)
from gitckpt.protocol.hint_cursor import Cursor
from gitckpt.protocol.hint_paths import looks_like_path, tidy

_CHECKOUT_OPTION = re.compile(r"-[fq]+|--force|--quiet")
_RESTORE_OPTIONS = re.compile(
    r"(?:(?:-[SWq]+|--staged|--worktree|--quiet|(?:--source[= ]|-s ?)[A-Za-z0-9@]\S*)(?:\s+|$))+"
)
_SOURCE = re.compile(r"(?<!\S)(?:--source[= ]|-s ?)(\S+)")
_RESET_OPTION = re.compile(r"--(?:hard|soft|mixed|keep|merge|quiet)|-q")
_CLEAN_OPTION = re.compile(r"-[fdq]+|--force|--quiet")
_REVERT_OPTION = re.compile(r"--no-edit|--no-commit|-[nq]")
_SWITCH_OPTION = re.compile(r"-q|--quiet")
_RM_OPTION = re.compile(r"-[rRfvd]+|--recursive|--force|--verbose")
_PURPOSE = re.compile(
    r"(?:来|恢复|还原|撤销|回退|重置|文件|[：:\s]|\b(?:to\s+(?:restore|revert|reset|undo)|on|the|files?)(?=\s))+",
    re.IGNORECASE,
)
_REF_THEN_PATHS = re.compile(r"([A-Za-z0-9@][^\s`\"']*)\s+--(?=\s)")
_STASH_AND_DROP = re.compile(
    r"""(?:\s+(?:push|save))?(?:\s+(?:-[uaq]+|--include-untracked|--all|--quiet))*
        [\s`"']*(?:&&|;|；|,|，|、|然后|再|后|and\s+then|and|then|\s)*[\s`"']*git\s+stash\s+drop\b""",
    re.VERBOSE | re.ASCII,
)

_ADJECTIVES = re.compile(
    r"(?:(?:the|an?|any|newly|new|created|added|generated|temporary|temp|scratch)\s+"
    r"|\s|新建|新增|新|临时|生成|创建|添加|刚才|本步|该|的)+",
    re.IGNORECASE,
)
_CHANGES_TO = re.compile(
    r"(?:对|在)\s*"
    r"|(?:(?:(?:the|all|any|these|my)\s+)?(?:changes?|edits?|modifications?)\s+)?(?:(?:made\s+)?(?:to|in|of|on)\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_FILE_NOUN = re.compile(
    r"(?:(?:files?|director(?:y|ies)|folders?)[:\s]\s*|(?:文件夹|文件|目录|脚本)(?!/)[：:\s]*)", re.IGNORECASE
)
#: What may follow a path in prose without making it part of something else ("delete a.ts imports").
_AFTER_PATH_IN_PROSE = re.compile(
    r"\s*(?:$|[,.;:!?，。；：、！？)）(（`\"'&|]|文件|目录|即可|就|后|再|并|然后|以|来|等|恢复|回|到|至|为|\[|"
    r"(?:and|then|to|if|when|first|again|from|at|as|files?|folders?|director(?:y|ies))\b)"
)
_OF_ITS_CHANGES = re.compile(r"\s*的(?:全部|所有)?(?:修改|改动|更改|变更|替换|编辑|内容)")


def _restored(paths: tuple[str, ...], ref: str | None) -> list[Action]:
    if "." in paths:
        return [RestoreAll(ref)]
    return [RestorePaths(paths, ref)] if paths else []


def _read_checkout(cursor: Cursor) -> list[Action] | None:
    options = cursor.options(_CHECKOUT_OPTION)
    if options is None:
        return None
    if found := cursor.match(_REF_THEN_PATHS):
        return _restored(cursor.paths(), found[1]) or _nothing_read(cursor)
    _skip_purpose(cursor)
    ref = _revision_that_is_no_path(cursor)
    if actions := _restored(cursor.paths(), ref):
        return actions
    if cursor.refused:
        return []
    return _checked_out(cursor, ref, forced=any("f" in option for option in options))


def _checked_out(cursor: Cursor, ref: str | None, *, forced: bool) -> list[Action] | None:
    """Return what `git checkout` without paths does."""
    if ref is None:
        word = cursor.upcoming_word()
        return [RestoreAll()] if forced and not (word and word.isascii()) else None
    if re.fullmatch(r"[Cc]\d+|(?:refs/)?gitckpt/.+", ref):
        return [RestoreAll(ref)]
    return [SwitchBranch(ref)] if cursor.is_ref and cursor.is_ref(ref) else None


def _skip_purpose(cursor: Cursor) -> None:
    """Skip prose between the command and its path, as in `用 git checkout 恢复 src/a.ts`."""
    start = cursor.at
    if cursor.match(_PURPOSE) and not cursor.stands_at_path():
        cursor.at = start


def _revision_that_is_no_path(cursor: Cursor) -> str | None:
    """Return a revision unless it also names a path: git refuses `git checkout X` if X is both. The path is meant more
    often, and undoing that does not move a branch.
    """
    start = cursor.at
    ref = cursor.revision(certain=True)
    if ref is not None and cursor.exists(tidy(ref)):
        cursor.at, ref = start, None
    return ref


def _nothing_read(cursor: Cursor) -> list[Action] | None:
    return [] if cursor.refused else None


def _read_restore(cursor: Cursor) -> list[Action] | None:
    options = cursor.match(_RESTORE_OPTIONS)
    source = _SOURCE.search(options[0]) if options else None
    if cursor.options(re.compile(r"(?!)")) is None:
        return None
    _skip_purpose(cursor)
    return _restored(cursor.paths(), source[1] if source else None) or _nothing_read(cursor)


def _read_reset(cursor: Cursor) -> list[Action] | None:
    options = cursor.options(_RESET_OPTION)
    if options is None:
        return None
    ref = cursor.revision(certain=False)
    if ref is not None and cursor.exists(tidy(ref)) and not ref.startswith("HEAD"):
        return None
    if cursor.paths() or cursor.refused:
        return None
    if "--hard" in options:
        return [RestoreAll(ref)]
    return [MoveBranch(mode, ref) for mode in get_args(ResetMode) if f"--{mode}" in options] or [
        MoveBranch("mixed", ref)
    ]


def _read_stash(cursor: Cursor) -> list[Action] | None:
    """Read a stash followed by a drop, which together discard changes; a stash that is kept or popped is left to the
    user.
    """
    found = _STASH_AND_DROP.match(cursor.text, cursor.at)
    if found is None:
        return None
    cursor.at = cursor.end = found.end()
    return [RestoreAll()]


def _read_clean(cursor: Cursor) -> list[Action] | None:
    options = cursor.options(_CLEAN_OPTION)
    if options is None or not any("f" in option for option in options):
        return None
    paths = cursor.paths(eager=True)
    if cursor.refused and not paths:
        return []
    return [CleanNew(() if "." in paths else paths)]


def _read_switch(cursor: Cursor) -> list[Action] | None:
    if cursor.options(_SWITCH_OPTION) is None:
        return None
    name = cursor.revision(certain=False)
    return [SwitchBranch(name)] if name else None


def _read_revert(cursor: Cursor) -> list[Action] | None:
    if cursor.options(_REVERT_OPTION) is None:
        return None
    actions: list[Action] = []
    while rev := cursor.revision(certain=True):
        actions.append(RevertCommit(rev))
    return actions or None


def _read_rm(cursor: Cursor) -> list[Action] | None:
    if cursor.options(_RM_OPTION) is None:
        return None
    return _removed(cursor.paths(eager=True), cursor)


def _removed(paths: Iterable[str], cursor: Cursor) -> list[Action] | None:
    below = tuple(path for path in paths if path != ".")
    if len(below) != len(tuple(paths)):
        cursor.refused.append((".", "the whole work tree"))
    return [RemovePaths(below)] if below else _nothing_read(cursor)


def _read_delete(cursor: Cursor) -> list[Action] | None:
    """Read `删除 PATH`, "delete the temporary file PATH"."""
    paths = _paths_in_prose(cursor, _ADJECTIVES)
    return None if paths is None else _removed(paths, cursor)


def _read_undo(cursor: Cursor) -> list[Action] | None:
    """Read `恢复 PATH`, `撤销对 PATH 的修改`, "restore PATH from C6"."""
    paths = _paths_in_prose(cursor, _CHANGES_TO, _OF_ITS_CHANGES)
    return _restored(tuple(path for path in paths or () if path != "."), None) or None


def _paths_in_prose(
    cursor: Cursor, filler: re.Pattern[str], after: re.Pattern[str] | None = None
) -> tuple[str, ...] | None:
    """Return the paths after a verb in prose, or None if a bare word is not clearly meant as a file."""
    named_as_file = False
    if not (looks_like_path(cursor.upcoming_word()) and cursor.stands_at_path()):
        cursor.match(filler)
        named_as_file = cursor.match(_FILE_NOUN) is not None
    word = cursor.upcoming_word()
    if word and not (named_as_file or looks_like_path(word)):
        return None
    paths = cursor.paths()
    if paths and after:
        cursor.match(after)
    return paths if _AFTER_PATH_IN_PROSE.match(cursor.text[cursor.at : cursor.end]) else None


def _read_rollback(cursor: Cursor) -> list[Action] | None:
    """Read `gitckpt rollback C6 [--path P…]`, as written by an agent that knows gitckpt."""
    ref = cursor.match(re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII))
    if ref is None:
        return None
    paths: tuple[str, ...] = ()
    while cursor.match(re.compile(r"--path[= ]")):
        paths += cursor.paths(eager=True)
    return _restored(paths, ref[0]) if paths or cursor.refused else [RestoreAll(ref[0])]


#: Readers by command name as it appears in the text, lowercase, with single spaces.
READERS: Final[dict[str, Callable[[Cursor], list[Action] | None]]] = {
    "git checkout": _read_checkout,
    "git restore": _read_restore,
    "git reset": _read_reset,
    "git stash": _read_stash,
    "git clean": _read_clean,
    "git switch": _read_switch,
    "git revert": _read_revert,
    "rm": _read_rm,
    "delete": _read_delete,
    "undo": _read_undo,
    "gitckpt rollback": _read_rollback,
}
