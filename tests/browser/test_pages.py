"""Pages as a browser shows them: quiet, alone, readable in every light and size, and deaf to every text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kit import pages
from tests.kit.browser import Browser, Look
from tests.kit.hostile import HOSTILE
from touchstone.baseline.aggregate import aggregate
from touchstone.render.page import history_html, page_html
from touchstone.render.page.aggregate import aggregate_page

pytestmark = pytest.mark.browser

LOOKS = {
    "light": Look(),
    "dark": Look(dark=True),
    "phone": Look(width=390, height=844, phone=True),
    "narrow": Look(width=320, height=640, phone=True, dark=True),
    "print": Look(width=760, printed=True),
}
PAGES: dict[str, Callable[[], str]] = {
    "compared": lambda: page_html(pages.judged(), [pages.history()]),
    "verglichen": lambda: page_html(pages.judged(), [pages.history()], "de"),
    "alone": lambda: page_html(pages.alone()),
    "history": lambda: history_html([pages.history(), pages.history(1)]),
    "aggregate": lambda: aggregate_page(aggregate(pages.results())),
}
CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")
CONTRAST_LEAST = 4.5
"""What WCAG 2 asks of text at level AA."""

MARKUP = re.compile(r"[<>&\"'`]|[^ -~\n]")
TELLING = {name: text for name, text in HOSTILE.items() if len(text) < 1000 and MARKUP.search(text)}
"""Those with a character that HTML or a browser could take for more than a letter; all of them are held
against the same pages without a browser."""
COUNTS = """(() => {
  const all = [...document.querySelectorAll("*")];
  const counts = {};
  for (const each of all) {
    // As many lines as a changed text has, and a mark where two answers part.
    if (each.closest(".diff pre") || each.localName === "mark") continue;
    counts[each.localName] = (counts[each.localName] || 0) + 1;
  }
  const handlers = all.flatMap(each => each.getAttributeNames()).filter(name => name.startsWith("on"));
  const links = [...document.querySelectorAll("[href],[src],[srcset],[action]")]
    .map(each => each.getAttribute("href") ?? "elsewhere").filter(to => !to.startsWith("#"));
  return {counts, handlers, links};
})()"""


@pytest.fixture
def page(tmp_path: Path) -> Callable[[str], Path]:
    """A page's text as a file."""

    def write(text: str) -> Path:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_alone_and_fits(
    browser: Browser, page: Callable[[str], Path], picture: Callable[[], bytes], name: str, look: str
) -> None:
    path = page(PAGES[name]())
    seen = browser.open(path, LOOKS[look])
    assert seen.console == []
    assert seen.requests == [path.as_uri()]
    assert seen.dialogs == []
    width = LOOKS[look].width
    assert browser.evaluate("document.documentElement.scrollWidth") == width, "nothing hangs out at the side"
    assert browser.evaluate(f"({CONTRAST})({CONTRAST_LEAST})") == []
    assert len(picture()) > 10_000


def test_light_and_dark_are_what_the_reader_asked_for(browser: Browser, page: Callable[[str], Path]) -> None:
    path, paper = page(PAGES["compared"]()), "getComputedStyle(document.body).backgroundColor"
    shown = {}
    for look in ("light", "dark", "print"):
        browser.open(path, LOOKS[look])
        shown[look] = sum(int(part) for part in browser.evaluate(paper)[4:-1].split(", "))
    assert shown["light"] > 700
    assert shown["dark"] < 100
    assert shown["print"] == 3 * 255
    browser.open(path, Look(dark=True, printed=True))
    assert browser.evaluate(paper) == "rgb(255, 255, 255)", "paper is white at night too"


@pytest.mark.parametrize("look", ["light", "phone"])
def test_a_row_unfolds_to_both_answers(
    browser: Browser, page: Callable[[str], Path], picture: Callable[[], bytes], look: str
) -> None:
    browser.open(page(PAGES["compared"]()), LOOKS[look])
    boxes = "[...document.querySelectorAll('details.row[open] .answer')].map(e => e.getBoundingClientRect())"
    assert browser.evaluate(f"{boxes}.length") == 0
    browser.click("details.row summary")
    old, new = browser.evaluate(f"{boxes}.map(box => ({{left: box.left, top: box.top, width: box.width}}))")
    assert min(old["width"], new["width"]) > 250
    if look == "light":
        assert new["left"] > old["left"] + old["width"], "side by side"
        assert new["top"] == old["top"]
    else:
        assert new["top"] > old["top"], "one below the other"
        assert new["left"] == old["left"]
    picture()


def test_what_moved_is_printed_with_its_answers(browser: Browser, page: Callable[[str], Path]) -> None:
    path = page(PAGES["compared"]())
    heights = "[...document.querySelectorAll('.sight > details.row > .behind')].map(seen)"
    heights = f"(seen => {heights})(e => e.checkVisibility() ? e.clientHeight : 0)"
    browser.open(path, LOOKS["light"])
    assert not any(browser.evaluate(heights))
    browser.open(path, LOOKS["print"])
    printed = browser.evaluate(heights)
    assert len(printed) > 10
    assert min(printed) > 50
    assert browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert browser.pdf().startswith(b"%PDF-")


def test_two_thousand_rows_stay_usable(
    browser: Browser, page: Callable[[str], Path], picture: Callable[[], bytes]
) -> None:
    path = page(page_html(pages.many(2000)))
    seen = browser.open(path)
    assert seen.console == []
    height = "document.documentElement.scrollHeight"
    first = browser.evaluate(height)
    assert first < 9_000, "what is in sight is a hundred rows, not two thousand"
    assert browser.evaluate("document.querySelectorAll('.row:not(.axis)').length") == 2000
    browser.click("details.fold summary")
    assert browser.evaluate(height) > first + 2_000
    assert browser.evaluate("document.querySelector('details.fold[open] .row .plot').clientWidth") > 200
    picture()


def counted(browser: Browser, path: Path, text: str) -> Any:
    """What the browser makes of a page with the text in every place, and that it stays quiet about it."""
    path.write_text(page_html(pages.saying(text), [pages.history_saying(text)]), encoding="utf-8")
    seen = browser.open(path)
    assert seen.console == []
    assert seen.dialogs == []
    assert seen.requests == [path.as_uri()]
    return browser.evaluate(COUNTS)


@pytest.fixture(scope="module")
def harmless(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return counted(browser, tmp_path_factory.mktemp("harmless") / "page.html", "harmless")


@pytest.mark.parametrize("name", TELLING)
def test_no_text_comes_alive(browser: Browser, harmless: Any, tmp_path: Path, name: str) -> None:
    found = counted(browser, tmp_path / "page.html", TELLING[name])
    assert found["handlers"] == []
    assert found["links"] == []
    if TELLING[name].strip():
        assert found["counts"] == harmless["counts"]
    else:
        assert set(found["counts"]) <= set(harmless["counts"]), "what is not there needs no place"


def test_even_what_got_in_would_not_run(browser: Browser, page: Callable[[str], Path]) -> None:
    """The page's own policy: nothing would come of a script, a handler, a style or a picture let in."""
    inside = (
        "<script>document.title = 'forged'</script><body onload=\"document.title = 'forged'\">"
        "<img src='https://evil.example/x.png' onerror=\"document.title = 'forged'\">"
        "<style>h1 { display: none }</style><p id='p' style='color: red'>"
    )
    text = PAGES["alone"]()
    path = page(text.replace("<main>", f"<main>{inside}"))
    seen = browser.open(path)
    assert browser.evaluate("document.title") != "forged"
    assert browser.evaluate("getComputedStyle(document.querySelector('h1')).display") != "none"
    assert browser.evaluate("getComputedStyle(document.getElementById('p')).color") != "rgb(255, 0, 0)"
    assert seen.requests == [path.as_uri()]
    assert seen.blocked == ["https://evil.example/x.png"]
    assert any("Content Security Policy" in line for line in seen.console), "and the console says so"
