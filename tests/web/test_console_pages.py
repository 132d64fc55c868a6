"""Every page of the console over made-up figures: whole, in both languages, safe whatever is crawled."""

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser

import httpx
import msgspec
import pytest
from api_client import client_of
from console_stage import StageDaemon, cluster_figures, stage, visitor
from fastapi import FastAPI

from gossamer.control.views.host_views import HostBudget, HostPoliteness
from gossamer.search.query.parser import LENGTH
from gossamer.web.security.visitor import Role
from gossamer.words.catalogue import words

PAGES = [
    "/",
    "/jobs/new",
    "/jobs/new?way=toml",
    "/jobs/new?way=adopt",
    "/allocation",
    "/audit",
    "/help",
    "/jobs/docs",
    "/jobs/news",
    "/jobs/wiki-mirror",
    "/jobs/fresh",
    "/jobs/fresh/hosts",
    "/jobs/docs/hosts?state=resting&sort=pages&text=a",
    "/jobs/docs/host?name=docs.example.org",
    "/jobs/docs/queue?depth=2",
    "/jobs/docs/pages?status=200",
    "/jobs/docs/log?kind=navigation",
    "/jobs/docs/codes",
    "/jobs/docs/names?host=docs.example.org",
    "/jobs/docs/names?under=example.org",
    "/jobs/docs/traps",
    "/jobs/docs/freshness",
    "/jobs/docs/gone",
    "/jobs/docs/gone?what=orphans",
    "/jobs/docs/why",
    "/jobs/docs/why?url=https://docs.example.org/",
    "/jobs/docs/page?url=https://docs.example.org/",
    "/jobs/docs/compare?url=https://docs.example.org/&all=1",
    "/jobs/docs/captures?url=https://docs.example.org/&during=2026-11-21",
    "/jobs/docs/audit?verdict=broken&rule=link-broken",
    "/jobs/fresh/audit",
    "/jobs/docs/differences",
    "/jobs/docs/differences?other=news&kind=moved",
    "/jobs/docs/differences?other=news&text=1",
    "/jobs/fresh/differences",
    "/jobs/docs/sql",
    "/search",
    "/search?q=guide&page=2",
    "/search?q=nothing",
    "/search?q=a&year=2026&site=docs.example.org&type=pdf&language=zh",
    "/search/like?url=https://docs.example.org/",
    "/jobs/docs/search",
    "/jobs/docs/search?q=guide",
    "/jobs/fresh/search",
    "/jobs/docs/search/like?url=https://docs.example.org/",
    "/jobs/docs/forecast",
    "/jobs/docs/settings",
    "/jobs/docs/changes",
    "/jobs/docs/seeds",
    "/jobs/docs/delete",
    "/jobs/docs/clone",
    "/jobs/docs/schedule",
    "/jobs/docs/claim",
    "/clusters",
    "/clusters/big",
    "/clusters/big/search?q=guide",
    "/clusters/big/search/like?url=https://docs.example.org/",
    "/clusters/big/page?url=https://docs.example.org/",
    "/clusters/dead",
    "/clusters/late",
    "/clusters/new",
    "/clusters/done",
    "/clusters/big/stop",
]
LIVE = [
    "/",
    "/allocation",
    "/jobs/docs",
    "/jobs/docs/hosts",
    "/jobs/docs/log",
    "/jobs/docs/codes",
    "/jobs/docs/freshness",
    "/jobs/docs/audit",
    "/jobs/docs/differences",
]
LIVE += ["/clusters", "/clusters/big", "/clusters/new"]
VOID = {"meta", "link", "input", "br", "img", "hr"}
SELF_CLOSED = {"path", "rect", "line", "polyline", "polygon", "circle"}


class Markup(HTMLParser):
    """Reads a page; complains of what is not closed, and remembers what a strict policy forbids."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.forbidden: list[str] = []
        self.labels: set[str] = set()
        self.fields: list[dict[str, str | None]] = []
        self.forms: list[dict[str, str | None]] = []
        self.csrf = 0
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.ids.append(given["id"] or "")
        self.forbidden += [f"{tag} {name}" for name in given if name.startswith("on") or name == "style"]
        if tag in ("style", "iframe", "object", "embed", "base") or (tag == "script" and "src" not in given):
            self.forbidden.append(tag)
        for name in ("href", "src", "action"):
            address = given.get(name)
            if address and not address.startswith(("/", "#", "?")):
                self.forbidden.append(f"{tag} {name}={address}")
        if tag == "label" and given.get("for"):
            self.labels.add(given["for"] or "")
        if tag in ("input", "select", "textarea") and given.get("type") != "hidden":
            self.fields.append(given)
        if tag == "form":
            self.forms.append(given)
        if tag == "input" and given.get("name") == "csrf":
            self.csrf += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    return request.param


@cache
def application(hostile: bool, role: Role) -> FastAPI:
    return stage(StageDaemon(hostile), visitor(role))


async def read(app: FastAPI, path: str, headers: dict[str, str]) -> httpx.Response:
    async with client_of(app) as client:
        return await client.get(path, headers=headers)


def get(path: str, *, role: Role = Role.OPERATOR, hostile: bool = False, **headers: str) -> httpx.Response:
    return asyncio.run(read(application(hostile, role), path, headers))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_keeps_the_policy(path: str, language: str) -> None:
    answer = get(path, **{"Accept-Language": language})
    assert answer.status_code == 200
    page = Markup(answer.text)
    assert page.forbidden == []
    assert len(page.ids) == len(set(page.ids)), "an id stands twice"
    assert [field for field in page.fields if field.get("id") not in page.labels] == []
    posts = [form for form in page.forms if form.get("method") == "post"]
    assert page.csrf == len(posts) >= 2
    assert f'<html lang="{ {"en": "en", "zh": "zh-Hans"}[language] }"' in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_what_crawled_pages_say_is_never_markup(path: str) -> None:
    answer = get(path, hostile=True)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "<img" not in answer.text
    shown = re.sub(r'type="hidden" name="\w+" value="[^"]*"', "", answer.text)  # what goes back as it came
    assert "\u202e" not in shown
    assert "\x07" not in shown
    assert Markup(answer.text).forbidden == []


def test_the_hostile_title_is_shown_in_full() -> None:
    text = get("/jobs/docs/pages", hostile=True).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\\u202egnp" in text


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/help"])
def test_a_viewer_sees_nothing_to_operate(path: str) -> None:
    page = Markup(get(path, role=Role.VIEWER).text)
    if path.startswith("/jobs/new") or path.rpartition("/")[2] in ("delete", "clone", "schedule", "claim"):
        return  # nothing leads there, and the gate refuses what they would send
    targets = {form.get("action") for form in page.forms if form.get("method") == "post"}
    assert targets - {None} == {"/preferences", "/logout"}
    assert (None in targets) == path.endswith("/sql"), "a question changes nothing"


@pytest.mark.parametrize("path", LIVE)
def test_the_part_that_lives_is_a_part_of_the_page(path: str) -> None:
    part = get(path + "?part=live").text
    assert "<html" not in part
    assert part.strip()
    Markup(part)


@pytest.mark.parametrize("path", ["/jobs/docs", "/jobs/docs/hosts", "/jobs/docs/codes"])
def test_the_head_of_a_job_lives_with_the_rest(path: str) -> None:
    part = get(path + "?part=live").text
    assert part.count('id="job-head"') == 1
    assert get(path).text.count('id="job-head"') == 1
    assert part.index('id="job-head"') > part.index("<dl" if path == "/jobs/docs" else "<"), "behind the rest"


@pytest.mark.parametrize("job", ["docs", "fresh"])
def test_the_head_alone_can_be_asked_for(job: str) -> None:
    head = get(f"/jobs/{job}?part=head").text
    Markup(head)
    assert head.startswith('<div class="job-head" id="job-head"')
    assert f'data-from="/jobs/{job}"' in head
    assert len(head) < 6_000
    assert ("pages" in head) == (job == "docs"), "as many as are known"


def test_a_cluster_shows_ring_agents_moves_and_exchange() -> None:
    text = get("/clusters/big").text
    for figure in ("43,355,916", "961 / 1,024", "25 h 00 min", "846/s", "812 MiB", "310,442", "1,444,428"):
        assert figure in text, figure
    for told in ("on their way 51, 5%", "a-1 191, 19%"):
        assert told in re.sub(r"<[^>]+>", " ", text).replace("  ", " ").replace("  ", " "), told
    assert "a-1: 191; a-2: 193" in text, "in words, too"
    assert 'class="state agent-lost"' in text
    assert "being frozen at the source" in text


def test_a_cluster_that_does_not_answer_is_shown_so() -> None:
    text = get("/clusters/dead").text
    assert "The cluster does not answer." in text
    assert "its Ray cluster does not answer" in text
    assert '<svg class="chart ring' not in text
    late = get("/clusters/late").text
    assert "figures as of 20" in late
    assert '<svg class="chart ring' in late
    assert "gossamer cluster resume /srv/gossamer/jobs/done" in get("/clusters/done").text
    assert "/clusters/done/scale" not in get("/clusters/done").text


def test_a_thousand_agents_are_shown_in_pages() -> None:
    daemon = StageDaemon()
    view = daemon.clusters.views["big"]
    many = cluster_figures(count=1000, shards=16_384)
    agents = tuple(msgspec.structs.replace(agent, state="live", shards=16) for agent in many.overview.agents)
    many = msgspec.structs.replace(many, overview=msgspec.structs.replace(many.overview, agents=agents))
    daemon.clusters.views["big"] = msgspec.structs.replace(view, figures=many)
    app = stage(daemon, visitor(Role.OPERATOR))
    text = asyncio.run(read(app, "/clusters/big", {})).text
    assert "100 of 1,000" in text
    assert len(text) < 150_000
    assert "further agents" in text
    second = asyncio.run(read(app, "/clusters/big?cursor=a-100", {})).text
    assert '<th scope="row">a-101</th>' in second
    assert '<th scope="row">a-100</th>' not in second
    last = asyncio.run(read(app, "/clusters/big?cursor=a-900", {})).text
    assert 'rel="next"' not in last


def test_the_whole_page_is_bounded_and_fast_to_send() -> None:
    assert len(get("/jobs/docs/hosts").content) < 100_000


def test_a_cursor_survives_the_way_through_an_address() -> None:
    text = get("/jobs/docs/queue?host=a%26b&said=x").text
    [link] = re.findall(r'rel="next"[^>]*href="([^"]*)"', text)
    assert link == "/jobs/docs/queue?host=a%26b&amp;cursor=next%2Bpage%2F%3D"


def test_what_is_not_there_is_said_so() -> None:
    answer = get("/jobs/nope/hosts")
    assert answer.status_code == 404
    assert "no job" in answer.text
    answer = get("/jobs/docs/why?url=not%20a%20url")
    assert answer.status_code == 404
    assert "not a URL" in answer.text


def test_a_query_may_be_as_long_as_a_search_takes() -> None:
    query = "a" * LENGTH
    page = Markup(get(f"/search?q={query}b").text)
    [box] = [field for field in page.fields if field.get("name") == "q"]
    assert (box["maxlength"], box["value"]) == ("4000", query)


@pytest.mark.parametrize("unset", [True, False])
def test_the_page_of_a_host_tells_by_which_rules_it_is_treated(language: str, unset: bool) -> None:
    """All of them by their names; of those that are 0 or empty the ones that then still say something."""

    class Stage(StageDaemon):
        politeness = (
            HostPoliteness(*[0] * 6, "", ())
            if unset
            else HostPoliteness(11, 12, 13, 14, 15, 16, "example.org", ("cname",))
        )
        budget = HostBudget(0, 0) if unset else HostBudget(17, 18)

    headers = {"Accept-Language": language}
    page = asyncio.run(
        read(stage(Stage(), visitor(Role.OPERATOR)), "/jobs/docs/host?name=docs.example.org", headers)
    ).text
    rules = page.partition('<dl class="pairs">')[2].partition("</dl>")[0]
    told = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", rules)
    t = words(language)
    assert all(t.has(f"field.{name}") for name in RULES)
    rests = [t("host.rests_with"), t("field.robots")]
    named = [t.said("field", name) for name in (("min_delay", "max_delay", "factor") if unset else RULES)]
    assert [name for name, _ in told] == [*named, *rests]
    values = [value for _, value in told][:-2]
    assert values == [t.duration(0), t.duration(0), "0"] if unset else len(set(values)) == len(RULES)


RULES = (*HostPoliteness.__struct_fields__, *HostBudget.__struct_fields__)


def test_a_story_is_told_in_the_readers_language() -> None:
    path = "/jobs/docs/why?url=http%3A%2F%2Fa.test%2F"
    english = get(path, **{"Accept-Language": "en"}).text
    assert "on the seeds&#39; hosts" in english
    assert "queued 21, waiting 0, visits 412, failures in a row 0, rest for politeness 1 s" in english
    chinese = get(path, **{"Accept-Language": "zh"}).text
    [story] = re.findall(r"<article class=\"story\">(.*?)</article>", chinese, re.DOTALL)
    told = re.sub(
        r"<[^>]*>|https?://\S+|docs.example.org|text/html|utf-8|UTC|Guide|Allow: /|no answer", "", story
    )
    assert re.findall("[A-Za-z]{3,}", told) == ["mode", "host", "robots"]
    assert "间歇" in told


def test_with_whom_a_host_rests_is_told_in_the_readers_language() -> None:
    path = "/jobs/docs/host?name=docs.example.org"
    assert "others whose names lead to edge.example.net" in get(path, **{"Accept-Language": "en"}).text
    chinese = get(path, **{"Accept-Language": "zh"}).text
    assert "名字指向 edge.example.net 的其他主机" in chinese
    assert "识别服务器的依据</dt><dd>cname</dd>" in chinese


def test_settings_say_what_they_mean_in_the_readers_language() -> None:
    chinese = get("/jobs/docs/settings", **{"Accept-Language": "zh"}).text
    assert "所有主机上同时进行的访问数" in chinese
    assert "visits at once" not in chinese
    assert "visits at once" in get("/jobs/docs/settings", **{"Accept-Language": "en"}).text


def test_what_is_wrong_is_said_in_the_readers_language() -> None:
    chinese = {"Accept-Language": "zh"}
    for path, said in (
        ("/jobs/docs/why?url=not%20a%20url", "不是已知协议的 URL"),
        ("/jobs/nope", "没有任务"),
    ):
        text = get(path, **chinese).text
        [problems] = re.findall(r'id="problems">(.*?)</div>', text, re.DOTALL)
        assert said in problems
        assert "is" not in problems


def test_levels_of_the_queue_are_told_in_the_readers_language() -> None:
    path = "/jobs/docs/queue"
    assert ">depth 2<" in get(path, **{"Accept-Language": "en"}).text
    chinese = get(path, **{"Accept-Language": "zh"}).text
    assert ">深度 2<" in chinese
    assert "depth 2" not in chinese


def test_two_names_of_one_site_are_told_in_the_readers_language() -> None:
    assert "37 of 37 compared alike" in get("/jobs/docs", **{"Accept-Language": "en"}).text
    assert "比较的 37 个中有 37 个相同" in get("/jobs/docs", **{"Accept-Language": "zh"}).text


def test_a_notice_is_one_of_ours() -> None:
    assert "Started." in get("/jobs/docs?said=start").text
    assert "Hello" not in get("/jobs/docs?said=Hello").text


def test_theme_and_language_are_remembered() -> None:
    text = get("/", Cookie="gossamer-theme=dark; gossamer-language=zh").text
    assert 'lang="zh-Hans" data-theme="dark"' in text
    text = get("/", Cookie="gossamer-theme=evil; gossamer-language=xx; gossamer-keys=off").text
    assert "data-theme" not in text
    assert "data-keys" not in text


def test_static_files_come_from_a_table() -> None:
    text = get("/").text
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', text)
    assert len(files) == 4
    for file in files:
        answer = get(file)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert get("/static/x/..%2f..%2frouter.py").status_code == 404
    assert get("/static/old/console.css").headers["cache-control"] == "no-cache"
    assert get("/favicon.ico").status_code == 200


def test_each_key_leads_to_one_page() -> None:
    keys = re.findall(r'data-key="([^"]+)"', get("/jobs/docs").text)
    assert len(keys) > 20
    assert len({*keys}) == len(keys)


def test_scripts_and_styles_hold_nothing_that_the_policy_forbids() -> None:
    for name in ("console.js", "live.js", "morph.js", "keys.js"):
        text = get(f"/static/v/{name}").text
        assert not re.search(
            r"innerHTML|insertAdjacent|document\.write|eval\(|new Function|https?://(?!www\.w3\.org)", text
        )
    for name in ("console.css", "charts.css"):
        assert not re.search(r"url\(|@import|expression", get(f"/static/v/{name}").text)


@pytest.mark.parametrize(("spoken", "words"), [("en", ("Running", "Paused")), ("zh", ("运行中", "已暂停"))])
def test_a_paused_job_is_counted_as_paused(spoken: str, words: tuple[str, str]) -> None:
    text = get("/", **{"Accept-Language": spoken}).text
    counted = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", text))
    assert [counted[word] for word in words] == ["1", "1"]


def test_an_archive_is_opened_on_this_machine_alone() -> None:
    async def asked(path: str, base: str, address: str) -> httpx.Response:
        async with client_of(application(False, Role.VIEWER), base, client=(address, 40_000)) as client:
            return await client.get(path)

    def view(path: str, base: str = "http://127.0.0.1:8470", address: str = "127.0.0.1") -> httpx.Response:
        return asyncio.run(asked(path, base, address))

    opened = view("/jobs/docs/view?url=http://a.test/?a=1%26b%23c&at=2026")
    assert opened.status_code == 303
    assert opened.headers["location"] == (
        "http://list-abc.localhost:4711/view?url=http%3A%2F%2Fa.test%2F%3Fa%3D1%26b%23c&at=2026"
    )
    assert view("/jobs/docs/view").headers["location"] == "http://list-abc.localhost:4711/"
    for base, address in (("http://console.example", "127.0.0.1"), ("http://localhost:8470", "192.0.2.7")):
        told = view("/jobs/docs/view", base, address)
        assert told.status_code == 409
        assert "from another machine" in told.text
        assert "gossamer view /srv/gossamer/jobs/docs" in told.text
    assert "nothing has been crawled yet" in view("/jobs/fresh/view").text
    page = get("/jobs/docs/page?url=https://docs.example.org/").text
    links = re.findall(r"<a[^>]*/jobs/docs/view[^>]*>", page)
    assert len(links) == 3
    assert all('target="_blank" rel="noopener noreferrer"' in link for link in links)


def test_a_study_is_begun_or_refused_with_its_reason() -> None:
    daemon = StageDaemon()
    app = stage(daemon, visitor(Role.OPERATOR))

    async def sent(path: str, **form: str) -> httpx.Response:
        async with client_of(app) as client:
            return await client.post(path, data=form)

    begun = asyncio.run(sent("/jobs/news/audit", outside="1"))
    assert begun.headers["location"] == "/jobs/news/audit?said=audit_begun"
    refused = asyncio.run(sent("/jobs/docs/audit", outside="1"))
    assert refused.status_code == 400
    assert "stop it first" in refused.text
    begun = asyncio.run(sent("/jobs/docs/differences", other="news"))
    assert begun.headers["location"] == "/jobs/docs/differences?other=news&said=comparison_begun"
    assert [params for _, method, params, _ in daemon.asked if method == "study"][-1]["other"] == "news"
    assert "no job" in asyncio.run(sent("/jobs/docs/differences", other="../x")).text
    for path in (
        "audit?cursor=no-rule:1",
        "audit?rule=none",
        "differences?other=../x",
        "differences?cursor=-1",
    ):
        assert get(f"/jobs/docs/{path}").status_code == 400, path
