"""Decide which words of a rollback hint may be paths, and which are refused because of their form.

A hint is text written by an agent. A path from it reaches the file system only if it is relative, stays inside the work
tree and outside `.git`, and is unambiguous: no pathspec magic, no pattern, no variable.
"""

from __future__ import annotations

import re

_GLOB = re.compile(r"[*?]|\[[^\]/]*\]")
_EXTENSION = re.compile(r"[^\s/]\.[A-Za-z]\w{0,7}$|^\.[A-Za-z][\w.-]*$")
_WELL_KNOWN = re.compile(r"(?:Make|Docker|Rake|Gem|Proc|Jenkins)file|LICENSE|README|CHANGELOG")
_GIT_DIRECTORY = re.compile(r"(?:\.git|git~[0-9]+)[ .]*", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]")


def is_cjk(character: str) -> bool:
    """Return whether the character belongs to a script written without spaces, or is punctuation of one."""
    return _CJK.match(character) is not None


def tidy(path: str) -> str:
    """Strip leading `./` and trailing `/` from the path; `.` is the root of the work tree itself."""
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path.rstrip("/") or ("." if path in ("", ".") else path)


def refusal(path: str) -> str | None:
    """Return why this path is refused whatever it names, or None."""
    if path.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", path):
        return "outside the work tree"
    if path.startswith(":"):
        return "pathspec magic; write the path itself"
    if _CONTROL.search(path):
        return "holds a control character"
    parts = re.split(r"[/\\]", path)
    if ".." in parts:
        return "may lead out of the work tree"
    if any(_is_git_directory(part) for part in parts):
        return "inside git's own directory"
    return None


def pattern_refusal(path: str) -> str:
    """Return why a path that names nothing is refused: it is a pattern, a variable, or does not exist."""
    if _GLOB.search(path):
        return "a pattern; name the paths"
    if "$" in path:
        return "a variable; name the path"
    return "names nothing in the target or in the work tree"


def _is_git_directory(part: str) -> bool:
    """Return whether a part means `.git`, including spellings that a file system treats as the same: case, trailing
    dots, invisible characters.
    """
    return _GIT_DIRECTORY.fullmatch(_INVISIBLE.sub("", part)) is not None


def looks_like_path(word: str) -> bool:
    """Return whether the word has the form of a path: a `/`, an extension, a dot file, a well-known name."""
    if word.isspace() or not word:
        return False
    return "/" in word.strip("/") or word.endswith("/") or bool(_EXTENSION.search(word) or _WELL_KNOWN.fullmatch(word))
