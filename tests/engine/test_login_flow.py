"""Log-ins in a crawl: nothing of guests is kept, nobody logs out, secrets are in no file; what goes wrong is told."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from members_site import NAME, PASSWORD, MembersSite, path_of
from test_robots_flow import crawl, state_of
from warcio.archiveiterator import ArchiveIterator

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.model.errors import ConfigError


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    monkeypatch.setenv("SITE_NAME", NAME)
    monkeypatch.setenv("SITE_WORD", PASSWORD)


def recipe(address, **changes):
    fields = {"user": "env:SITE_NAME", "word": "env:SITE_WORD"}
    return {"page": f"{address}login?next=/p/1", "fields": fields, "logged_in": "a.out"} | changes


def archived(folder):
    """(path, status, body) of all responses, without robots files; all bytes of the folder, unpacked."""
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    found = []
    for archive in sorted(folder.rglob("*.warc.gz")):
        with archive.open("rb") as stream:
            for record in ArchiveIterator(stream):
                body = record.content_stream().read()
                held += str(record.http_headers).encode() + body
                path = path_of(record.rec_headers.get_header("WARC-Target-URI") or "")
                if record.rec_type == "response" and path not in ("/robots.txt", "/sitemap.xml"):
                    found.append((path, record.http_headers.get_statuscode(), body))
    return found, held


@pytest.mark.parametrize(
    ("site", "changes"),
    [
        (MembersSite(7, lasts=3), {}),
        (MembersSite(5, lasts=3, redirects=False), {}),
        (MembersSite(5, lasts=3, redirects=False), {"logged_in": "", "logged_out": "text:for guests"}),
        (MembersSite(5, lasts=4, steps=2), {"logged_in": "text:Log out"}),
    ],
)
def test_what_guests_get_is_not_kept_and_nobody_logs_out(tmp_path, site, changes):
    with site.serving() as address:
        ended = crawl(tmp_path / "c", [address], login={"127.0.0.1": recipe(address, **changes)})
    assert str(ended) == "finished"
    found, held = archived(tmp_path / "c")
    assert sorted(path for path, *_ in found) == sorted({*site.members_pages, "/manual.pdf"})
    assert all(b"secret page" in body or b"of members" in body for _, _, body in found)
    assert site.log_ins > 1 and site.log_outs == 0
    assert PASSWORD.encode() not in held and NAME.encode() not in held
    assert b"Cookie: [redacted]" in held
    assert "logout" in "".join(fact.text for fact in state_of(tmp_path / "c", f"{address}logout").facts)
    assert "log-in page" in "".join(fact.text for fact in state_of(tmp_path / "c", f"{address}login").facts)


ONE = "<form method=post action=/login><input name=user><input type=password name=word></form>"
WRONG = [  # the form, what differs in the recipe, what is told
    ("welcome", {}, "has no form to log in"),
    (ONE + ONE, {}, 'has 2 forms that may be it. Say which: form = "1", "2"'),
    (ONE, {"form": "x"}, "has no form 'x'. It has: \"1\""),
    ("<form method=post>" + "<input name=a>" * 501, {}, "a form with more than 500 fields"),
    (ONE.replace("name=user", "name=mail"), {}, "has no field 'user'. It has: mail, word"),
    (ONE.replace("name=word", "name=pin"), {}, "asks for 'pin', which fields does not have"),
    (ONE.replace("method=post ", ""), {}, "would write the password into an address"),
    (
        ONE.replace("action=/", "action=http://127.0.0.2/"),
        {},
        'leads to http://127.0.0.2, another origin than that of page. If you trust it: origins = ["http://127.0.0.2"]',
    ),
    ("%PDF-1.4", {}, "but application/pdf"),
    (ONE.replace("/login", "/login/name"), {}, "/login/name, asked for a log-in, answered 403"),
    (ONE, {}, "forbids it (Disallow: /form/10)"),
    (ONE, {"elsewhere": True}, "the robots file of http://localhost"),  # which no link leads to
]


def test_places_whose_log_in_cannot_work_are_set_aside_and_the_rest_goes_on(tmp_path):
    site = MembersSite(2, redirects=False)
    site.robots = "User-agent: *\nDisallow: /form/10\nDisallow: /form/11"
    site.forms = {f"/form/{number}": form for number, (form, *_) in enumerate(WRONG)}
    with site.serving() as address:
        host = address.removeprefix("http://")
        login = {
            f"{host}m/{number}": recipe(
                address,
                page=f"{address.replace('127.0.0.1', 'localhost') if 'elsewhere' in changes else address}form/{number}",
                **{name: value for name, value in changes.items() if name != "elsewhere"},
            )
            for number, (_, changes, _) in enumerate(WRONG)
        }
        seeds = [address, *(f"{address}m/{number}" for number in range(len(WRONG)))]
        crawl(tmp_path / "c", seeds, login=login)
        told = [
            "".join(fact.text for fact in state_of(tmp_path / "c", f"{address}m/{number}").facts)
            for number in range(len(WRONG))
        ]
    for (_, _, said), why in zip(WRONG, told, strict=True):
        assert said in why
    assert {path for path, *_ in archived(tmp_path / "c")[0]} == {
        "/",
        "/manual.pdf",
        "/logout",
        "/login",
    }  # as a guest
    assert site.asked.pop("/robots.txt") == 2 and max(site.asked.values()) == 1 and not site.as_member
    assert not {"/form/10", "/form/11"} & set(site.asked)


def test_a_wrong_password_loses_nothing(tmp_path, monkeypatch):
    site = MembersSite(3)
    monkeypatch.setenv("SITE_WORD", "wrong")
    with site.serving() as address:
        login = {"127.0.0.1": recipe(address)}
        crawl(tmp_path / "c", [address], login=login)
        told = "".join(fact.text for fact in state_of(tmp_path / "c", address).facts)
        assert "did not let us in" in told and "parked" in told
        assert site.asked["POST /login"] == 1
        monkeypatch.setenv("SITE_WORD", PASSWORD)
        crawl(tmp_path / "c", [], again=True)
    assert {path for path, *_ in archived(tmp_path / "c")[0]} == {*site.members_pages, "/manual.pdf"}


def test_a_session_that_is_over_at_once_ends_the_trying(tmp_path):
    site = MembersSite(3, lasts=1)
    with site.serving() as address:
        crawl(tmp_path / "c", [address], login={"127.0.0.1": recipe(address, attempts=2)})
        told = "".join(fact.text for fact in state_of(tmp_path / "c", address).facts)
    assert "worked 2 times in a row" in told
    assert site.log_ins == 2 and archived(tmp_path / "c")[0] == []


def test_a_host_that_fails_while_one_logs_in_waits_and_loses_nothing(tmp_path):
    site = MembersSite(2)
    site.failing = 2
    with site.serving() as address:
        ended = crawl(
            tmp_path / "c",
            [address],
            login={"127.0.0.1": recipe(address)},
            retry={"host_first": 0.01, "not_found_first": 0.01},
        )
    assert str(ended) == "finished"
    assert {path for path, *_ in archived(tmp_path / "c")[0]} == {*site.members_pages, "/manual.pdf"}


def test_members_pages_without_the_mark_are_kept_while_the_session_stands(tmp_path):
    site = MembersSite(3)
    site.plain = {"/p/2"}
    with site.serving() as address:
        crawl(tmp_path / "c", [address], login={"127.0.0.1": recipe(address)})
    assert {path for path, *_ in archived(tmp_path / "c")[0]} == {*site.members_pages, "/manual.pdf"}
    assert site.log_ins == 1 and site.asked["/home"] == 2


@pytest.mark.parametrize(
    ("place", "changes", "said"),
    [
        ("a.org", {"page": "a.org/login"}, "login.\"a.org\".page: 'a.org/login' is no http or https URL"),
        ("a.org", {"logged_in": ""}, "say what tells that one is in"),
        ("a.org", {"logged_in": "..a"}, "no selector of CSS"),
        ("a.org", {"never": ["("]}, "is not a regular expression"),
        ("type:image/*", {}, "names no host"),
        ("a.org time:22:00-06:00", {}, "or more than host, path"),
        ("a.org/ b.org/", {}, "a.org/ b.org/"),
        ("a.org", {"attempts": 0}, "attempts"),
        ("a.org", {"pages": "x"}, "pages"),
    ],
)
def test_recipes_that_cannot_be_are_told_in_one_sentence(place, changes, said):
    with pytest.raises(ConfigError) as raised:
        load(CrawlConfig, {"seeds": ["a.org"], "login": {place: recipe("https://a.org/", **changes)}})
    assert said in str(raised.value) and len(str(raised.value).splitlines()) == 1


def test_places_with_a_log_in_keep_cookies_and_no_others():
    places = {"a.org": {"politeness": {"min_delay": "5s"}}}
    config = load(
        CrawlConfig,
        {"seeds": ["a.org"], "place": places, "login": {"a.org": recipe("https://a.org/")}},
    )
    local = config.local
    assert local.fetch.values("cookies") == [None, True] and local.politeness.values("min_delay") == [
        1.0,
        5.0,
    ]
    assert not load(CrawlConfig, {"seeds": ["a.org"]}).local.fetch.differs


def killed_twenty_times(folder, seed, recipe_text):
    """What the commands said of a crawl that died twenty times and was taken up as often."""
    own = folder.with_name("own.toml")
    own.write_text(f"[fetch]\nallow_private = true\n[politeness]\nmin_delay = 0\n{recipe_text}")
    points = ["settlement.appended", "settlement.applying", "settlement.committed", "settlement.logged"]
    said, words = "", ("crawl", seed, "--config", own, "--dir", folder)
    for number in range(21):
        die_at = f"{points[number % 4]}:{1 + number % 3}" if number < 20 else ""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GOSSAMER_DIE_AT": die_at}
        command = [sys.executable, "-m", "gossamer", *map(str, words)]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert ended.returncode == (-signal.SIGKILL if die_at else 0), ended.stderr
        said += ended.stdout + ended.stderr
        words = ("resume", folder)
    return said


@pytest.mark.slow
def test_a_session_survives_twenty_kills_and_its_secrets_are_in_no_file(tmp_path):
    site = MembersSite(60, lasts=7)
    with site.serving() as address:
        said = killed_twenty_times(
            tmp_path / "c",
            address,
            f'[login."127.0.0.1"]\npage = "{address}login"\nlogged_in = "a.out"\n'
            'fields = { user = "env:SITE_NAME", word = "env:SITE_WORD" }\n',
        )
    found, held = archived(tmp_path / "c")
    assert sorted(path for path, *_ in found) == sorted({*site.members_pages, "/manual.pdf"})
    assert all(b"for guests" not in body for _, _, body in found)
    assert PASSWORD.encode() not in held and PASSWORD not in said and site.log_outs == 0


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("django") is None, reason="needs Django: pip install django")
def test_django_lets_us_in_over_twenty_kills(tmp_path):
    server = [sys.executable, Path(__file__).parents[1] / "support" / "django_members.py", tmp_path]
    with subprocess.Popen(
        [*map(str, server), "0", "7", "60"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as django:
        try:
            assert django.stdin is not None and django.stdout is not None
            django.stdin.write(f"{NAME}\n{PASSWORD}\n")
            django.stdin.flush()
            address = f"http://127.0.0.1:{django.stdout.readline().strip()}/"
            said = killed_twenty_times(
                tmp_path / "c",
                f"{address}members/",
                f'[login."127.0.0.1"]\npage = "{address}admin/login/?next=/members/"\n'
                'logged_in = "text:Log out"\n'
                'fields = { username = "env:SITE_NAME", password = "env:SITE_WORD" }\n',
            )
        finally:
            django.kill()
    found, held = archived(tmp_path / "c")
    paths = sorted(path for path, *_ in found)
    assert paths == sorted(["/members/", *(f"/members/{number}/" for number in range(1, 61))])
    assert all(b"of members" in body for _, _, body in found)
    assert PASSWORD.encode() not in held and PASSWORD not in said
