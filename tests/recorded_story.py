"""The migration on record, and the work tree after each step."""

from __future__ import annotations

from typing import NamedTuple

from commandline import Bytes, Place


class Story(NamedTuple):
    """A repository in which the migration is on record in session `session`, and the work tree after each step."""

    place: Place
    session: str
    at: dict[str, Bytes]
