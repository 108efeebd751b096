"""Text for a terminal: escaped, measured in columns, cut, padded and coloured.

Everything an agent wrote goes through `escape` first, so that it can neither move the cursor nor hide part of itself.
`width`, `fit`, `cut`, `pad` and the colours expect escaped text.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Characters that control a terminal, reorder text, or are invisible: never printed unescaped.
HARMFUL = (
    (0x00, 0x1F),  # C0
    (0x7F, 0x9F),  # DEL, C1
    (0xAD, 0xAD),  # soft hyphen
    (0x61C, 0x61C),  # Arabic letter mark
    (0x200B, 0x200B),  # zero-width space; the joiners after it are part of real words and emoji
    (0x200E, 0x200F),  # left-to-right and right-to-left marks
    (0x2028, 0x202E),  # line and paragraph separator, bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates, deprecated format controls
    (0xD800, 0xDFFF),  # lone surrogates
    (0xFEFF, 0xFEFF),  # zero-width no-break space, byte order mark
    (0xFFF9, 0xFFFB),  # interlinear annotation
    (0xE0000, 0xE007F),  # tags: text that only a model sees
)

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(code: int) -> str:
    if code < 0x100:
        return _SHORT.get(chr(code)) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _Shown(dict[int, str]):
    """Maps a code point to what is shown for it; filled in on demand."""

    def __missing__(self, code: int) -> str:
        harmful = any(first <= code <= last for first, last in HARMFUL)
        self[code] = shown = _escaped(code) if harmful else chr(code)
        return shown


_IN_A_LINE = _Shown()
_IN_LINES = _Shown({0x09: "\t", 0x0A: "\n"})


def escape(text: str, *, multiline: bool = False) -> str:
    """Return the text with control, bidi and invisible characters shown as `\\x1b`, `\\u202e`, `\\n`; nothing else
    changes.

    With `multiline`, line feeds and tabs stay as they are.
    """
    if text.isprintable():
        return text
    return text.translate(_IN_LINES if multiline else _IN_A_LINE)


class _Columns(dict[str, int]):
    """Maps a character to its width in terminal columns; filled in on demand."""

    def __missing__(self, char: str) -> int:
        self[char] = columns = _columns(char)
        return columns


def _columns(char: str) -> int:
    # Imported only for non-ASCII text: this is the slowest import of a short `gitckpt log`.
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me", "Cf") or 0x1160 <= ord(char) <= 0x11FF or 0xD7B0 <= ord(char) <= 0xD7FF:
        return 0  # combining marks, joiners, and the vowels and finals that complete a Hangul syllable
    return 2 if east_asian_width(char) in ("W", "F") else 1


_COLUMNS = _Columns()


def width(text: str) -> int:
    """Return the width of escaped text in terminal columns: 2 for a wide character, 0 for a combining one."""
    return len(text) if text.isascii() else sum(map(_COLUMNS.__getitem__, text))


def fit(text: str, columns: int, ellipsis: str = "…") -> str:
    """Return the text if it fits into `columns`, otherwise its beginning and an ellipsis, at most `columns` wide."""
    if len(text) * 2 <= columns or width(text) <= columns:
        return text
    return cut(text, columns, ellipsis)


def cut(text: str, columns: int, ellipsis: str = "…") -> str:
    """Return the beginning of a text known to be too wide, and an ellipsis, at most `columns` wide."""
    room = columns - len(ellipsis)
    if room < 0:
        return ""
    length = room if text.isascii() else bisect_right(list(accumulate(map(_COLUMNS.__getitem__, text))), room)
    return text[:length].rstrip(" ") + ellipsis


def pad(text: str, columns: int) -> str:
    """Pad the text with blanks to `columns`; unchanged if it is wider."""
    return text + " " * (columns - width(text))


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 path`, `2 paths`, `1,234 paths`; `plural` is for nouns that do not just add an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


_UNITS = ("KiB", "MiB", "GiB", "TiB")


def byte_size(number: int) -> str:
    """Format a number of bytes: `512 B`, `1.5 KiB`, `20 MiB`."""
    if number < 1024:
        return f"{number} B"
    power = min((number.bit_length() - 1) // 10, len(_UNITS))
    amount = number / 1024**power
    return f"{amount:.1f} {_UNITS[power - 1]}" if amount < 9.95 else f"{amount:.0f} {_UNITS[power - 1]}"


#: The colours in use, and their SGR codes.
SGR = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


class Style:
    """How text is formatted for one output: with or without colours, with all of Unicode or only ASCII."""

    __slots__ = ("arrow", "colour", "ellipsis", "unicode")

    def __init__(self, *, colour: bool = False, unicode: bool = True) -> None:
        self.colour, self.unicode = colour, unicode
        self.ellipsis, self.arrow = ("…", "→") if unicode else ("...", "->")

    def paint(self, colour: str, text: str) -> str:
        """Return the text in an SGR colour, or unchanged if colours are off."""
        return f"\x1b[{SGR[colour]}m{text}\x1b[0m" if self.colour and text else text

    def bold(self, text: str) -> str:
        return self.paint("bold", text)

    def dim(self, text: str) -> str:
        return self.paint("dim", text)

    def red(self, text: str) -> str:
        return self.paint("red", text)

    def green(self, text: str) -> str:
        return self.paint("green", text)

    def yellow(self, text: str) -> str:
        return self.paint("yellow", text)

    def magenta(self, text: str) -> str:
        return self.paint("magenta", text)

    def cyan(self, text: str) -> str:
        return self.paint("cyan", text)


#: No colours, all of Unicode.
PLAIN = Style()


def labelled(entries: Sequence[tuple[str, Sequence[str]]], column: int, style: Style) -> list[str]:
    """Return lines next to their labels, each shown once and padded to `column`. All text must be escaped already."""
    lines = []
    for label, values in entries:
        for index, value in enumerate(values or [""]):
            lines.append((style.cyan(pad("" if index else label, column)) + value).rstrip(" "))
    return lines
