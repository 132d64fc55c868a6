"""The page of watches in a real browser: with and without scripts, in English and Chinese, small and dark."""

from collections.abc import Iterator
from typing import Any

import pytest
from console_browser import DESKTOP, PHONE, Viewer, chromium, needs_chromium
from live_service import LiveService
from receivers import Hook
from watched_job import HOSTILE, NAME, watched_job

needs_chromium()
from playwright.sync_api import expect  # noqa: E402 - only where it is installed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with Hook().open() as hook, watched_job(tmp_path_factory.mktemp("watched"), hook) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("scripts", [True, False])
def test_a_watch_is_added_paused_and_removed(browser: Any, service: LiveService, scripts: bool) -> None:
    viewer = Viewer(browser, service.url, java_script_enabled=scripts)
    page = viewer.page
    page.goto("/jobs/day")
    page.click("nav.side >> text=Watch")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.fill("[name=urls]", "shop.example/prices")
    page.fill("[name=select]", ".price")
    page.fill("[name=when]", "number < 10\noften")
    page.click("button.main >> text=Watch")
    expect(page.locator("#problems")).to_contain_text("is no condition")
    assert page.input_value("[name=select]") == ".price"
    page.fill("[name=when]", "number < 10")
    page.fill("[name=every]", "2h")
    page.click("button.main >> text=Watch")
    expect(page.locator(".notice")).to_have_text("It is watched now.")
    row = page.locator("tbody tr").filter(has_text="shop.example/prices")
    expect(row).to_contain_text("number < 10")
    row.locator("text=Pause").click()
    expect(row).to_contain_text("paused")
    row.locator("text=Remove").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    viewer.close()


def test_the_last_differences_and_what_did_not_arrive(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url)
    page = viewer.page
    page.goto("/jobs/day/watch")
    expect(page.locator("tbody tr")).to_contain_text(NAME)
    expect(page.locator("main")).to_contain_text("HTTP status 410")
    expect(page.locator(".difference ins").last).to_contain_text(HOSTILE)
    expect(page.locator(".told")).to_have_count(2)
    page.click(f"text={NAME}")
    expect(page.locator("main h3").filter(has_text="Last notices")).to_contain_text(NAME)
    page.click("text=Send again what was given up")
    expect(page.locator(".notice")).to_have_text("What was given up is sent again.")
    expect(page.locator("main")).not_to_contain_text("HTTP status 410")
    viewer.close()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_it_fits(
    browser: Any, service: LiveService, size: tuple[int, int], scheme: str, language: str
) -> None:
    viewer = Viewer(browser, service.url, size, color_scheme=scheme)
    viewer.context.add_cookies([{"name": "gossamer-language", "value": language, "url": service.url}])
    viewer.page.goto("/jobs/day/watch")
    expect(viewer.page.locator("main h2")).to_have_text("Watch" if language == "en" else "监视")
    assert viewer.overflow() <= 0
    viewer.keep(f"watch-{scheme}-{language}-{size[0]}")
    viewer.close()
