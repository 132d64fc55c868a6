"""The search page in a real browser: with and without scripts, in English and Chinese, small and dark."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from api_client import CHEAP
from console_browser import DESKTOP, PHONE, Viewer, chromium, needs_chromium
from live_service import LiveService, live_service
from searched_site import COPIES, DOCUMENTS, GUIDES, page_at
from small_site import small_site
from test_api_search import crawl, indexed, make

needs_chromium()
pytest.importorskip("tantivy", reason="the extra `search` is not installed")
from playwright.sync_api import expect  # noqa: E402 - only where it is installed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
CHINESE = {"name": "gossamer-language", "value": "zh"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("search")
    with small_site(page_at) as site, live_service(folder, security=CHEAP) as service:
        crawl(service, "docs", site)
        crawl(service, "some", site, budget__max_pages=10)
        make(service, "fresh", site, search__follow=False)
        indexed(service, "docs", DOCUMENTS)
        indexed(service, "some", 10)
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def viewer(browser: Any, service: LiveService) -> Iterator[Viewer]:
    viewer = Viewer(browser, service.url)
    yield viewer
    viewer.close()


def search_for(page: Any, words: str) -> None:
    page.fill("[name=q]", words)
    page.click(".find button")


def test_a_search_from_words_to_the_page(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/docs/search")
    expect(page.locator("[name=q]")).to_be_focused()
    search_for(page, "guide crawler")
    expect(page.locator(".summary")).to_contain_text(f"{GUIDES} documents answer")
    expect(page.locator(".hit")).to_have_count(10)
    assert {text.lower() for text in page.locator(".hit mark").all_inner_texts()} == {"guide", "crawler"}
    page.locator(".facets a", has_text="2021").click()
    expect(page.locator(".hit")).to_have_count(6)
    expect(page.locator(".chosen")).to_contain_text("Year: 2021")
    assert all(when.startswith("2021-") for when in page.locator(".hit time").all_inner_texts())
    viewer.keep("search")
    page.click(".chosen a")
    page.click(".pager .next")
    expect(page.locator(".pager")).to_contain_text("Page 2")
    assert page.input_value("[name=q]") == "guide crawler"
    page.locator(".hit h3 a").first.click()
    expect(page.locator("main h2")).to_contain_text("Guide")
    assert "/jobs/docs/page?url=" in page.url


def test_near_duplicates_open(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/docs/search?q=yearly+report")
    page.locator(".hit .like").first.click()
    expect(page.locator("tbody tr")).to_have_count(COPIES + 1)
    page.locator("tbody a").first.click()
    expect(page.locator("h3", has_text="Pages like it")).to_contain_text(str(COPIES))


def test_all_jobs_at_once(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/search")
    search_for(page, "start of the documentation")  # the page from which both began
    both = page.locator(".hit", has=page.locator(".about a", has_text="some"))
    expect(both.first).to_be_visible()
    expect(page.locator(".hint").last).to_contain_text("Without an index: fresh")
    search_for(page, "guide after:soon")
    expect(page.locator("#problems")).to_contain_text("after:soon at character")
    page.goto("/jobs/fresh/search")
    expect(page.locator(".next")).to_contain_text("gossamer index")


def test_titles_are_suggested_by_keyboard_and_mouse(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/search")
    page.type("[name=q]", "the yea")
    expect(page.locator(".choices li").first).to_have_text("The yearly report")
    viewer.keep("search-suggestions")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[name=q]")).to_have_attribute("aria-activedescendant", "f-q-choices-0")
    page.keyboard.press("Enter")
    expect(page.locator(".hit h3").first).to_have_text("The yearly report")
    page.fill("[name=q]", "")
    page.type("[name=q]", "suche")
    page.locator(".choices li").first.click()
    expect(page.locator(".hit h3").first).to_have_text("Die Suche in Archiven")
    page.fill("[name=q]", "")
    page.type("[name=q]", "guide")
    expect(page.locator(".choices li").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".choices")).to_be_hidden()


@pytest.mark.parametrize("path", ["/search?q=evil", "/jobs/docs/search?q=evil+words", "/search"])
def test_hostile_titles_and_texts_run_nothing(viewer: Viewer, path: str) -> None:
    """`Viewer` fails at its end if anything ran, complained, or asked another server."""
    page = viewer.page
    page.goto(path)
    page.fill("[name=q]", "")
    page.type("[name=q]", "evil")
    expect(page.locator(".choices li").first).to_contain_text("<script>alert(1)</script>")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".hit h3").first).to_contain_text("<script>alert(1)</script>")
    assert page.locator("main img, main script, main svg").count() == 0
    page.locator(".hit h3 a").first.click()
    expect(page.locator("main h2")).to_contain_text("<script>alert(1)</script>")


def test_it_works_without_scripts(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url, java_script_enabled=False)
    page = viewer.page
    page.goto("/search")
    search_for(page, "guide")
    expect(page.locator(".hit")).to_have_count(10)
    page.click(".pager .next")
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.locator(".hit")).to_have_count(10)
    search_for(page, "+++")
    viewer.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_chinese_small_and_dark(
    browser: Any, service: LiveService, size: tuple[int, int], scheme: str
) -> None:
    viewer = Viewer(browser, service.url, size, color_scheme=scheme)
    viewer.context.add_cookies([{**CHINESE, "url": service.url}])
    page = viewer.page
    for path in (
        "/search",
        "/search?q=礼貌",
        "/jobs/docs/search?q=guide",
        "/jobs/fresh/search",
        "/jobs/docs/search?q=evil",
    ):
        page.goto(path)
        assert viewer.overflow() <= 0, path
        viewer.keep(f"search-zh-{size[0]}-{scheme}")
    page.goto("/search?q=礼貌")
    expect(page.locator(".hit mark")).to_have_text("礼貌")
    expect(page.locator(".summary")).to_contain_text("找到 1 个文档")
    ground, ink = page.evaluate(
        "(() => { const one = getComputedStyle(document.body); return [one.backgroundColor, one.color]; })()"
    )
    light = sum(map(int, ground[4:-1].split(","))) > sum(map(int, ink[4:-1].split(",")))
    assert light == (scheme == "light")
    viewer.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_all_of_a_search_by_hand_on_a_phone(
    browser: Any, service: LiveService, language: str, scheme: str
) -> None:
    """Suggestion, near-duplicates, a mistake, facet, next page, and the page itself, each by a tap."""
    viewer = Viewer(browser, service.url, PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
    viewer.context.add_cookies([{**CHINESE, "value": language, "url": service.url}])
    page, shots = viewer.page, iter(range(10))

    def looked() -> None:
        assert viewer.overflow() <= 0, page.url
        viewer.keep(f"search-phone-{language}-{scheme}-{next(shots)}")

    page.goto("/search")
    assert (page.locator("html").get_attribute("lang") or "").startswith(language)
    looked()
    page.locator("[name=q]").type("the yea")
    expect(page.locator(".choices li").first).to_be_visible()
    looked()
    page.locator(".choices li").first.tap()
    page.locator(".hit .like").first.tap()
    expect(page.locator("tbody tr")).to_have_count(COPIES + 1)
    looked()
    page.goto("/search?q=reprot")
    looked()
    page.locator(".sample a", has_text="The yearly report").tap()
    expect(page.locator(".hit h3").first).to_have_text("The yearly report")
    page.goto("/jobs/docs/search?q=guide+crawler")
    expect(page.locator(".hit")).to_have_count(10)
    looked()
    page.locator(".facets a", has_text="2021").tap()
    expect(page.locator(".hit")).to_have_count(6)
    looked()
    page.locator(".chosen a").tap()
    page.locator(".pager .next").tap()
    expect(page).to_have_url(re.compile("page=2"))
    page.locator(".hit h3 a").first.tap()
    expect(page.locator("main h2")).to_contain_text("Guide")
    looked()
    viewer.close()
