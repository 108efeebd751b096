"""The pages of a task, as `search` and `open_page` find them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from gitckpt.errors import Refused
from gitckpt.loop.actions import Action, action_of
from gitckpt.loop.evaluation.arguments import OpenArguments, SearchArguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.loop.evaluation.tasks import Page

#: How many pages a search lists.
LISTED: Final = 5

#: The additional weight of a word in a title.
TITLE: Final = 4


class Website:
    """All pages of one task."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {_address(page.url): page for page in pages}
        self._titles = {page: _words(page.title) for page in pages if not page.moved}
        self._texts = {page: _words(page.text) for page in self._titles}

    def actions(self) -> list[Action]:
        """Return what a model can do with the pages."""
        return [
            action_of(
                SearchArguments, "search", "Search the web: the addresses and titles of a few pages.", self.search
            ),
            action_of(OpenArguments, "open_page", "Read a whole page.", self.open_page),
        ]

    def search(self, call: SearchArguments) -> str:
        """Return the pages that match best."""
        words = _words(call.query)
        scores = {page: self._score(page, words) for page in self._titles}
        best = sorted((page for page in scores if scores[page]), key=lambda page: -scores[page])[:LISTED]
        if not best:
            return "Nothing was found. Try other words."
        return "\n".join(f"{page.url}  {page.title}" for page in best)

    def _score(self, page: Page, words: set[str]) -> float:
        """Rate a page. Rare words count more than common ones, and words in the title more than those in the text."""
        return sum(
            (TITLE * (word in self._titles[page]) + (word in self._texts[page])) * self._rarity(word) for word in words
        )

    def _rarity(self, word: str) -> float:
        return math.log(1 + len(self._texts) / (1 + sum(word in words for words in self._texts.values())))

    def open_page(self, call: OpenArguments) -> str:
        """Return a page. Raises Refused if there is none."""
        page = self._pages.get(_address(call.url))
        if page is None:
            raise Refused(f"404: there is no page {call.url}", "search for it")
        if page.moved:
            raise Refused(f"410: the page {call.url} has moved, nobody says where to", "search for it")
        return page.text


def _address(url: str) -> str:
    return url.strip().rstrip("/.").lower().removeprefix("https://").removeprefix("http://")


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", text) if len(word) > 1}
