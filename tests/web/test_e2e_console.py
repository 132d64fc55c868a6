"""The console in a real browser, over a real daemon, crawling a simulated web."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from api_client import CHEAP, PASSWORD
from console_browser import DESKTOP, PHONE, Viewer, chromium, needs_chromium
from live_service import LiveService, live_service
from patience import PATIENCE

from gossamer.daemon.database import Database
from gossamer.daemon.security_config import SecurityConfig
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.web.console.renderer import TABS
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.visitor import Role

needs_chromium()
from playwright.sync_api import expect  # noqa: E402 - only where it is installed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(WorldSpec.friendly(pages=30_000, hosts=30)) as web:
        yield web


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder: Path = tmp_path_factory.mktemp("e2e")
    with contextlib.closing(Database(folder / "service.db")) as database:
        accounts = Accounts(database, Passwords(SecurityConfig(**CHEAP)))
        accounts.add("alice", Role.OPERATOR, PASSWORD)
        accounts.add("victor", Role.VIEWER, PASSWORD)
    # The crawls go on for as long as they are looked at, and must have room on a machine that takes its time over it.
    with live_service(folder, security=CHEAP, claim={"disk": "1GiB"}) as service:
        yield service


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def viewer(browser: Any, service: LiveService) -> Iterator[Viewer]:
    viewer = Viewer(browser, service.url)
    viewer.log_in("alice", PASSWORD)
    yield viewer
    viewer.close()


FOCUSED = """(() => {
    const one = document.activeElement;
    if (one === document.body) return [null];
    return [one.textContent.trim().slice(0, 20), getComputedStyle(one).outlineStyle !== 'none'];
})()"""
MORE_PAGES = (
    "({before}) => parseInt(document.querySelector('.figures dd').innerText.replace(/,/g, '')) > before"
)


def fill_in(page: Any, web: SimulatedWeb, name: str, **fields: str) -> None:
    """The form of a new job on the simulated web."""
    page.goto("/jobs/new")
    page.fill("[name=name]", name)
    page.fill("[name=seeds]", "\n".join(web.seeds))
    page.select_option("[name=mode]", "any")
    page.fill("[name=min_delay]", fields.get("min_delay", "400ms"))
    page.fill("[name=workers]", fields.get("workers", "4"))
    page.fill(
        "[name=toml]",
        f'fetch.allow_private = true\ndns.nameservers = ["{web.nameserver}"]\ndns.hosts_file = false',
    )


def figure(page: Any, name: str) -> Any:
    """The number above a name on the overview."""
    return page.locator(".figures > div", has=page.locator("dt", has_text=re.compile(f"^{name}$"))).locator(
        "dd"
    )


def number_in(page: Any, name: str) -> int:
    return int(re.sub(r"\D", "", figure(page, name).inner_text().split("\n")[0]) or 0)


def look_until(page: Any, path: str, good: Callable[[], Any]) -> None:
    """Look at a page again and again; each comes whole: one that is asked for before it has come never comes."""
    deadline = time.monotonic() + PATIENCE
    page.goto(path)
    while not good():
        assert time.monotonic() < deadline, path
        page.wait_for_timeout(500)
        page.goto(path)


def wait_for(page: Any, condition: str, **values: Any) -> None:
    page.wait_for_function(condition, arg=values)


def test_the_door(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url)
    page = viewer.page
    page.goto("/jobs/any/hosts")
    assert page.url.endswith("/login?next=/jobs/any/hosts")
    page.fill("[name=name]", "alice")
    page.fill("[name=password]", "not the password")
    page.click("button.main")
    expect(page.locator("[role=alert]")).to_contain_text("wrong")
    viewer.keep("login")
    viewer.log_in("alice", PASSWORD)
    expect(page.locator("h1")).to_have_text("Jobs")
    page.click("text=Log out")
    page.wait_for_url("**/login*")
    page.goto("/allocation")
    assert "/login" in page.url
    viewer.close()


def test_a_job_with_mistakes_is_not_created(viewer: Viewer, web: SimulatedWeb) -> None:
    page = viewer.page
    fill_in(page, web, "Bad Name", workers="many", min_delay="soon")
    page.eval_on_selector("form.sheet", "form => form.noValidate = true")
    page.click("text=Create and start")
    expect(page.locator(".problem")).to_have_count(3)
    assert page.input_value("[name=workers]") == "many"
    expect(page.locator("#f-workers")).to_have_attribute("aria-invalid", "true")
    viewer.keep("new-problems")
    page.goto("/jobs/new?way=toml")
    page.fill("[name=name]", "toml")
    page.fill("[name=toml]", "[scope]\nmood = 1\n[engine]\nworkers = 0\n")
    page.click("text=Only check")
    text = page.locator("#problems").inner_text()
    assert "scope.mood" in text
    assert "engine.workers" in text


def test_a_day_at_the_console(viewer: Viewer, web: SimulatedWeb) -> None:
    """Everything that an operator does, in the order in which it comes."""
    page = viewer.page
    fill_in(page, web, "day")
    page.click("text=Create and start")
    expect(page.locator(".notice")).to_have_text("The job was created.")
    see_figures_move(viewer)
    change_workers_and_delay(viewer)
    look_around(viewer)
    preview_and_apply_a_scope(viewer)
    ask_why(viewer)
    ask_in_sql(viewer)
    rest_a_host(viewer)
    stop_and_resume(viewer)
    read_the_report(viewer)


def see_figures_move(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day")
    expect(page.locator(".job-head .state")).to_have_text("running")
    first = number_in(page, "Pages")
    wait_for(
        page,
        MORE_PAGES,
        before=first + 20,
    )
    expect(page.locator(".charts svg polyline").first).to_be_visible()
    assert page.evaluate("performance.getEntriesByType('navigation').length") == 1
    viewer.keep("overview")


def change_workers_and_delay(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day/settings")
    page.fill("[id='f-set:engine.workers']", "none")
    page.click("text=Apply changes")
    assert "whole number" in page.locator(".problem").inner_text()
    page.fill("[id='f-set:engine.workers']", "6")
    page.fill("[id='f-set:politeness.min_delay']", "200ms")
    page.click("text=Apply changes")
    expect(page.locator(".notice")).to_have_text("The changes hold now.")
    assert page.input_value("[id='f-set:engine.workers']") == "6"
    page.goto("/jobs/day")
    expect(figure(page, "Workers")).to_contain_text("/ 6")
    page.goto("/jobs/day/changes")
    rows = page.locator("tbody tr").filter(has_text="alice")
    expect(rows).to_have_count(2)
    changed = set(rows.locator("td.mono:nth-child(3)").all_inner_texts())
    assert changed == {"engine.workers", "politeness.min_delay"}
    rows.filter(has_text="politeness.min_delay").locator("text=Undo").click()
    expect(page.locator(".notice")).to_have_text("The change was taken back.")
    page.goto("/jobs/day/settings")
    assert page.input_value("[id='f-set:politeness.min_delay']") == "400ms"


def look_around(viewer: Viewer) -> None:
    """Every page of the job answers, keeps the policy, and lists something where there is something."""
    page = viewer.page
    for tab in TABS:
        answer = page.goto(f"/jobs/day/{tab}" if tab != "overview" else "/jobs/day")
        assert answer.status == 200, tab
        if tab in ("hosts", "queue", "pages", "log"):
            assert page.locator("tbody tr").count() > 5, tab
        if tab in ("codes", "names", "queue"):
            assert page.locator(".charts svg").count() >= 2, tab
        viewer.keep(tab)
    page.goto("/jobs/day/log")
    first = page.locator("tbody tr").first.inner_text()
    wait_for(
        page, "({first}) => document.querySelector('tbody tr').innerText.trim() !== first.trim()", first=first
    )
    page.goto("/jobs/day/hosts?sort=name")
    page.locator("tbody a").first.click()
    expect(page.locator("h2.url")).to_be_visible()
    viewer.keep("host")


def preview_and_apply_a_scope(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day/settings")
    page.click("text=Preview scope")
    expect(page.locator("#problems")).to_contain_text("nothing to preview")
    page.fill("[id='f-set:scope.exclude']", "/s3/")
    page.click("text=Preview scope")
    going = int(page.locator("#preview .headline strong").inner_text().replace(",", ""))
    assert going > 0
    assert "/s" in page.locator("#preview .sample li").first.inner_text()
    viewer.keep("preview")
    page.click("text=Apply this scope")
    expect(page.locator(".notice")).to_have_text("The changes hold now.")
    assert page.input_value("[id='f-set:scope.exclude']") == "/s3/"


def ask_why(viewer: Viewer) -> None:
    page = viewer.page
    open_a_page(viewer)
    page.click(".verdict a")
    expect(page.locator(".story .verdict")).to_contain_text("It was crawled.")
    assert page.locator(".facts li").count() >= 3
    viewer.keep("why")
    page.fill("[name=url]", "no url at all")
    page.click("text=Ask why")
    expect(page.locator("#problems")).to_be_visible()
    page.fill("[name=url]", "http://unheard.of.test/")
    page.click("text=Ask why")
    expect(page.locator(".story .verdict")).to_contain_text("does not know it")


def open_a_page(viewer: Viewer) -> None:
    """From the list to a page with all that is known, and on along its links."""
    page = viewer.page
    page.goto("/jobs/day/pages?status=200&mime=text/html")
    found_on_a_page(page).click()
    expect(page.locator(".verdict")).to_contain_text("It was crawled.")
    expect(page.locator("pre.file").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("HTTP/1.1 200")
    viewer.keep("page")
    with page.expect_download() as download:
        page.locator(".downloads a").first.click()
    assert download.value.path().stat().st_size > 0
    first = page.url
    page.locator("dl.pairs a.url").first.click()  # where it was found
    page.locator("section", has=page.locator("h3", has_text="Links out")).locator("tbody a").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    page.goto(first)


def found_on_a_page(page: Any) -> Any:
    """The first in the list that is no seed, and to which neither a redirect led nor a site map."""
    asked = {"status": "200", "type": "text/html", "columns": "url,via", "limit": "1000"}
    listed = page.request.get("/api/v1/jobs/day/list", params=asked).json()["items"]
    via = {one["url"]: one["via"] for one in listed}
    for link in page.locator("tbody a").all():
        [url] = parse_qs(urlsplit(link.get_attribute("href")).query).get("url", [""])
        if via.get(url) in via:
            return link
    raise AssertionError(via)


def ask_in_sql(viewer: Viewer) -> None:
    """A question, its chart, a mistake, and the other language on a narrow screen in the dark."""
    page = viewer.page
    page.goto("/jobs/day/sql")
    page.click("text=Pages by status")
    page.click("form.question button")
    expect(page.locator("#answer tbody tr").first).to_be_visible()
    page.fill("[name=question]", "select type, count(*) as pages from pages group by type")
    page.click("form.question button")
    expect(page.locator("#answer svg").first).to_be_visible()
    assert page.locator("#answer td.n").count() >= 1
    viewer.keep("sql")
    page.fill("[name=question]", "select urll from pages")
    page.click("form.question button")
    expect(page.locator("#problems")).to_contain_text("LINE 1: select urll from pages")
    page.fill("[name=question]", "select url from pages where type = 'text/html' limit 3")
    page.click("form.question button")
    expect(page.locator("#answer tbody tr")).to_have_count(3)
    page.locator("#answer tbody a").first.click()
    expect(page.locator(".verdict")).to_be_visible()
    page.click("text=中文")
    expect(page.locator("main")).to_contain_text("存档记录")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.emulate_media(color_scheme="dark")
    assert viewer.overflow() == 0
    viewer.keep("page-zh-phone")
    page.goto("/jobs/day/sql")
    expect(page.locator("main")).to_contain_text("每行是一个访问过或未接纳的 URL")
    assert viewer.overflow() == 0
    viewer.keep("sql-zh-phone")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    page.emulate_media(color_scheme="light")
    page.click("text=English")


def rest_a_host(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day/hosts")
    page.locator("tbody a").first.click()
    page.fill("[name=seconds]", "an hour")
    page.click("button[value=rest]")
    expect(page.locator("#problems")).to_contain_text("not a duration")
    page.fill("[name=seconds]", "1h")
    page.click("button[value=rest]")
    expect(page.locator(".notice")).to_have_text("The host rests.")
    expect(page.locator(".figures .state")).to_have_text("resting")
    expect(page.locator(".figures dd").first).to_contain_text("min")
    page.click("text=Park")
    expect(page.locator(".figures .state")).to_have_text("parked")
    page.click("text=Revive")
    expect(page.locator(".notice")).to_have_text("The host is revived.")
    page.locator("form.inline input[name$=min_delay]").fill("2s")
    page.click("form.inline >> text=Apply changes")
    expect(page.locator(".notice")).to_have_text("The changes hold now.")
    expect(page.locator("main")).to_contain_text("Shortest rest\n2 s", use_inner_text=True)


def stop_and_resume(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day")
    page.click(".job-head >> text=Pause")
    expect(page.locator(".job-head .state")).to_have_text("paused")
    expect(page.locator(".job-head >> text=Go on")).to_be_visible()
    page.click(".job-head >> text=Go on")
    expect(page.locator(".notice")).to_have_text("It goes on.")
    page.click(".job-head >> text=Checkpoint")
    expect(page.locator(".notice")).to_have_text("A checkpoint has been taken.")
    page.click(".job-head >> text=Stop")
    expect(page.locator(".notice")).to_contain_text("Stopping")
    page.goto("/jobs/day/seeds")  # without a part that lives; its head does
    expect(page.locator(".job-head .state")).to_have_text("stopped")
    page.goto("/jobs/day")
    before = number_in(page, "Pages")
    page.click(".job-head >> text=Start")
    expect(page.locator(".job-head .state")).to_have_text("running")
    assert page.evaluate("performance.getEntriesByType('navigation').length") == 1
    wait_for(
        page,
        MORE_PAGES,
        before=before,
    )


def read_the_report(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day/report")
    expect(page.locator(".report h1")).to_contain_text("day")
    assert page.locator(".report svg").count() > 5
    viewer.keep("report")


def test_the_rest_of_what_can_be_done_to_a_job(viewer: Viewer, web: SimulatedWeb) -> None:
    page = viewer.page
    page.goto("/jobs/day/clone")
    page.fill("[name=name]", "twin")
    page.click("button.main")
    expect(page.locator(".notice")).to_have_text("The clone was created.")
    page.goto("/jobs/twin/schedule")
    page.fill("[name=cron]", "every monday")
    page.click("text=Set schedule")
    expect(page.locator("#problems")).to_be_visible()
    page.fill("[name=cron]", "0 3 * * mon")
    page.fill("[name=quiet]", "08:00-18:00")
    page.click("text=Set schedule")
    expect(page.locator("main")).to_contain_text("0 3 * * mon")
    page.goto("/jobs/twin/claim")
    page.fill("[name=connections]", "7")
    page.click("text=Set claim")
    expect(page.locator(".notice")).to_have_text("The claim was set.")
    page.goto("/jobs/day/seeds")
    page.fill("[name=urls]", web.seeds[0])
    page.click("button.main")
    expect(page.locator(".notice")).to_have_text("The seeds were added.")
    page.goto("/jobs/twin/delete")
    page.fill("[name=confirm]", "day")
    page.click("text=Delete for good")
    expect(page.locator("#problems")).to_contain_text("not its name")
    page.fill("[name=confirm]", "twin")
    page.click("text=Delete for good")
    expect(page.locator("h1")).to_have_text("Jobs")
    assert page.locator("text=twin").count() == 0
    page.goto("/audit")
    assert page.locator("tbody tr").count() > 5


def test_a_crawl_that_is_kept_fresh(viewer: Viewer, web: SimulatedWeb) -> None:
    """A page is asked for again by its button; what visits again found is drawn; what is gone has its list."""
    page = viewer.page
    fill_in(page, web, "kept", min_delay="100ms")
    toml = page.input_value("[name=toml]")
    page.fill("[name=toml]", f"{toml}\nrevisit.enabled = true")
    page.click("text=Create and start")
    expect(page.locator(".notice")).to_have_text("The job was created.")
    page.goto("/jobs/kept/freshness")
    expect(page.locator("#main")).to_contain_text("visited again when that is worth it")
    look_until(
        page, "/jobs/kept/pages?status=200&mime=text/html", lambda: page.locator("tbody tr").count() > 3
    )
    page.locator("tbody a").first.click()
    page.click("text=Fetch again")
    expect(page.locator(".notice")).to_contain_text("visited again")
    charts = page.locator(".charts svg")
    look_until(page, "/jobs/kept/freshness", lambda: charts.count() >= 2 and number_in(page, "Visits again"))
    viewer.keep("freshness")
    page.click("text=Pages that are gone")
    expect(page.locator("#main h2")).to_have_text("Pages that are gone")
    viewer.keep("gone")
    page.goto("/jobs/kept/schedule")
    page.fill("[name=cron]", "0 3 * * *")
    page.select_option("[name=how]", "revisit")
    page.fill("[name=hours]", "4")
    page.click("text=Set schedule")
    expect(page.locator("main")).to_contain_text("0 3 * * *")
    page.goto("/jobs/kept/schedule")
    assert (page.input_value("[name=how]"), page.input_value("[name=hours]")) == ("revisit", "4")


def test_the_allocation(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/allocation")
    assert page.locator(".matrices table").count() == 3
    expect(page.locator(".sequence")).to_contain_text("day")
    viewer.keep("allocation")
    page.fill("[name=connections]", "lots")
    page.click("text=Set limits")
    expect(page.locator(".problem")).to_be_visible()
    page.fill("[name=connections]", "300")
    page.click("text=Set limits")
    expect(page.locator(".notice")).to_have_text("The limits were set.")
    expect(page.locator("tbody tr").first).to_contain_text("300")


def test_keys(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.locator("main h2")).to_have_text("Hosts")
    page.wait_for_load_state()  # the heading is there before the scripts are
    page.keyboard.press("/")
    expect(page.locator("#f-text")).to_be_focused()
    page.keyboard.type("gh?")
    assert page.input_value("#f-text") == "gh?"
    page.goto("/help")
    page.click("text=Switch shortcuts off")
    expect(page.locator("button[name=keys]")).to_have_attribute("value", "on")
    page.goto("/jobs/day")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_hidden()


def test_every_control_is_reached_by_the_keyboard(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day/hosts")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found[0]:
            assert found[1], f"{found[0]} has no visible focus"
            reached.add(found[0])
    assert {"Jobs", "Pause", "Stop", "More", "Overview", "Report", "Filter"} <= reached


def test_chinese_and_dark(viewer: Viewer) -> None:
    page = viewer.page
    page.goto("/jobs/day")
    page.click("text=中文")
    expect(page.locator(".side")).to_contain_text("主机")
    assert page.get_attribute("html", "lang") == "zh-Hans"
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[name=theme]")
    expect(page.locator("body")).not_to_have_css("background-color", light)
    viewer.keep("chinese-dark")
    page.goto("/jobs/day/pages?status=200")
    page.locator("tbody a").first.click()
    page.click(".verdict a")
    expect(page.locator(".story .verdict")).to_contain_text("已经抓取")
    expect(page.locator(".facts")).to_contain_text("连续失败")
    expect(page.locator(".facts")).not_to_contain_text("failures in a row")
    viewer.keep("why-chinese")
    page.click("text=English")
    expect(page.locator(".side")).to_contain_text("Hosts")


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url, PHONE, is_mobile=True, has_touch=True)
    viewer.log_in("alice", PASSWORD)
    paths = ["/", "/jobs/new", "/allocation", "/audit", "/help", "/jobs/day/schedule", "/jobs/day/delete"]
    paths += [f"/jobs/day/{tab}" for tab in TABS if tab != "overview"]
    for path in [*paths, "/jobs/day"]:
        viewer.page.goto(path)
        assert viewer.overflow() <= 0, path
        viewer.keep("phone-" + (path.strip("/").replace("/", "-") or "jobs"))
    viewer.close()


def test_without_scripts_everything_but_live_figures_works(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url, DESKTOP, java_script_enabled=False)
    viewer.log_in("alice", PASSWORD)
    page = viewer.page
    page.click("text=day")
    page.click(".side >> text=Settings")
    page.fill("[id='f-set:engine.workers']", "5")
    page.click("text=Apply changes")
    expect(page.locator(".notice")).to_have_text("The changes hold now.")
    page.click(".side >> text=SQL")
    page.click("form.question button")
    expect(page.locator("#answer tbody tr").first).to_be_visible()
    page.click(".menu summary")
    page.click(".menu >> text=Delete")
    expect(page.locator("main h2")).to_have_text("Delete day")
    viewer.close()


def test_a_viewer_looks_and_operates_nothing(browser: Any, service: LiveService) -> None:
    viewer = Viewer(browser, service.url)
    viewer.log_in("victor", PASSWORD)
    page = viewer.page
    for path in ("/", "/jobs/day", "/jobs/day/hosts", "/jobs/day/settings", "/jobs/day/traps", "/allocation"):
        page.goto(path)
        actions = {form.get_attribute("action") for form in page.locator("form[method=post]").all()}
        assert actions == {"/preferences", "/logout"}, path
    page.click("text=中文")
    expect(page.locator(".top")).to_contain_text("任务")
    viewer.close()
