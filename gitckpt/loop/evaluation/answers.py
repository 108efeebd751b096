"""What a field of a form accepts, and when an answer is right. Answers are compared by rule: numbers as numbers, names
without case, blanks and dashes, lists without order. How a model words them makes no difference."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from gitckpt.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.loop.evaluation.tasks import Field

# A blank or similar separator must be followed by exactly three digits, a point or a comma by any number of them.
_NUMBER: Final = re.compile(r"[-+]?\d+(?:(?:[ _'\u00a0\u202f](?=\d{3}(?!\d))|[.,](?=\d))\d+)*")
_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def accepted(field: Field, given: object) -> object:
    """Return a value as the field holds it, in a form that can be compared. Raises UsageError if the field does not
    accept it."""
    return _READERS[field.type](field, given)


def is_right(field: Field, given: object) -> bool:
    """Return whether the value filled in is the answer, or another way of writing it."""
    return accepted(field, given) in [accepted(field, answer) for answer in (field.answer, *field.also)]


def name_of(text: str) -> str:
    """Return a name as it is compared: only letters, digits, `.` and `/`, with `&` as the word."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("&", " and ")
    return "".join(sign for sign in folded if sign.isalnum() or sign in "./").strip("./")


def numbers_in(text: str) -> list[Decimal]:
    """Return all numbers in a text, whatever separates their thousands."""
    return [_decimal(match) for match in _NUMBER.findall(text)]


def _decimal(written: str) -> Decimal:
    """Parse a number. `1,500`, `1 500` and `1_500` are the same; `2,8` has a decimal comma."""
    plain = re.sub(r"[ _'\u00a0\u202f]", "", written)
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        return Decimal(plain.replace(",", "")).normalize()
    except ArithmeticError:  # 1.2.3
        raise UsageError(f"{written!r} is no number", "write it as 1234.5") from None


def _number(field: Field, given: object) -> Decimal:
    found = numbers_in(str(given)) if not isinstance(given, (bool, list)) else []
    if len(found) != 1:
        raise UsageError(f"{field.name} takes one number, not {given!r}", "write it as 1234.5")
    return found[0]


def _text(field: Field, given: object) -> str:
    if isinstance(given, list) or not name_of(str(given)):
        raise UsageError(f"{field.name} takes a text, not {given!r}")
    return name_of(str(given))


def _date(field: Field, given: object) -> date:
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", str(given).strip(), re.ASCII):
            return date.fromisoformat(str(given).strip())
    except ValueError:
        pass
    raise UsageError(f"{field.name} takes a date as YYYY-MM-DD, not {given!r}")


def _choice(field: Field, given: object) -> str:
    for option in field.options:
        if not isinstance(given, list) and name_of(str(given)) == name_of(option):
            return option
    raise UsageError(f"{field.name} takes one of {', '.join(field.options)}, not {given!r}")


def _set(field: Field, given: object) -> frozenset[str]:
    entries = given if isinstance(given, (list, tuple)) else re.split(r"[,;\n]|\band\b", str(given).strip("[]{}() "))
    names = frozenset(name_of(str(entry)) for entry in entries) - {""}
    if not names:
        raise UsageError(f"{field.name} takes a list, not {given!r}", 'write it as ["one", "two"]')
    return names


_READERS: Final[dict[str, Callable[[Any, object], object]]] = {
    "number": _number, "text": _text, "date": _date, "choice": _choice, "set": _set,
}  # fmt: skip
