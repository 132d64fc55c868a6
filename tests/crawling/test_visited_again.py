"""A crawl that visits again: conditional requests, what is archived of them, kills, the state and archive together."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from hashlib import sha256

import pytest
from patience import PATIENCE
from small_site import Site
from warcio.archiveiterator import ArchiveIterator

import gossamer
from gossamer.archive.verify import RecordSummary, verify_file
from gossamer.control.socket.address import connected
from gossamer.control.socket.protocol import NotRunning
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Family
from gossamer.state.records import REVISIT, RevisitRecord, decode, decode_page

pytestmark = pytest.mark.slow

DAY = 86_400


class Pages:
    """A site whose pages change when they are told to; with validators, if it has such."""

    def __init__(self, names, etag=True):
        self.versions = dict.fromkeys(names, 0)
        self.etag = etag
        self.served = []  # (name, version, status)
        self.conditional = Counter()
        self.gone = set()
        self.arrived = []
        self.lock = threading.Lock()
        self.fields = {}

    def text(self, name, version):
        links = "".join(f"<a href=/{other}>{other}</a>" for other in self.versions) if not name else ""
        return f"<title>{name}</title><p>Version {version} of {name}</p>{links}"

    def answer(self, host, path, asked):
        self.arrived.append(time.monotonic())
        name = path.removeprefix("/")
        with self.lock:
            if name not in self.versions or name in self.gone:
                self.served.append((name, None, 404))
                return 404, {"Content-Type": "text/html"}, "not here"
            version = self.versions[name]
            etag = f'"{name}-{version}"' if self.etag is True else f'"{self.etag}"'
            fields = {"Content-Type": "text/html; charset=utf-8"}
            if self.etag:
                fields["ETag"] = etag
                given = self.site.headers[-1]["If-None-Match"]
                self.conditional[name] += given is not None
                if given == etag:
                    self.served.append((name, version, 304))
                    return 304, fields, ""
            self.served.append((name, version, 200))
            return 200, fields, self.text(name, version)

    def __enter__(self):
        self.site = Site(self.answer)
        self.site.__enter__()
        return self

    def __exit__(self, *raised):
        self.site.__exit__(*raised)

    def visits(self, name):
        with self.lock:
            return [each for each in self.served if each[0] == name]


def crawl_command(folder, *arguments):
    return [sys.executable, "-m", "gossamer", *arguments]


def environment(speed=DAY, **further):
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GOSSAMER_CLOCK": f"{speed}@{further.pop('origin')}",
        **further,
    }


SETTINGS = ["--set", "engine.guess_sitemap=false", "--set", "engine.checkpoint_every=0", "--quiet"]


def start(pages, folder, *, origin, resume=False, settings=(), die_at=""):
    further = [each for setting in settings for each in ("--set", setting)]
    where = (
        [str(folder)]
        if resume
        else [pages.site.address, "--dir", str(folder), "--set", "politeness.min_delay=0"]
    )
    command = [sys.executable, "-m", "gossamer", "resume" if resume else "crawl", *where, "--revisit"]
    return subprocess.Popen(
        [*command, *SETTINGS, *further],
        env=environment(origin=origin, GOSSAMER_DIE_AT=die_at),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def end(process):
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, told
    return told


def until(condition, process):
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < ends
        time.sleep(0.02)


def captured(folder):
    """(kind, profile, name, payload digest, date referred to) of each main record in archive order."""
    found = []
    for path in sorted((folder / "archive").iterdir()):
        assert all(isinstance(item, RecordSummary) for item in verify_file(path))
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                head = record.rec_headers
                uri = head["WARC-Target-URI"] or ""
                if record.rec_type not in ("response", "revisit") or uri.endswith("robots.txt"):
                    continue
                body = record.content_stream().read()
                found.append(
                    (
                        record.rec_type,
                        (head["WARC-Profile"] or "").rpartition("/")[2],
                        uri.rpartition("/")[2],
                        sha256(body).hexdigest() if record.rec_type == "response" else "",
                        head["WARC-Refers-To-Target-URI"],
                        head["WARC-Refers-To-Date"],
                        head["WARC-Date"],
                    )
                )
    return found


def records(folder):
    with inspect(folder) as inspection:
        found = {}
        for _, data in inspection.environment.scan(Family.PAGES):
            record = decode_page(data)
            if not record.url.endswith("robots.txt"):
                found[record.url.rpartition("/")[2]] = record
        sums = inspection.environment.get(Family.META, REVISIT)
        return found, decode(sums, RevisitRecord) if sums else None


def assert_sound(folder):
    with inspect(folder) as inspection:
        assert check(inspection).problems == []


def test_pages_come_again_and_304s_name_what_they_refer_to(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a", "b"]) as pages:
        process = start(pages, folder, origin=origin, settings=["revisit.visits=20"])
        until(lambda: all(len(pages.visits(name)) >= 3 for name in ("", "a", "b")), process)
        pages.versions["a"] = 1
        seen = len(pages.visits("a"))
        until(lambda: len(pages.visits("a")) >= seen + 2, process)
        end(process)
        assert_sound(folder)
        found = captured(folder)
        at_server = [each for each in pages.served if each[0] in pages.versions]
        assert len(found) == len(at_server), "each visit stands there once"
        responses = {(name, digest) for kind, _, name, digest, *_ in found if kind == "response"}
        assert len([each for each in found if each[0] == "response"]) == 4
        assert ("a", sha256(pages.text("a", 1).encode()).hexdigest()) in responses
        dates = {(kind, uri, date) for kind, _, uri, _, _, _, date in found}
        for kind, profile, name, _, refers, when, _ in found:
            if kind == "revisit":
                assert profile in ("server-not-modified", "identical-payload-digest")
                assert refers.rpartition("/")[2] == name
                assert ("response", name, when) in dates, "what it refers to is no reference itself"
        assert {each[1] for each in found} >= {"server-not-modified"}
        pages_known, sums = records(folder)
        history = unpack(pages_known["a"].history)
        assert history.changed == 1
        assert history.same >= 2
        assert sums.not_modified + sums.same_payload + sums.changed == sums.visits
        assert sums.changed == 1
        assert pages_known["a"].state == "done"
        assert json.loads((folder / "report.json").read_text())["pages"] == 3


@pytest.mark.parametrize("etag", [True, False])
def test_an_old_folder_is_taken_up(tmp_path, etag):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a", "b", "c"], etag=etag) as pages:
        asyncio.run(once(pages, folder))
        _, sums = records(folder)
        assert sums is None
        process = start(pages, folder, origin=origin, resume=True, settings=["revisit.visits=20"])
        until(lambda: all(len(pages.visits(name)) >= 3 for name in pages.versions), process)
        end(process)
        assert_sound(folder)
        known, sums = records(folder)
        assert all(page.history for page in known.values())
        assert sums.visits >= 8
        assert (sums.not_modified > 0) is etag


async def once(pages, folder):
    options = {"folder": folder, "min_delay": 0, "config": {"engine": {"guess_sitemap": False}}}
    assert len([page async for page in gossamer.crawl(pages.site.address, **options)]) == len(pages.versions)


def test_gone_at_the_second_time_and_back(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a"]) as pages:
        process = start(pages, folder, origin=origin, settings=["revisit.visits=20"])
        until(lambda: len(pages.visits("a")) >= 2, process)
        pages.gone.add("a")
        until(lambda: sum(status == 404 for _, _, status in pages.visits("a")) >= 3, process)
        end(process)
        known, sums = records(folder)
        assert known["a"].gone > 0
        assert sums.gone == 1
        assert known["a"].state == "dropped"
        assert_sound(folder)
        pages.gone.clear()
        seen = len(pages.visits("a"))
        process = start(pages, folder, origin=origin, resume=True, settings=['revisit.every."/a"="1h"'])
        until(lambda: len(pages.visits("a")) >= seen + 2, process)
        end(process)
        known, sums = records(folder)
        assert (known["a"].gone, known["a"].state, sums.returned) == (0, "done", 1)
        assert_sound(folder)


@pytest.mark.parametrize("seed", [1, 2])
def test_over_kills_each_version_once_and_each_visit_counted_once(tmp_path, seed):
    folder, origin = tmp_path / "crawl", time.time()
    points = ["appended", "applying", "logged", "committed"]
    with Pages(["", *"abcdef"]) as pages:
        for number in range(6):
            point = points[(number + seed) % 4]
            process = start(
                pages, folder, origin=origin, resume=number > 0, settings=["revisit.visits=200"],
                die_at=f"settlement.{point}:{5 + 3 * number + seed}",
            )  # fmt: skip
            changed = "abcdef"[number]
            time.sleep(0.5)
            pages.versions[changed] += 1
            process.communicate(timeout=PATIENCE)
            assert process.returncode == -signal.SIGKILL
        seen = len(pages.served)
        process = start(pages, folder, origin=origin, resume=True, settings=["revisit.visits=200"])
        until(lambda: len(pages.served) > seen + 7, process)
        until(
            lambda: all(pages.visits(name)[-1][1] == version for name, version in pages.versions.items()),
            process,
        )
        until(lambda: all(len(pages.visits(name)) > 3 for name in pages.versions), process)
        end(process)
        assert_sound(folder)
        found = captured(folder)
        responses = Counter((name, digest) for kind, _, name, digest, *_ in found if kind == "response")
        assert max(responses.values()) == 1, "no version twice"
        for name, version in pages.versions.items():
            assert (name, sha256(pages.text(name, version).encode()).hexdigest()) in responses
        known, _ = records(folder)
        for name in pages.versions:
            assert known[name].visits_made == sum(1 for each in found if each[2] == name)


def test_who_says_304_to_everything_is_found_out(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a"], etag="always") as pages:
        settings = ['revisit.every."/a"="1h"', "revisit.visits=1"]
        process = start(pages, folder, origin=origin, settings=settings)
        until(lambda: len(pages.visits("a")) >= 3, process)
        pages.versions["a"] = 1
        until(lambda: ("a", 1, 200) in pages.visits("a"), process)
        seen = len(pages.visits("a"))
        until(lambda: len(pages.visits("a")) >= seen + 12, process)
        end(process)
        later = pages.visits("a")[seen:]
        assert {status for _, _, status in later} == {200}, "nobody believes it any more"
        assert 304 in {status for _, _, status in pages.visits("a")}
        with inspect(folder) as inspection:
            story = [
                fact.text
                for fact in Storyteller(inspection).tell("/a").facts
                if fact.about == "visited again"
            ]
        assert any("asked without condition" in said for said in story), story
        assert any("wanted every 1 h 00 min" in said for said in story), story
        known, sums = records(folder)
        assert unpack(known["a"].history).changed == 1
        assert sums.same_payload >= 11
        assert_sound(folder)


def test_hosts_rest_between_visits_as_ever(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a", "b"]) as pages:
        process = start(
            pages, folder, origin=origin,
            settings=["revisit.visits=100000", "politeness.min_delay=0.3", 'revisit.every."/a"="1s"'],
        )  # fmt: skip
        until(lambda: len(pages.arrived) > 14, process)
        end(process)
    gaps = [b - a for a, b in zip(pages.arrived, pages.arrived[1:], strict=False)]
    assert min(gaps) >= 0.295, gaps
    assert_sound(folder)


def test_settings_change_while_it_runs(tmp_path):
    folder, origin = tmp_path / "crawl", time.time()
    with Pages(["", "a", "b"]) as pages:
        process = start(pages, folder, origin=origin, settings=["revisit.visits=20"])
        until(lambda: len(pages.visits("a")) >= 2, process)
        set_live(folder, "revisit.enabled=false")
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, "with nothing left it ends by itself"
        seen = len(pages.visits("b"))
        process = start(pages, folder, origin=origin, resume=True, settings=["revisit.visits=0.001"])
        until(lambda: (folder / "crawl.toml").read_text().count("enabled = true"), process)
        until(lambda: hears(folder), process)
        set_live(folder, 'revisit.every."/b"=1h')
        until(lambda: len(pages.visits("b")) >= seen + 3, process)
        end(process)
        assert_sound(folder)


def hears(folder):
    """Whether a crawl can be told something: its settings are written some time before."""
    try:
        with connected(folder) as client:
            client.close()
    except NotRunning:
        return False
    return True


def set_live(folder, setting):
    command = [sys.executable, "-m", "gossamer", "set", str(folder), setting]
    said = subprocess.run(command, env=environment(origin=0.0), capture_output=True, text=True)
    assert said.returncode == 0, said.stderr


def test_without_it_nothing_is_written(tmp_path):
    folder = tmp_path / "crawl"
    with Pages(["", "a"]) as pages:
        asyncio.run(once(pages, folder))
    known, sums = records(folder)
    assert sums is None
    assert all(not page.history for page in known.values())
    with inspect(folder) as inspection:
        assert list(inspection.environment.scan(Family.AGAIN)) == []
