"""Forks as columns: compared whole, and by the laws that any drawing keeps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitckpt.views.graph import MOST, draw
from gitckpt.views.text import PLAIN, Style

Links = list[tuple[str, str]]

ASCII = Style(unicode=False)


def drawing(links: Links, current: str = "", style: Style = PLAIN) -> list[str]:
    """The graph of (commit, parent) pairs, each named beside its mark; `current` are those of the line that counts."""
    nodes = [(commit, parent, "●" if style.unicode else "*") for commit, parent in links]
    lines = []
    for (commit, _), gutter in zip(links, draw(nodes, current.split(), style), strict=True):
        lines += [line.rstrip() for line in (*gutter.above, f"{gutter.left} {commit}")]
    return lines


def test_one_line_is_one_column() -> None:
    assert drawing([("a", ""), ("b", "a"), ("c", "b")]) == ["● a", "● b", "● c"]


def test_nothing_is_no_line() -> None:
    assert drawing([]) == []


def test_the_later_line_is_straight_where_it_counts() -> None:
    assert drawing([("C6", ""), ("R1", "C6"), ("C8", "C6"), ("C9", "C8")], "C6 C8 C9") == [
        "●   C6",
        "├─╮",
        "│ ● R1",
        "●   C8",
        "●   C9",
    ]


def test_the_earlier_line_is_straight_where_it_counts() -> None:
    """As after an undo: the line that was left is the one to go on with."""
    assert drawing([("C1", ""), ("C2", "C1"), ("undo", "C1"), ("C3", "C2")], "C1 C2 C3") == [
        "●   C1",
        "├─╮",
        "● │ C2",
        "│ ● undo",
        "●   C3",
    ]


def test_many_tries_from_one_event_take_one_column() -> None:
    tries = [("a", ""), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "a"), ("f", "a")]
    assert drawing(tries, "a f") == [
        "●   a",
        "├─╮",
        "│ ● b",
        "├─╮",
        "│ ● c",
        "│ ● d",
        "├─╮",
        "│ ● e",
        "●   f",
    ]


INTERLEAVED = [("a", ""), ("b", "a"), ("c", "a"), ("d", "b"), ("e", "b"), ("f", "c"), ("g", "d"), ("h", "a")]


def test_lines_that_go_on_side_by_side() -> None:
    assert drawing(INTERLEAVED, "a h") == [
        "●       a",
        "├─╮",
        "│ ●     b",
        "├─│─╮",
        "│ │ ●   c",
        "│ ├─│─╮",
        "│ │ │ ● d",
        "│ ● │ │ e",
        "│   ● │ f",
        "│     ● g",
        "●       h",
    ]


def test_a_graph_can_be_drawn_in_ascii() -> None:
    assert drawing(INTERLEAVED, "a h", ASCII) == [
        "*       a",
        "|-.",
        "| *     b",
        "|-|-.",
        "| | *   c",
        "| |-|-.",
        "| | | * d",
        "| * | | e",
        "|   * | f",
        "|     * g",
        "*       h",
    ]


def test_a_freed_column_to_the_left_is_used_again() -> None:
    links = [("a", ""), ("b", "a"), ("c", "a"), ("d", "c"), ("e", "c"), ("f", "d")]
    assert drawing(links, "a b") == [
        "●   a",
        "├─╮",
        "● │ b",
        "  ● c",
        "╭─┤",
        "● │ d",
        "│ ● e",
        "●   f",
    ]


def test_a_line_of_elsewhere_does_not_hang_below_one_that_ended() -> None:
    assert drawing([("a", ""), ("b", "elsewhere"), ("c", "b")]) == ["●   a", "  ● b", "  ● c"]


def test_an_event_before_its_parent_is_listed_all_the_same() -> None:
    assert drawing([("b", "a"), ("a", ""), ("c", "a")]) == ["●   b", "  ● a", "  ● c"]


def test_lines_beyond_the_room_are_cut_from_the_drawing_alone() -> None:
    branches = [("a", ""), *((f"b{n}", "a") for n in range(40)), *((f"c{n}", f"b{n}") for n in range(40))]
    gutters = draw([(commit, parent, "●") for commit, parent in branches])
    lines = [line for gutter in gutters for line in (*gutter.above, gutter.left, gutter.below)]
    assert {len(line) for line in lines} == {MOST}
    assert [gutter.left.count("●") for gutter in gutters] == [1] * len(branches)
    assert gutters[39].left == "│ " * (MOST // 2 - 1) + "~●"


@st.composite
def histories(draw_from: st.DrawFn) -> Links:
    links: Links = []
    for number in range(draw_from(st.integers(1, 25))):
        parent = draw_from(st.sampled_from(["", *(commit for commit, _ in links)])) if links else ""
        links.append((f"c{number}", parent))
    return links


@given(histories(), st.data())
def test_every_event_hangs_below_its_parent(links: Links, data: st.DataObject) -> None:
    """Walking up the drawn edges from a mark leads to the mark of its parent, or to nothing where it has none."""
    current = data.draw(st.sampled_from([commit for commit, _ in links]))
    rows = _rows(links, _chain(links, current))
    for commit, parent in links:
        assert _walk_up(rows, commit) == parent


@given(histories(), st.data())
def test_the_line_that_counts_is_straight(links: Links, data: st.DataObject) -> None:
    chain = _chain(links, data.draw(st.sampled_from([commit for commit, _ in links])))
    columns = {row.index("●") for row, commit in _rows(links, chain) if commit in chain}
    assert len(columns) == 1


def _chain(links: Links, tip: str) -> list[str]:
    parents, chain = dict(links), []
    while tip:
        chain.append(tip)
        tip = parents[tip]
    return chain


def _rows(links: Links, current: list[str]) -> list[tuple[str, str]]:
    """The rows of a drawing, each with the commit whose mark it has, or ""."""
    rows: list[tuple[str, str]] = []
    nodes = [(commit, parent, "●") for commit, parent in links]
    for (commit, _), gutter in zip(links, draw(nodes, current), strict=True):
        rows += [*((above, "") for above in gutter.above), (gutter.left, commit)]
    return rows


def _walk_up(rows: list[tuple[str, str]], commit: str) -> str:
    row = next(index for index, (_, name) in enumerate(rows) if name == commit)
    column = rows[row][0].index("●")
    while row:
        row -= 1
        text, name = rows[row]
        if text[column] in "╮╭":
            column = text.index("├") if text[column] == "╮" else text.index("┤")
        elif text[column] == "●":
            return name
        elif text[column] == " ":
            return ""
    return ""
