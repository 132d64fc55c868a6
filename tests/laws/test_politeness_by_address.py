"""Whole crawls of names that share servers, as the servers see them: how long they are left alone, by whatever name."""

import ssl
from hashlib import sha256
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from one_certificate import OneCertificate
from whole_crawl import Crawled, crawl

from gossamer.control.views.context import view_context
from gossamer.control.views.views import answer_view
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import because
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.simweb.world.world import World

REST = 0.04


def gaps(visits, by) -> list[float]:
    """Seconds from start to start, of visits with the same `by`: a busy server notes an end late, a start never."""
    found = []
    for _, group in groupby(sorted(visits, key=lambda visit: (by(visit), visit.started)), key=by):
        found += [after.started - before.started for before, after in pairwise(group)]
    return found


def crawled(path: Path, spec: WorldSpec, **changes) -> tuple[Crawled, list]:
    """The whole of a simulated web, whose hosts are all seeds."""
    with SimulatedWeb(spec) as web:
        found = crawl(
            web, path / "crawl", politeness__address_delay=REST, engine__give_up_after=2.5, **changes
        )
        assert len(found.settled) == spec.pages
        return found, web.log()


def test_names_on_one_address_are_visited_as_one(tmp_path: Path) -> None:
    found, visits = crawled(tmp_path, WorldSpec(hosts=10, pages=10, seeds=10, page_bytes=500))
    assert len({visit.host for visit in visits}) == 10
    assert min(gaps(visits, lambda visit: visit.address)) >= REST
    assert (found.folder.path / "rests").is_dir()


def test_each_address_rests_by_itself(tmp_path: Path) -> None:
    spec = WorldSpec(hosts=9, pages=9, seeds=9, addresses=3, page_bytes=500)
    _, visits = crawled(tmp_path, spec)
    assert len({visit.address for visit in visits}) == 3
    assert min(gaps(visits, lambda visit: visit.address)) >= REST
    assert min(gaps(visits, lambda visit: "")) < REST, "one does not wait for another"


def tells(found: Crawled, url: str, host: str, code: HoldCode) -> list[str]:
    """Servers of a host, as its view and `why` tell them; they all stand there by that evidence."""
    with view_context(found.folder.path) as look:
        view = answer_view(look, "host", {"name": host})
    assert {told for told, _ in view["servers"]} == {code}
    servers = [values[0] for _, values in view["servers"]]
    with inspect(found.folder.path) as inspection:
        story = Storyteller(inspection).tell(url)
    [text] = [fact.text for fact in story.facts if fact.about == "host"]
    _, _, rest = text.partition("; rests together with ")
    assert rest == "; ".join(str(because(code, server)) for server in servers)
    return servers


@pytest.mark.parametrize(
    ("place", "prefetch"), [(".sim.test", True), (".sim.test", False), ("address:127.0.0.0/16", True)]
)
def test_hosts_that_the_operator_puts_on_one_server_rest_together(tmp_path: Path, place, prefetch) -> None:
    spec = WorldSpec(hosts=6, pages=6, seeds=6, addresses=3, page_bytes=500)
    places = {place: {"politeness": {"server": "the blogs"}}}
    _, visits = crawled(tmp_path, spec, place=places, dns__prefetch=prefetch)
    assert len({visit.address for visit in visits}) == 3
    assert min(gaps(visits, lambda visit: "")) >= REST


def test_names_that_lead_to_one_backend_are_visited_as_one(tmp_path: Path) -> None:
    spec = WorldSpec(hosts=8, pages=8, seeds=8, addresses=5, backends=2, page_bytes=500)
    found, visits = crawled(tmp_path, spec, politeness__server_by=["cname"])
    atlas = World(spec, 80).atlas
    assert len({visit.address for visit in visits}) > 2
    assert min(gaps(visits, lambda visit: atlas.naming(visit.host).aliases)) >= REST
    assert min(gaps(visits, lambda visit: "")) < REST, "one backend does not wait for another"
    url = atlas.url(atlas.page(0, 0))
    told = tells(found, url, "h0.sim.test", HoldCode.SERVER_CNAME)
    assert told == sorted(["h0.sim.test", *atlas.naming("h0.sim.test").aliases])


def test_hosts_that_show_one_certificate_are_visited_as_one(tmp_path: Path) -> None:
    with OneCertificate(tmp_path, hosts=6, pages=1) as web:
        settings = {"politeness__server_by": ["certificate"], "politeness__address_delay": REST}
        found = crawl(web, tmp_path / "crawl", fetch__ca_file=str(web.ca_file), **settings)
        visits = web.log()
    met: set[str] = set()
    known = [visit for visit in visits if visit.host in met or met.add(visit.host)]
    assert len(met) == 6 and len(known) == 2 * 6, "a robots file each, then two pages"
    assert min(gaps(known, lambda visit: "")) >= REST
    assert min(gaps(visits, lambda visit: "")) < REST, "before it is seen nobody knows the certificate"
    assert len(found.settled) == 12
    [told] = tells(found, web.seeds[0], "127.0.0.1", HoldCode.SERVER_CERTIFICATE)
    assert told == f"sha256:{sha256(ssl.PEM_cert_to_DER_cert(web.ca_file.read_text())).hexdigest()}"


def test_who_asks_for_nothing_gets_no_table(tmp_path: Path) -> None:
    with SimulatedWeb(WorldSpec(hosts=1, pages=1)) as web:
        found = crawl(web, tmp_path / "crawl")
    assert not (found.folder.path / "rests").exists()
