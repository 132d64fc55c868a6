"""Archives seen again in the console, in a real browser: calendar, replay, compare, audit; whatever was archived."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_client import CHEAP
from console_browser import PHONE, Viewer, chromium, needs_chromium
from crawled_often import crawled_often
from live_service import LiveService, live_service
from patience import PATIENCE
from small_site import Answer, Site

needs_chromium()
from playwright.sync_api import expect  # noqa: E402 - only where it is installed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
EVIL = "<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>"
SHOWN = EVIL.replace("<", "&lt;")
EVIL_PATH = "/%3Cscript%3Ealert(3)%3C/script%3E?q='\"><svg/onload=alert(4)>"
SCRIPT = """<script>
document.title = 'RUNS ' + (window.opener === null);
fetch('CONSOLE/api/v1/jobs').then((answer) => { if (answer.ok) document.title = 'GOT' }, () => 0);
new Image().src = 'CONSOLE/favicon.ico';
const list = location.origin.replace(/[/][/].*-(?=[^-]+[.]localhost)/, '//list-') + '/';
fetch(list).then(() => { document.title = 'GOT list' }, () => 0);
const frame = document.createElement('iframe');
frame.src = list;
frame.onload = () => { try { document.title = 'GOT ' + frame.contentDocument.title } catch { frame.remove() } };
addEventListener('load', () => document.body.append(frame));
</script>"""


class Stage:
    """A service with two jobs, `may` and `june`, of one hostile site that has changed between them."""

    def __init__(self, service: LiveService, site: str) -> None:
        self.service, self.site = service, site


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("seeing")
    month = "may"
    with live_service(folder / "service", security=CHEAP, roots=[str(folder / "crawls")]) as service:

        def answer(_: str, path: str, asked: Counter[tuple[str, str]]) -> Answer:
            visit = sum(times for (_, one), times in asked.items() if one == path)
            pages = {
                "/": f"<title>{SHOWN}</title><h1>Front</h1><p>All of it.</p><a href=/price>Price</a>"
                f'<a href="{EVIL_PATH.replace(chr(34), "%22")}">{SHOWN}</a><a href=/only-{month}>Only now</a>'
                f"<a href=/nowhere>{SHOWN}</a>{SCRIPT.replace('CONSOLE', service.url)}",
                "/price": f"<title>Price</title><p>It stays.</p><p>You are visitor number {visit * 17}.</p>"
                f"<p>It is a good thing.</p><p>It costs {5 if visit < 4 else 6} crowns.</p><p>{SHOWN}</p>",
                f"/only-{month}": f"<title>Only</title><p>This is of {month} and of no other month of all.</p>",
            }
            found = pages.get(path, "<p>evil" if "svg" in path else None)
            return (200 if found else 404), {"Content-Type": "text/html; charset=utf-8"}, found or "none"

        (folder / "crawls").mkdir()
        with Site(answer) as site:
            for month in ("may", "june"):
                path = folder / "crawls" / month
                asyncio.run(crawled_often(site.address, path, 3))
                service.run(service.daemon.adopt(month, str(path), who="me"))
        yield Stage(service, site.address)


@pytest.fixture(scope="module")
def browser(stage: Stage) -> Iterator[Any]:
    """After the crawls, which need the event loop of this thread."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def viewer(browser: Any, stage: Stage) -> Iterator[Viewer]:
    viewer = Viewer(browser, stage.service.url)
    yield viewer
    viewer.close()


def test_a_page_is_seen_as_it_looked_where_its_scripts_reach_nothing(viewer: Viewer, stage: Stage) -> None:
    page = viewer.page
    page.goto(f"/jobs/june/page?url={stage.site}")
    answered: list[str] = []
    with viewer.context.expect_page() as opened:
        page.click("text=See it as it looked")
    replayed = opened.value
    replayed.on("response", lambda response: answered.append(response.url))
    replayed.wait_for_function("document.title.startsWith('RUNS')")
    replayed.wait_for_timeout(500)
    assert replayed.evaluate("list").startswith("http://list-")
    assert replayed.title() == "RUNS true", "it ran, without us as its opener, and got nothing of ours"
    assert replayed.url.split("/")[2].partition(":")[0].endswith(".localhost")
    assert (
        replayed.evaluate("list")
        .partition(":")[2]
        .endswith(replayed.url.split("/")[2].rpartition("-")[2] + "/")
    )
    assert not [url for url in answered if url.startswith(stage.service.url)]
    assert replayed.evaluate("document.cookie") == ""
    port = replayed.url.split("/")[2].rpartition(":")[2]
    strangers = viewer.context.new_page()
    answer = strangers.goto(f"http://127.0.0.1:{port}/")
    assert answer.status == 421, "the list goes by a name that others cannot guess"
    strangers.close()
    viewer.keep("page")
    page.goto("/jobs/june/pages")
    with viewer.context.expect_page() as opened:
        page.click("text=See the pages as they looked")
    expect(opened.value.locator("h1")).to_contain_text("Archived pages")
    assert opened.value.url.split("/")[2].endswith(f".localhost:{port}"), "it is the same process"


def test_the_calendar_leads_to_captures_and_what_changed(viewer: Viewer, stage: Stage) -> None:
    page = viewer.page
    page.goto(f"/jobs/june/page?url={stage.site}price")
    page.click("text=Calendar of captures")
    expect(page.locator(".month td a")).not_to_have_count(0)
    page.locator(".month td a").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".month a[aria-current]")).to_have_count(1)
    expect(page.locator("#list tbody tr")).to_have_count(3)
    viewer.keep("calendar")
    page.locator("#list tbody a", has_text="changed").first.click()
    expect(page.locator("main h2")).to_have_text("Compare captures")
    page.goto(f"/jobs/june/compare?url={stage.site}price&all=1&from=2001")
    expect(page.locator("table.compare")).to_contain_text("visitor number")
    viewer.keep("compare")
    page.goto(f"/jobs/june/captures?url={stage.site}never")
    expect(page.locator("main")).to_contain_text("Nothing of it is archived.")
    page.goto(f"/jobs/june/captures?url={stage.site}&year=abcd")
    expect(page.locator("#problems")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_site_is_audited(browser: Any, stage: Stage, scripts: bool) -> None:
    viewer = Viewer(browser, stage.service.url, java_script_enabled=scripts)
    page = viewer.page
    page.goto("/jobs/june")
    page.click("nav.side >> text=Audit")
    page.click("button.main >> text=Audit")
    expect(page.locator(".notice").first).to_contain_text("The audit has begun.")
    deadline = time.monotonic() + PATIENCE
    while not page.locator("table.findings").count():
        assert time.monotonic() < deadline
        page.wait_for_timeout(500)
        if not scripts:
            page.goto("/jobs/june/audit")
    page.select_option("[name=verdict]", "broken")
    page.click(".filters button")
    expect(page.locator("table.findings tbody tr")).to_have_count(1)
    expect(page.locator("table.findings")).to_contain_text("<img src=x onerror=alert(1)>")
    with page.expect_download() as download:
        page.click("text=Download: CSV")
    assert "nowhere" in Path(download.value.path()).read_text()
    page.goto("/jobs/june/audit")
    viewer.keep("audit")
    viewer.close()


def test_two_jobs_are_compared(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/june")
    page.click("nav.side >> text=Differences")
    page.select_option("[name=other]", "may")
    page.click("button.main >> text=Compare")
    expect(page.locator(".switch")).to_contain_text("Changed 1")
    page.click(".switch >> text=New")
    expect(page.locator("tbody tr")).to_contain_text("only-june")
    page.click(".switch >> text=Gone")
    expect(page.locator("tbody tr")).to_contain_text("only-may")
    page.click(".switch >> text=Changed")
    page.locator("tbody td.n a").first.click()
    expect(page.locator("table.compare")).to_contain_text("It costs 6 crowns.")
    viewer.keep("differences")


def test_in_chinese_in_the_dark_on_a_phone(browser: Any, stage: Stage) -> None:
    viewer = Viewer(browser, stage.service.url, PHONE, is_mobile=True, has_touch=True, color_scheme="dark")
    page = viewer.page
    page.goto("/jobs/june")
    page.click("text=中文")
    pages = {
        "captures": f"/jobs/june/captures?url={stage.site}price",
        "compare": f"/jobs/june/compare?url={stage.site}price&all=1",
        "page": f"/jobs/june/page?url={stage.site}",
        "audit": "/jobs/june/audit",
        "differences": "/jobs/june/differences?other=may&kind=new",
        "text": "/jobs/june/differences?other=may&text=1",
    }
    for name, path in pages.items():
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        assert viewer.overflow() <= 0, name
        viewer.keep(f"phone-dark-zh-{name}")
    viewer.close()
