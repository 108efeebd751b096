"""The page of a report as Chromium shows it, opened from disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from project import Project

from gitckpt.cli.report import page_of
from gitckpt.protocol.blocks import Block
from gitckpt.repo.reader import Reader
from gitckpt.repo.results import Results

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>window.ran = 1</script><!--<script><img src=x onerror='window.ran = 2'>"
    "<a href='javascript:window.ran = 3'>x</a> \u202egnp.exe ${window.ran = 4} \u2028"
)


def checkpoint(project: Project, id: str, **fields: Any) -> None:
    base = {
        "phase": "implement",
        "done": [f"step {id}"],
        "next": "go on",
        "state_ref": {"step": id},
        "rollback_hint": "x",
    }
    project.record(Block(kind="checkpoint", id=id, written=id, fields=base | fields))


@pytest.fixture(scope="module")
def report(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a session with a fork, wide letters, facts, and an agent that means ill."""
    project = Project.copy(template, tmp_path_factory.mktemp("report") / "project")
    checkpoint(
        project, "C1", phase="explore", todo=["read", "write"], facts=[{"text": "one module", "source": "src/app.py:1"}]
    )
    project.write("src/app.py", "import lib\nprint('two')\n")
    project.write("中文.txt", "宽字\n")
    checkpoint(
        project,
        "C2",
        done=["wrote src/app.py"],
        todo=["write"],
        facts=[{"text": "one module", "source": "src/app.py:1"}],
    )
    project.write("src/app.py", "import broken\n")
    project.record(Block("retry", None, "", {"from": "C3", "reason": "it broke", "new_strategy": "keep lib"}))
    project.write("src/app.py", "import lib\nprint('three')\n")
    project.write("long.txt", "line\n" * 1000)
    checkpoint(project, "C4", phase="verify")
    project.write("evil.txt", HOSTILE + "\n")
    checkpoint(project, "C5", done=[HOSTILE], next=HOSTILE, goal=HOSTILE, extra={HOSTILE: HOSTILE})
    reader = Reader(project.repository())
    Results(reader.repository).add(reader.find("C5").event.tree, ["sh", "-c", HOSTILE], 1)
    page = project.root.parent / "report.html"
    page.write_bytes(page_of(reader, reader.sessions()))
    return page


class Watched:
    """A page, and what it did that it must not do."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.faults = page, list[str]()
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: request.url.split("#")[0] == address or self.faults.append(request.url))
        self.address = address

    def open(self, hash: str = "") -> Page:
        self.page.goto(self.address + hash)
        self.page.wait_for_selector("html[data-complete]", state="attached")
        return self.page

    @property
    def current(self) -> str:
        return self.page.locator("article[aria-current] h2").inner_text()


@pytest.fixture
def shown(browser: Browser, report: Path) -> Iterator[Watched]:
    """The page in a fresh profile; at the end it must have asked for nothing and complained of nothing."""
    context = browser.new_context(color_scheme="light")
    watched = Watched(context.new_page(), report.as_uri())
    yield watched
    faults = watched.faults
    assert watched.page.evaluate("window.ran") is None
    context.close()
    assert faults == []


def test_all_of_the_session_is_there(shown: Watched) -> None:
    page = shown.open()
    assert page.locator("#timeline a.entry .name").all_inner_texts() == ["start", "C1", "C2", "R1", "C4", "C5"]
    assert page.locator("article h2").all_text_contents() == ["start", "C1", "C2", "R1", "C4", "C5"]
    assert page.locator(".why p").all_inner_texts() == ["it broke", "keep lib"]
    assert page.locator("svg .mark").count() == 7
    assert page.locator("svg .arc.retry").count() == 1
    assert (
        "may be stale: changed in C2"
        in page.locator(".overview, article").filter(has_text="may be stale").first.inner_text()
    )


def test_nothing_that_an_agent_wrote_runs(shown: Watched) -> None:
    page = shown.open("#C5")
    page.keyboard.press("Enter")
    text = page.locator("article[aria-current]").inner_text()
    assert text.count("</script><script>window.ran = 1</script>") > 3
    assert "\\u202egnp.exe" in text and "\u202e" not in page.content()
    assert page.locator("img, iframe, [href^='javascript']").count() == 0
    assert page.evaluate("document.scripts.length") == page.evaluate(
        "document.querySelectorAll('script[type=\"application/json\"]').length + 1"
    )


def test_the_steps_whose_tests_have_failed(shown: Watched) -> None:
    page = shown.open()
    assert page.locator("#timeline .verdict").all_inner_texts() == ["failed"]
    page.keyboard.press("f")
    assert page.locator("#timeline a.entry .name:visible").all_inner_texts() == ["C5"]
    assert page.locator("#found").inner_text() == "1 of 6 steps"
    page.keyboard.press("Escape")
    assert page.locator("#timeline a.entry .name:visible").count() == 6
    page.locator("#failed").click()
    assert page.locator("article h2:visible").all_text_contents() == ["C5"]


def test_markup_that_somebody_slips_in_is_refused_by_the_policy(browser: Browser, report: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged.html"
    forged.write_text(report.read_text().replace("<noscript>", "<script>window.ran = 1</script><noscript>"))
    page = browser.new_page()
    page.goto(forged.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate("window.ran") is None
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>x</b>'")
    page.close()


def test_the_keyboard_leads_through_it(shown: Watched) -> None:
    page = shown.open()
    seen = []
    for key in ("j", "j", "j", "k", "G", "g"):
        page.keyboard.press(key)
        seen.append(shown.current)
    assert seen == ["start", "C1", "C2", "C1", "C5", "start"]
    page.keyboard.press("?")
    assert page.locator("dialog[open] kbd").count() > 6
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_changes_are_drawn_when_they_are_opened(shown: Watched) -> None:
    page = shown.open("#C2")
    assert page.locator(".diff").count() == 0
    page.keyboard.press("Enter")
    lines = page.locator("article[aria-current] .l.add code").all_inner_texts()
    assert lines == ["+print('two')", "+宽字"]
    assert page.locator("article[aria-current] .l.add").first.get_attribute("data-new") == "2"
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 0


def test_what_was_left_out_is_said_with_the_command_that_shows_it(shown: Watched) -> None:
    page = shown.open("#C4")
    page.keyboard.press("Enter")
    note = page.locator("article[aria-current] .left-out").inner_text()
    assert note.startswith("601 more lines not on this page: gitckpt diff ") and note.endswith(" -- long.txt")
    assert page.locator("article[aria-current] details", has_text="long.txt").locator(".l").count() == 400


@pytest.mark.parametrize(
    ("hash", "name"), [("#C4", "C4"), ("#c4", "C4"), ("#4", "C4"), ("#C3", "R1"), ("#start", "start")]
)
def test_a_link_leads_to_its_step(shown: Watched, hash: str, name: str) -> None:
    page = shown.open(hash)
    assert shown.current == name
    assert page.locator("article[aria-current]").bounding_box()["y"] < 500  # type: ignore[index]
    page.locator("#timeline a[href='#C2']").click()
    assert (shown.current, page.url.rpartition("#")[2]) == ("C2", "C2")


def test_search_looks_into_words_paths_and_changes(shown: Watched) -> None:
    page = shown.open()

    def found(query: str) -> list[str]:
        page.keyboard.press("/")
        page.locator("#search").fill(query)
        return page.locator("#timeline li:visible a.entry .name").all_inner_texts()

    assert found("it broke") == ["R1"]
    assert found("中文") == ["C2"]
    assert found("宽字") == ["C2"]
    assert found("print three") == ["C4"]
    assert found("'three'") == ["C4"]
    assert found("</script><script>") == ["C5"]
    assert found("nowhere") == []
    page.locator("#search").fill("it broke")
    page.keyboard.press("Enter")
    assert (shown.current, page.locator("#found").inner_text()) == ("R1", "1 of 6 steps")
    page.keyboard.press("Escape")
    assert page.locator("#timeline li:visible a.entry").count() == 6


def test_light_dark_and_the_switch(shown: Watched) -> None:
    page = shown.open()

    def paper() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = paper()
    page.emulate_media(color_scheme="dark")
    dark = paper()
    assert light != dark
    seen = []
    for _ in range(3):
        page.keyboard.press("t")
        seen.append((page.locator("#theme").inner_text(), paper()))
    assert seen == [("light", light), ("dark", dark), ("auto", dark)]


def test_print_shows_all_steps_and_no_tools(shown: Watched) -> None:
    page = shown.open("#C2")
    page.keyboard.press("Enter")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#search").is_visible()
    assert (
        page.locator("article").evaluate_all("all => all.map(one => getComputedStyle(one).contentVisibility)")
        == ["visible"] * 6
    )
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.locator(".diff").first.is_visible()


def test_on_a_narrow_screen_nothing_runs_over_the_side(shown: Watched) -> None:
    page = shown.open()
    for width in (360, 800, 1400):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
