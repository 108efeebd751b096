"""Read the arguments of one command from prose that may continue without a space: `git checkout src/a.ts撤销`."""

from __future__ import annotations

import re
from collections.abc import Callable

from gitckpt.protocol.hint_paths import is_cjk, looks_like_path, pattern_refusal, refusal, tidy

#: The maximum extent of an unquoted path: a file name of a few words.
_REACH = re.compile(r"\S{1,512}(?:\s\S{1,100}){0,4}")

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "《": "》"}
_OPENING = {")": "(", "）": "（", "]": "[", "】": "【"}
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"""[^\s,;，、。；：（）()】」』》"'`“”‘’!?！？|&<>]+""")
_OPTION = re.compile(r"-{1,2}[A-Za-z][\w-]*(?:=[!-~]+)?|--(?=\s|$)", re.ASCII)
_REVISION = re.compile(r"@(?:\{[^}\s]*\})?[~^\d]*|[A-Za-z0-9][\w./+#-]*(?:@\{[^}\s]*\})?[~^\d]*", re.ASCII)
_GOES_ON = re.compile(r"\.\.|[.:]?[\w/@{]", re.ASCII)
_PLAIN_REVISION = re.compile(
    r"@.*|(?:[A-Z]+_)?HEAD.*|[0-9a-f]{4,64}[~^\d]*|stash@.*|(?:origin|upstream|refs|gitckpt)/.+|[Cc]\d+"
)
_WHOLE_WORD = re.compile(r""":\S*|[^\s,;，、。；：（）】」』》"'`“”‘’!?！？|&<>]+""")
_SEPARATOR = re.compile(r"[,，、]\s*(?:和|and\b)?|和|与|及|以及|and\b|(?<=\s)|(?=[\"'`“‘「])")
_AFTER_PATH = frozenset(" \t\r\n\u3000\xa0,;:!?()\"'`|&<>\u201c\u201d\u2018\u2019")

_PROSE = """
    a an the it its this that these those to too and or then also if when in on at of for from with by as is are was be
    back all any each every only again first before after so which will would can could should must may just change
    changes file files step work command commands not no
"""
#: English words that follow a command as prose and are not arguments.
PROSE_WORDS = frozenset(_PROSE.split())


class Cursor:
    """A position in `text`, moving from `at` towards `end`. Refused paths are collected in `refused`."""

    __slots__ = ("at", "end", "exists", "is_ref", "refused", "text")

    def __init__(
        self, text: str, at: int, end: int, exists: Callable[[str], bool], is_ref: Callable[[str], bool] | None
    ) -> None:
        self.text, self.at, self.end, self.exists, self.is_ref = text, at, end, exists, is_ref
        self.refused: list[tuple[str, str]] = []

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Skip blanks and consume a match, or stay in place."""
        found = pattern.match(self.text, self._after_blanks(), self.end)
        if found:
            self.at = found.end()
        return found

    def options(self, known: re.Pattern[str]) -> list[str] | None:
        """Consume the options here and return them without `--`; None if one of them is not `known`."""
        options = []
        while found := self.match(_OPTION):
            if found[0] == "--":
                break
            if not known.fullmatch(found[0]):
                return None
            options.append(found[0])
        return options

    def revision(self, *, certain: bool) -> str | None:
        """Return a revision, or None. With `certain`, only one that has the form of a revision or is known; otherwise
        also any last word of a clause.
        """
        start = self._after_blanks()
        word = _WORD.match(self.text, start, self.end)
        if word and self.is_ref and not _REVISION.fullmatch(word[0]) and self.is_ref(word[0]):
            self.at = word.end()
            return word[0]
        found = _REVISION.match(self.text, start, self.end)
        if not found or ".." in found[0] or _GOES_ON.match(self.text, found.end(), self.end):
            return None
        name = found[0].rstrip(".")
        if not self._may_be_revision(name, found.end(), certain):
            return None
        self.at = found.end()
        return name

    def paths(self, *, eager: bool = False) -> tuple[str, ...]:
        """Return the paths of a list. With `eager`, every word is a path, and one that names nothing is refused, not
        taken for prose.
        """
        accepted: list[str] = []
        resume = self.at
        while (path := self._path(eager)) is not None:
            accepted += [path] if path else []
            resume = self.at
            if not self.match(_SEPARATOR):
                break
        self.at = resume
        return tuple(accepted)

    def stands_at_path(self) -> bool:
        """Return whether the next text names an existing path."""
        return self._longest_name(self._after_blanks()) is not None

    def upcoming_word(self) -> str:
        """Return the next word, or ""."""
        found = _WORD.match(self.text, self._after_blanks(), self.end)
        return found[0] if found else ""

    def _after_blanks(self) -> int:
        found = _BLANKS.match(self.text, self.at, self.end)
        return found.end() if found else self.at

    def _may_be_revision(self, word: str, stop: int, certain: bool) -> bool:
        if _PLAIN_REVISION.fullmatch(word) or (self.is_ref and self.is_ref(word)):
            return True
        if certain or self.is_ref or word.lower() in PROSE_WORDS:
            return False
        rest = self.text[stop : self.end].lstrip()
        return not rest or not (rest[0].isascii() and rest[0].isalnum())

    def _path(self, eager: bool) -> str | None:
        """Return the path here, "" if there is one but it is refused, None if there is none."""
        start = self._after_blanks()
        if start >= self.end:
            return None
        close = self.text.find(_QUOTES.get(self.text[start], "\0"), start + 1, self.end)
        if close > start:
            return self._quoted_path(self.text[start + 1 : close], close + 1)
        return self._bare_path(start, eager)

    def _bare_path(self, start: int, eager: bool) -> str | None:
        word = (_WHOLE_WORD.match(self.text, start, self.end) or [""])[0]
        reason = refusal(word)
        stop = None if reason else self._longest_name(start)
        if stop is not None:
            self.at = stop
            return tidy(self.text[start:stop])
        if word and (reason or looks_like_path(word) or word[0] == "$" or (eager and _is_argument(word))):
            name = trimmed(word)
            return self._refuse(name, reason or pattern_refusal(name), start + len(word))
        return None

    def _longest_name(self, start: int) -> int | None:
        """Return the end of the longest prefix that names an existing path."""
        reach = _REACH.match(self.text, start, self.end)
        for stop in range(reach.end() if reach else start, start, -1):
            name = self.text[start:stop]
            if self._may_stop(stop) and self._is_there(name) and not self._is_full_stop(name, start):
                return stop
        return None

    def _quoted_path(self, path: str, stop: int) -> str:
        if reason := refusal(path):
            return self._refuse(path, reason, stop)
        if not self._is_there(path):
            return self._refuse(path, pattern_refusal(path), stop)
        self.at = stop
        return tidy(path)

    def _refuse(self, path: str, reason: str, stop: int) -> str:
        self.at = stop
        self.refused.append((path, reason))
        return ""

    def _is_there(self, path: str) -> bool:
        return bool(path) and (tidy(path) == "." or (not refusal(path) and self.exists(tidy(path))))

    def _is_full_stop(self, name: str, start: int) -> bool:
        """Return whether a dot ends the sentence ("use git checkout.") rather than naming the whole tree."""
        return name == "." and not self.text[start - 1].isspace()

    def _may_stop(self, stop: int) -> bool:
        """Return whether a path may end here: not inside a word, and not where a longer name clearly continues."""
        before = self.text[stop - 1]
        if before.isspace():
            return False
        if stop == self.end:
            return True
        after = self.text[stop]
        if after == "." and before not in "/.":
            return stop + 1 == self.end or self.text[stop + 1].isspace() or is_cjk(self.text[stop + 1])
        if before == "/":
            return after.isspace() or after in ",;，；。、)）`\"'"
        return after in _AFTER_PATH or (is_cjk(after) and not self._name_goes_on(stop))

    def _name_goes_on(self, stop: int) -> bool:
        """Return whether text that follows without a blank continues the name (`a.ts的备份.bak`), rather than being
        prose or another path.
        """
        rest = _WORD.match(self.text, stop, self.end)
        if rest is None or re.match("和|与|及|以及|或", rest[0]):
            return False
        return re.search(r"/|\.[A-Za-z]\w{0,7}$", rest[0]) is not None


def trimmed(words: str) -> str:
    """Strip blanks, the full stop and the closing brackets of the surrounding prose."""
    words = words.strip().rstrip(".")
    while words.endswith((")", "）", "]", "】")) and words.count(words[-1]) > words.count(_OPENING[words[-1]]):
        words = words[:-1].rstrip()
    return words


def _is_argument(word: str) -> bool:
    return word[0].isascii() and word[0] != "-" and word.lower() not in PROSE_WORDS
