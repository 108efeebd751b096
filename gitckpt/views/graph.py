"""Draw the forked history as columns of lines, oldest event first.

An event with several followers is a fork. The follower that leads to where recording continues keeps the column, so
that the current line is straight; the others get a new column as they appear, and the last one takes over what remains
of the edge:

    ● C6
    ├─╮
    │ ✗ R1
    ● C8
"""

from __future__ import annotations

from gitckpt.views.row import Gutter
from gitckpt.views.text import PLAIN, Style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    #: Commit, its parent commit ("" if none), and the mark to draw for it: one column wide, may be coloured.
    Node = tuple[str, str, str]

    #: The lanes (from, to) that a new edge connects.
    Fork = tuple[int, int]

#: The maximum width of a drawing in columns; lanes beyond it are not drawn, but their events are listed.
MOST = 30

_ASCII = str.maketrans("│├┤╭╮─", "|||..-")


def draw(nodes: Sequence[Node], current: Collection[str] = (), style: Style = PLAIN) -> list[Gutter]:
    """Return a drawing for each node, in the given order, oldest first. `current` are the commits of the
    current line.
    """
    lanes = _Lanes(_followers(nodes), current)
    sketches = [_Sketch(lanes, *node) for node in nodes]
    columns = min(max((sketch.columns for sketch in sketches), default=0), MOST)
    return [sketch.painted(columns, style) for sketch in sketches]


def _followers(nodes: Iterable[Node]) -> dict[str, int]:
    """Count the nodes that follow each commit. A node that comes before its parent (damaged history) is not counted."""
    followers: dict[str, int] = {}
    for commit, parent, _ in nodes:
        followers[commit] = 0
        if parent in followers:
            followers[parent] += 1
    return followers


class Place:
    """The position of a node in the drawing: its `lane`, the lanes that continue `below` it, and the `fork` (from, to)
    that leads to it, if any."""

    __slots__ = ("below", "fork", "lane")

    def __init__(self, lane: int, fork: Fork | None, below: list[int]) -> None:
        self.lane, self.fork, self.below = lane, fork, below


def places(edges: Sequence[tuple[str, str]], current: Collection[str] = ()) -> list[Place]:
    """Return the same drawing without characters: a place for each commit and its parent, oldest first."""
    nodes = [(commit, parent, "") for commit, parent in edges]
    lanes = _Lanes(_followers(nodes), current)
    found = []
    for commit, parent in edges:
        lane, fork = lanes.enter(commit, parent)
        lanes.leave(commit, lane)
        found.append(Place(lane, fork, [number for number, awaited in enumerate(lanes.awaited) if awaited]))
    return found


class _Lanes:
    """The columns while the history is walked: each awaits followers of one commit, or is free ("")."""

    def __init__(self, followers: dict[str, int], current: Collection[str]) -> None:
        self.awaited: list[str] = []
        self._followers, self._current, self._last = followers, current, -1

    def enter(self, commit: str, parent: str) -> tuple[int, Fork | None]:
        """Return the lane that a commit takes, and the fork that leads to it, if any."""
        lane, fork = self._lane(commit, parent)
        self.awaited[lane], self._last = commit, lane
        return lane, fork

    def _lane(self, commit: str, parent: str) -> tuple[int, Fork | None]:
        if not parent or parent not in self.awaited:
            # Right below the last event of a line, it would look like the next event of that line.
            return self._free(but=self._last), None
        edge = self.awaited.index(parent)
        self._followers[parent] -= 1
        if not self._followers[parent]:
            return edge, None
        aside = self._free()
        self.awaited[aside] = parent
        return (edge if commit in self._current else aside), (edge, aside)

    def _free(self, but: int = -1) -> int:
        for lane, awaited in enumerate(self.awaited):
            if not awaited and lane != but:
                return lane
        self.awaited.append("")
        return self._free(but)

    def leave(self, commit: str, lane: int) -> None:
        """Free the lane of a commit that nothing follows."""
        if not self._followers[commit]:
            self.awaited[lane] = ""
        while self.awaited and not self.awaited[-1]:
            self.awaited.pop()


class _Sketch:
    """A node before the common width is known: the fork above, the characters around the mark, the lanes below."""

    def __init__(self, lanes: _Lanes, commit: str, parent: str, mark: str) -> None:
        lane, fork = lanes.enter(commit, parent)
        here = _verticals(lanes.awaited)
        self.mark, self.before, self.after = mark, here[: 2 * lane], here[2 * lane + 1 :]
        self.fork = _fork_line(here, *fork) if fork else ""
        self.columns = len(here)
        lanes.leave(commit, lane)
        self.below = _verticals(lanes.awaited)

    def painted(self, columns: int, style: Style) -> Gutter:
        """Return the drawing, padded or cut to the given number of columns."""
        before, after = self.before, self.after
        if len(before) >= columns:
            before = _cut(before, columns - 1)
        after = _cut(after, columns - 1 - len(before))
        above = [_painted(_cut(self.fork, columns), style)] if self.fork else []
        left = _painted(before, style) + self.mark + _painted(after, style)
        return Gutter(above, left, _painted(_cut(self.below, columns), style), columns)


def _verticals(awaited: Sequence[str]) -> str:
    return " ".join("│" if commit else " " for commit in awaited)


def _fork_line(here: str, edge: int, aside: int) -> str:
    """Return the lanes with an edge drawn from one to another, crossing the lanes between them."""
    cells = list(here)
    left, right = 2 * min(edge, aside), 2 * max(edge, aside)
    for column in range(left + 1, right):
        cells[column] = "│" if cells[column] == "│" else "─"
    cells[left], cells[right] = ("├", "╮") if edge < aside else ("╭", "┤")
    return "".join(cells)


def _cut(text: str, columns: int) -> str:
    return text.ljust(columns) if len(text) <= columns else (text[: columns - 1] + "~")[:columns]


def _painted(text: str, style: Style) -> str:
    return style.dim(text if style.unicode else text.translate(_ASCII))
