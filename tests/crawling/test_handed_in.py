"""Every extension point of `ports.py` can be handed in, from Python and by entry points in the settings."""

import asyncio
import json
import sys
import time
import warnings
import zipfile
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest
from small_site import small_site

import gossamer
from gossamer.assembly import plugins
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.plugins import with_plugins
from gossamer.cli.request import start_problems
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.dns.cache import PlainCache
from gossamer.fetch.body import SpooledBody
from gossamer.fetch.throttle import Flow, Throttle
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.name import Answer
from gossamer.model.outcome import Failed, Fault, Fetched

PAGES = {"": "<a href='/a'>a</a>", "a": "a"}
HTML = Headers([("Content-Type", "text/html")])


class Files:
    """A protocol module for ftp: every page links to the next ones."""

    schemes = frozenset({"ftp"})

    def __init__(self, links=3, size=0, error=None, seconds=0.0):
        self.links, self.size, self.error, self.seconds = links, size, error, seconds
        self.now = self.most = 0
        self.closed = False

    async def fetch(self, lease):
        url = lease.candidate.url
        if url.path == "/robots.txt":
            return Failed(Fault.PROTOCOL, "none") if self.error == "robots" else self._answer(url, 404, b"")
        if isinstance(self.error, Exception):
            raise self.error
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self.seconds)
        self.now -= 1
        hosts = "".join(f"<a href='/{number}'>x</a>" for number in range(self.links))
        return self._answer(url, 200, f"{hosts}{url}".encode() + b"." * self.size)

    def _answer(self, url, status, body):
        return Fetched(Exchange(url, time.time(), b"", status, b"", HTML, SpooledBody(body), protocol="ftp"))

    async def close(self):
        self.closed = True


def crawl(*seeds, config=None, **given):
    config = {**(config or {}), "engine": {"guess_sitemap": False}}

    async def pages():
        return [page.url async for page in gossamer.crawl(*seeds, min_delay=0, config=config, **given)]

    return asyncio.run(pages())


def test_a_protocol_module_and_its_resource_records(tmp_path):
    module, taken = Files(), []

    async def sink(visit):
        taken.append((visit.lease.candidate.url.text, visit.outcome.exchange.body.size))

    folder = tmp_path / "crawl"
    urls = crawl("ftp://127.0.0.1/", folder=folder, protocol_modules=[module], sinks=[sink])
    assert sorted(urls) == [f"ftp://127.0.0.1/{path}" for path in ("", "0", "1", "2")]
    assert module.closed
    assert {url for url, _ in taken} >= set(urls) and all(size for url, size in taken if url in urls)
    with inspect(folder) as inspection:
        result = check(inspection)
    assert result.problems == []
    assert result.captures >= 4


def test_check_still_sees_a_resource_record_that_is_not_as_indexed(tmp_path, monkeypatch):
    folder = tmp_path / "crawl"
    crawl("ftp://127.0.0.1/", folder=folder, protocol_modules=[Files(links=0)])
    monkeypatch.setattr(
        "gossamer.inspect.checks.crawl_check._mark", lambda record: hash((record.target_uri, "another"))
    )
    with inspect(folder) as inspection:
        assert any("disagree" in problem for problem in check(inspection).problems)


def test_a_second_module_has_no_connections_of_its_own(tmp_path):
    module = Files(links=0, seconds=0.02)
    seeds = [f"ftp://127.0.0.{number}/" for number in range(1, 9)]
    config = {"fetch": {"max_connections": 2}}
    assert len(crawl(*seeds, protocol_modules=[module], config=config)) == len(seeds)
    assert module.most == 2


def test_a_second_module_pays_into_the_same_throttle(tmp_path):
    waited = []

    async def begin(self, queue_key):
        waited.append(queue_key)
        return await original(self, queue_key)

    paid, original, received = [], Throttle.begin, Flow.received_whole
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Throttle, "begin", begin)
        patch.setattr(Flow, "received_whole", lambda self, size: (paid.append(size), received(self, size)))
        crawl(
            "ftp://127.0.0.1/",
            protocol_modules=[Files(links=1, size=5_000)],
            config={"fetch": {"max_speed": 1_000_000}},
        )
    assert waited and sum(paid) > 10_000


def test_a_module_takes_the_place_of_ours_for_its_schemes():
    class Web(Files):
        schemes = frozenset({"http"})

    urls = crawl("http://no-such-name.invalid/", protocol_modules=[Web(links=1)])
    assert len(urls) == 2


class Fixed:
    """A resolver that knows one name, and counts."""

    def __init__(self, answer="127.0.0.1", error=None):
        self.answer, self.error, self.asked = answer, error, []

    async def resolve(self, name):
        self.asked.append(name)
        if self.error is not None:
            raise self.error
        return Answer(name, (self.answer,), 60.0)

    async def close(self):
        pass


def test_a_resolver_answers_names():
    resolver = Fixed()
    with small_site(PAGES.get) as site:
        seed = site.replace("127.0.0.1", "somewhere.test")
        assert crawl(seed, resolver=resolver) == [seed, seed + "a"]
    assert set(resolver.asked) == {"somewhere.test"}


def test_a_name_cache_is_asked():
    class Cache(PlainCache):
        def get(self, name, now):
            return Answer(name, ("127.0.0.1",), 60.0) if name == "kept.test" else None

    with small_site(PAGES.get) as site:
        seed = site.replace("127.0.0.1", "kept.test")
        assert crawl(seed, name_cache=Cache(10)) == [seed, seed + "a"]


def test_an_address_rule_forbids_and_cannot_allow():
    with small_site(PAGES.get) as site:
        assert crawl(site, address_rules=[lambda host, address: True]) == [site, site + "a"]
        assert crawl(site, address_rules=[lambda host, address: address != "127.0.0.1"]) == []
        linked = site.replace("127.0.0.1", "inwards.test")
        pages = {"": f"<a href='{linked}'>in</a>"}
        with small_site(pages.get) as other:
            config = {"scope": {"mode": "any"}, "engine": {"give_up_after": 1}}
            rules = [lambda host, address: True]
            assert crawl(other, resolver=Fixed(), address_rules=rules, config=config) == [other]


def test_an_ordering_decides():
    class Last:
        name = "last"

        def level(self, candidate):
            return 100 - int(candidate.url.path.strip("/") or 0)

    pages = {"": "".join(f"<a href='/{number}'>x</a>" for number in range(1, 6))}
    with small_site(lambda path: pages.get(path, path)) as site:
        urls = crawl(site, ordering=Last())
    assert urls == [site, *[f"{site}{number}" for number in (5, 4, 3, 2, 1)]]


@pytest.mark.parametrize(
    ("port", "plugin", "pages"),
    [
        ("sinks", "a function", 2),
        ("address_rules", "a function", 0),
        ("protocol_modules", Files(error=KeyError("x")), 0),
        ("resolver", Fixed(error=KeyError("x")), 0),
        ("name_cache", "a cache", 0),
    ],
)
def test_what_raises_does_not_end_the_crawl(port, plugin, pages):
    class Broken(PlainCache):
        def get(self, name, now):
            raise KeyError("x")

    def broken(*args):
        raise KeyError("x")

    plugin = {"a function": broken, "a cache": Broken(10)}.get(plugin, plugin)
    several = port not in ("resolver", "name_cache")
    with small_site(PAGES.get) as site, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seed = "ftp://127.0.0.1/" if port == "protocol_modules" else site
        if port == "name_cache":
            seed = seed.replace("127.0.0.1", "kept.test")
        options = {port: [plugin] if several else plugin}
        config = {
            "dns": {"nameservers": ["127.0.0.1:1"]},
            "retry": {"url_waits": []},
            "engine": {"give_up_after": 1},
        }
        found = crawl(seed, config=config, **options)
    assert len(found) == pages
    said = [str(warning.message) for warning in caught if warning.category is gossamer.PluginWarning]
    assert len(said) == 1 and "KeyError: 'x'" in said[0], said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sinks": print}, "sinks: give a list"),
        ({"protocol_modules": [Files]}, r"protocol_modules\[0\]: is a class"),
        ({"protocol_modules": [object()]}, "object has no schemes"),
        ({"extractors": [object()]}, "object has no extract"),
        ({"resolver": object()}, "resolver: object has no resolve"),
        ({"name_cache": 1}, "int has no get"),
        ({"ordering": "bfs"}, "ordering: str has no level"),
        ({"address_rules": [Fixed().resolve]}, r"address_rules\[0\]: is asynchronous"),
    ],
)
def test_what_cannot_be_called_is_refused_at_once(options, words):
    with pytest.raises(gossamer.ConfigError, match=words):
        crawl("http://127.0.0.1:9/", **options)


def test_a_scheme_that_no_url_can_have_is_refused():
    class Gopher(Files):
        schemes = frozenset({"gopher"})

    with pytest.raises(gossamer.ConfigError, match="gopher"):
        crawl("http://127.0.0.1:9/", protocol_modules=[Gopher()])


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with a plug-in for each port."""
    code = (
        "from test_handed_in import Files, Fixed\n"
        "from gossamer.dns.cache import PlainCache\n"
        "TAKEN = []\n"
        "def no_a(candidate):\n    return False if candidate.url.path == '/0' else None\n"
        "async def sink(visit):\n    TAKEN.append(visit)\n"
        "class Ears:\n    def __call__(self, event):\n        TAKEN.append(event)\n"
        "def anywhere(host, address):\n    return True\n"
        "def cache():\n    return PlainCache(10)\n"
        "class Later:\n"
        "    def again(self, lease, outcome, page, visits):\n"
        "        TAKEN.append((lease.candidate.url.text, visits))\n"
    )
    (tmp_path / "its_plugins.py").write_text(code)
    info = tmp_path / "its-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: its\nVersion: 1.0\n")
    groups = {
        "scope_rules": "no_a",
        "sinks": "sink",
        "observers": "Ears",
        "address_rules": "anywhere",
        "protocol_modules": "Files",
        "resolvers": "Fixed",
        "name_caches": "cache",
        "revisits": "Later",
    }
    (info / "entry_points.txt").write_text(
        "".join(f"[gossamer.{group}]\nits = its_plugins:{name}\n" for group, name in groups.items())
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return groups


SETTINGS = {
    **{port: ["its"] for port in ("scope_rules", "sinks", "observers", "address_rules", "protocol_modules")},
    "resolver": "its",
    "name_cache": "its",
    "revisits": "its",
}


def test_settings_name_entry_points_for_every_port(package, tmp_path):
    folder = tmp_path / "crawl"
    urls = crawl(
        "ftp://127.0.0.1/", folder=folder, config={"plugins": SETTINGS, "scope": {"schemes": ["ftp"]}}
    )
    assert sorted(urls) == [f"ftp://127.0.0.1/{path}" for path in ("", "1", "2")]
    import its_plugins

    assert len(its_plugins.TAKEN) > 2 * len(urls)
    asked = [each for each in its_plugins.TAKEN if isinstance(each, tuple)]
    assert sorted(asked) == [(url, 1) for url in sorted(urls)]
    text = (folder / "crawl.toml").read_text()
    assert "[plugins]" in text and json.loads((folder / "report.json").read_text())["pages"] == 3


@pytest.mark.parametrize(
    ("place", "group", "found"),
    [
        ("its-1.0.dist-info/entry_points.txt", "gossamer.extractors", True),
        ("its.egg-info/entry_points.txt", "gossamer.extractors", True),
        ("its-1.0.egg/EGG-INFO/entry_points.txt", "gossamer.extractors", True),
        ("its-1.0.dist-info/entry_points.txt", "gossamer.orderings", False),
        ("its-1.0.dist-info/top_level.txt", "gossamer.extractors", False),
        ("its-1.0/entry_points.txt", "gossamer.extractors", False),
    ],
)
def test_whether_a_package_has_plugins_is_seen_as_the_standard_library_sees_it(
    monkeypatch, tmp_path, place, group, found
):
    file = tmp_path / place
    file.parent.mkdir(parents=True)
    file.write_text(f"[console_scripts]\nits = its:main\n\n[{group}]\nits = json:loads\n")
    for name in ("METADATA", "PKG-INFO"):
        (file.parent / name).write_text("Metadata-Version: 2.1\nName: its\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(file.parent.parent))
    assert plugins._may_be_named("gossamer.extractors") is found
    named = entry_points(group="gossamer.extractors")
    assert [point.name for point in named] == (["its"] if found else [])


def test_packages_that_lie_in_no_folder_may_have_plugins_too(monkeypatch, tmp_path):
    assert not plugins._may_be_named("gossamer.extractors")
    packed = tmp_path / "its.zip"
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("its-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: its\nVersion: 1.0\n")
        files.writestr("its-1.0.dist-info/entry_points.txt", "[gossamer.extractors]\nits = json:loads\n")
    with monkeypatch.context() as here:
        here.syspath_prepend(str(packed))
        assert list(plugins._points("gossamer.extractors")) == ["its"]
    with monkeypatch.context() as here:
        here.setattr(sys, "meta_path", [*sys.meta_path, SimpleNamespace(find_distributions=lambda _: ())])
        assert plugins._may_be_named("gossamer.extractors")


def test_a_plugin_that_is_not_there_is_told_before_a_folder_is_made(package):
    config = configured({"plugins": {"sinks": ["its", "other"], "resolver": "none"}})
    problems = start_problems(config, "bfs")
    assert len(problems) == 2
    assert "plugins.sinks: there is no plug-in 'other' in the group gossamer.sinks; there are its" in map(
        str, problems
    )
    assert start_problems(configured({"plugins": SETTINGS}), "bfs") == []


def test_settings_cannot_name_modules():
    with pytest.raises(gossamer.ConfigError, match="there is no plug-in 'os:system'"):
        with_plugins(Extensions(), configured({"plugins": {"sinks": ["os:system"]}}).plugins)


def configured(tree):
    return load(CrawlConfig, {"seeds": ["http://127.0.0.1:9/"], **tree})
