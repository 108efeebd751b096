"""Which words of a rollback hint may be paths, and which are refused by name.

A hint is text that an agent wrote. A path from it reaches the file system only if it is relative, stays inside the work
tree, keeps out of `.git` and means one thing: no pathspec magic, no pattern, no variable.
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
    """Whether the character is of a script that is written without blanks, or punctuation of one."""
    return _CJK.match(character) is not None


def tidy(path: str) -> str:
    """The path without `./` in front and `/` at the end; `.` for the root of the work tree itself."""
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path.rstrip("/") or ("." if path in ("", ".") else path)


def refusal(path: str) -> str | None:
    """Why this path is refused whatever it names, or None."""
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
    """Why a path that names nothing is refused: it is a pattern or a variable, or simply not there."""
    if _GLOB.search(path):
        return "a pattern; name the paths"
    if "$" in path:
        return "a variable; name the path"
    return "names nothing in the target or in the work tree"


def _is_git_directory(part: str) -> bool:
    """Also where a file system would take another spelling for it: case, trailing dots, invisible characters."""
    return _GIT_DIRECTORY.fullmatch(_INVISIBLE.sub("", part)) is not None


def looks_like_path(word: str) -> bool:
    """Whether the form alone says that it is a path: a `/`, an extension, a dot file, a well-known name."""
    if word.isspace() or not word:
        return False
    return "/" in word.strip("/") or word.endswith("/") or bool(_EXTENSION.search(word) or _WELL_KNOWN.fullmatch(word))
