"""The forms of the console over a made-up daemon: what they ask of it, and what they say when it refuses."""

import asyncio
import re
from typing import Any

import httpx
import pytest
from api_client import client_of
from console_stage import StageDaemon, stage, visitor
from fastapi import FastAPI

from gossamer.daemon.jobs.schedule import Schedule
from gossamer.inspect.clusters.cluster_questions import Drain, Scale, Stop
from gossamer.web.console.jobs.acts import MOST_KEPT
from gossamer.web.console.jobs.new_job import read_new_job


class Sender:
    """Sends forms into one application."""

    def __init__(self) -> None:
        self.daemon = StageDaemon()
        self._app: FastAPI = stage(self.daemon, visitor())

    def send(self, path: str, **fields: str) -> httpx.Response:
        """The answer to a form; names of fields may have `__` for what no argument can have."""
        form = {name.replace("__", ":").replace("_DOT_", "."): value for name, value in fields.items()}
        return self.post(path, form)

    def post(self, path: str, form: dict[str, str]) -> httpx.Response:
        """The same with any names."""

        async def go() -> httpx.Response:
            async with client_of(self._app) as client:
                return await client.post(path, data={"csrf": "made-up-token", **form})

        return asyncio.run(go())

    def last(self, method: str) -> tuple[str, str, Any, str]:
        """What the daemon was asked for last with this method."""
        return [asked for asked in self.daemon.asked if asked[1] == method][-1]


@pytest.fixture
def sender() -> Sender:
    return Sender()


@pytest.mark.parametrize("act", ["start", "pause", "unpause", "stop", "checkpoint", "withdraw"])
def test_an_act_is_done_in_the_name_of_who_asks(sender: Sender, act: str) -> None:
    answer = sender.send(f"/jobs/docs/{act}")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/jobs/docs?said={act}"
    assert sender.last(act) == ("docs", act, {}, "alice")


def test_an_act_leads_back_but_never_elsewhere(sender: Sender) -> None:
    assert sender.send("/jobs/docs/pause", back="/").headers["location"] == "/?said=pause"
    for other_agents in ("//evil.test/", "https://evil.test/", "/\\evil.test", "javascript:alert(1)"):
        location = sender.send("/jobs/docs/pause", back=other_agents).headers["location"]
        assert location.startswith(("/?said=", "/jobs/docs")), location


def test_a_job_is_made_of_a_form(sender: Sender) -> None:
    answer = sender.send(
        "/jobs/new",
        way="form",
        name="made",
        seeds="https://a.test/\r\n\r\n b.test ",
        mode="domain",
        exclude="/old/\r\n\\.zip$",
        max_depth="3",
        workers="1,000",
        min_delay="2s",
        toml="[fetch]\nhttp2 = false\n",
        do="create",
    )
    assert answer.headers["location"] == "/jobs/made?said=created"
    assert sender.last("create")[2] == {
        "seeds": ["https://a.test/", "b.test"],
        "scope": {"mode": "domain", "exclude": ["/old/", "\\.zip$"], "max_depth": 3},
        "engine": {"workers": 1000},
        "politeness": {"min_delay": "2s"},
        "fetch": {"http2": False},
    }


def test_mistakes_are_shown_beside_their_fields_with_what_was_typed(sender: Sender) -> None:
    answer = sender.send(
        "/jobs/new", way="form", name="-", workers="many<", seeds="x", toml="= 1", do="start"
    )
    assert answer.status_code == 400
    text = answer.text
    assert 'value="many&lt;"' in text
    assert re.search(r'id="h-workers"><strong class="problem">&#39;many&lt;&#39; is not a whole number', text)
    assert re.search(r'id="h-name"><strong class="problem">a hyphen cannot come first', text)
    assert re.search(r'id="h-toml"><strong class="problem">', text)
    assert "3 things are wrong" in text
    assert not [asked for asked in sender.daemon.asked if asked[1] == "create"]


def test_a_check_creates_nothing(sender: Sender) -> None:
    answer = sender.send("/jobs/new", way="form", name="x", seeds="a.test", do="check")
    assert answer.status_code == 200
    assert "Nothing is wrong with it." in answer.text
    assert "x" not in sender.daemon.views


def test_text_of_a_form_is_never_a_template(sender: Sender) -> None:
    answer = sender.send(
        "/jobs/new", way="form", name="{{ 7 * 7 }}{% raw %}", workers="{{ 7 * 7 }}", do="create"
    )
    assert "{{ 7 * 7 }}" in answer.text
    assert "49" not in re.sub(r"[0-9a-f]{12}", "", answer.text)


@pytest.mark.parametrize("way", ["form", "toml", "adopt", "nonsense"])
def test_an_empty_form_is_read(way: str) -> None:
    assert read_new_job({"way": way}).way in ("form", "toml", "adopt")


def test_only_what_was_changed_is_set(sender: Sender) -> None:
    form = {
        "set:engine.workers": "64",
        "was:engine.workers": "32",
        "set:politeness.min_delay": "1s",
        "was:politeness.min_delay": "1s",
        "set:scope.exclude": "/a/\r\n/b/\r\n",
        "was:scope.exclude": "/a/",
        "set:scope.max_depth": "",
        "was:scope.max_depth": "3",
        "path": "host.docs.example.org.factor",
        "value": "2.5",
        "do": "apply",
    }
    assert sender.post("/jobs/docs/settings", form).headers["location"] == "/jobs/docs/settings?said=changed"
    assert sender.last("set")[2] == {
        "changes": {
            "engine.workers": 64,
            "scope.exclude": ["/a/", "/b/"],
            "scope.max_depth": None,
            "host.docs.example.org.factor": 2.5,
        }
    }


def test_a_form_that_changes_nothing_asks_for_nothing(sender: Sender) -> None:
    form = {"set:engine.workers": " 32 ", "was:engine.workers": "32"}
    assert sender.post("/jobs/docs/settings", form).headers["location"].endswith("said=nothing")
    assert not [asked for asked in sender.daemon.asked if asked[1] == "set"]


def test_a_setting_that_is_refused_is_marked(sender: Sender) -> None:
    form = {"set:engine.workers": "0", "was:engine.workers": "32"}
    answer = sender.post("/jobs/docs/settings", form)
    assert answer.status_code == 400
    assert 'id="h-set:engine.workers"><strong class="problem">must be a whole number' in answer.text
    assert "<li>nothing was changed</li>" in answer.text


def test_a_scope_is_previewed_then_applied_with_the_same_fields(sender: Sender) -> None:
    form = {"set:scope.exclude": "/old/", "was:scope.exclude": "", "set:engine.workers": "9", "do": "preview"}
    answer = sender.post("/jobs/docs/settings", form)
    assert sender.last("preview_scope")[2] == {"changes": {"scope.exclude": ["/old/"]}}
    assert "1,200,000" in answer.text
    assert '<input type="hidden" name="set:scope.exclude" value="/old/">' in answer.text
    form = {"set:engine.workers": "9", "was:engine.workers": "8", "do": "preview"}
    assert "nothing to preview" in sender.post("/jobs/docs/settings", form).text


def test_hosts_are_operated(sender: Sender) -> None:
    answer = sender.send("/jobs/docs/host", name="a b&c", do="rest", seconds="1h30min")
    assert answer.headers["location"] == "/jobs/docs/host?name=a+b%26c&said=host_rest"
    assert sender.last("host_rest")[2] == {"name": "a b&c", "seconds": 5400.0}
    for act in ("park", "revive", "block", "unblock"):
        assert sender.send("/jobs/docs/host", name="a", do=act).status_code == 303
        assert sender.last(f"host_{act}")[2] == {"name": "a"}
    assert sender.send("/jobs/docs/host", name="a", do="rest", seconds="soon").status_code == 400
    assert sender.send("/jobs/docs/host", name="a", do="explode").status_code == 400


def test_nothing_is_deleted_without_its_name(sender: Sender) -> None:
    assert sender.send("/jobs/fresh/delete", confirm="fres").status_code == 400
    assert "fresh" in sender.daemon.views
    assert sender.send("/jobs/fresh/delete", confirm="fresh").headers["location"] == "/?said=deleted"
    assert "fresh" not in sender.daemon.views


def test_small_forms(sender: Sender) -> None:
    sender.send("/jobs/docs/changes", id="2")
    assert sender.last("undo")[2] == {"id": 2}
    assert sender.send("/jobs/docs/changes", id="two").status_code == 400
    sender.send("/jobs/docs/traps", branch="/c/", host="a")
    assert sender.last("traps_release")[2] == {"branch": "/c/", "host": "a"}
    sender.send("/jobs/docs/seeds", urls="a.test\r\n\r\nb.test")
    assert sender.last("seeds")[2] == {"urls": ["a.test", "b.test"]}
    answer = sender.send("/jobs/docs/page", url="https://docs.example.org/")
    assert sender.last("refetch")[2] == {"urls": ["https://docs.example.org/"]}
    assert answer.headers["location"].startswith("/jobs/docs/page?url=")
    assert answer.headers["location"].endswith("said=refetched")
    sender.send("/allocation", connections="300", memory="8GiB")
    assert sender.last("set_limits")[2] == {"connections": 300, "memory": 8 << 30}
    assert sender.send("/allocation", connections="lots").status_code == 400
    sender.send("/jobs/docs/claim", bandwidth="2MiB")
    assert sender.last("set_claim")[2] == {"bandwidth": 2 << 20}
    answer = sender.send("/jobs/docs/claim", connections="999")
    assert 'id="h-connections"><strong class="problem">above the limit' in answer.text
    sender.send("/jobs/docs/schedule", cron="0 3 * * *", quiet="08:00-18:00\r\n", do="set")
    assert sender.last("schedule")[2]["quiet"] == ("08:00-18:00",)
    sender.send("/jobs/docs/schedule", cron="0 3 * * *", how="revisit", hours="6", do="set")
    assert (sender.last("schedule")[2]["how"], sender.last("schedule")[2]["hours"]) == ("revisit", 6)
    sender.send("/jobs/docs/schedule", cron="0 3 * * *", how="never", hours="many", do="set")
    assert (sender.last("schedule")[2]["how"], sender.last("schedule")[2]["hours"]) == ("resume", 0)
    sender.send("/jobs/docs/schedule", do="clear")
    assert sender.last("schedule")[2] is None
    assert sender.send("/jobs/docs/clone", name="news").status_code == 400
    assert sender.send("/jobs/docs/clone", name="copy").headers["location"] == "/jobs/copy?said=cloned"


@pytest.mark.parametrize(
    ("typed", "kept"), [("1" * 5_000, MOST_KEPT), ("0" * 5_000 + "7", 7), ("some", Schedule().keep)]
)
def test_numbers_too_long_for_python_are_numbers_like_others(sender: Sender, typed: str, kept: int) -> None:
    sender.send("/jobs/docs/schedule", cron="0 3 * * *", keep=typed, do="set")
    assert sender.last("schedule")[2]["keep"] == kept


def test_preferences_are_kept_for_a_year_and_only_ours(sender: Sender) -> None:
    answer = sender.send("/preferences", language="zh", theme="dark", keys="off", back="/jobs/docs?x=1")
    assert answer.headers["location"] == "/jobs/docs?x=1"
    cookies = answer.headers.get_list("set-cookie")
    assert len(cookies) == 3
    assert all("HttpOnly" in cookie and "SameSite=strict" in cookie for cookie in cookies)
    assert (
        "set-cookie"
        not in sender.send("/preferences", language="xx", theme="pink", back="//evil.test").headers
    )


@pytest.mark.parametrize(
    ("act", "fields", "order"),
    [
        ("stop", {}, Stop()),
        ("scale", {"agents": " 3 "}, Scale(3)),
        ("drain", {"node": "crawl-2"}, Drain("crawl-2")),
    ],
)
def test_a_cluster_is_ordered_in_the_name_of_who_asks(
    sender: Sender, act: str, fields: dict[str, str], order: Any
) -> None:
    answer = sender.post(f"/clusters/big/{act}", fields)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/clusters/big?said=cluster_{act}"
    assert sender.daemon.clusters.asked == [("big", order, "alice")]


@pytest.mark.parametrize("agents", ["", "0", "-1", "10001", "many", "\u0663", "9" * 5000])
def test_a_number_of_agents_that_makes_no_sense_is_refused(sender: Sender, agents: str) -> None:
    answer = sender.post("/clusters/big/scale", {"agents": agents})
    assert answer.status_code == 400
    assert "whole number from 1 to 10,000" in answer.text
    assert 'href="/clusters/big"' in answer.text
    assert sender.post("/clusters/big/drain", {"node": " "}).status_code == 400
    assert sender.daemon.clusters.asked == []
