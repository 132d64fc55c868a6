"""The world is a function of seed and URL, and its HTML says what its data says."""

import subprocess
import sys
from dataclasses import replace

import ada_url
import html5lib
import pytest
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.simweb import WorldSpec
from gossamer.simweb.cases import CASES
from gossamer.simweb.world.atlas import Atlas, relative
from gossamer.simweb.world.prose import charset as charset_of
from gossamer.simweb.world.resource import Link, Place, Resource
from gossamer.simweb.world.world import MISSING, STRANGER, World

RICH = WorldSpec.friendly(
    pages=120, broken=0.5, copies=0.3, leaves=0.3, redirects=0.3, nofollow=0.3, missing=0.3
)
REFRESH = "30; url="
NOT_PARSED = {
    # html5lib takes minutes
    "nested-tags", "nested-inline", "nested-tables", "many-attributes", "many-links", "end-tag-flood",
    # whether to read these as HTML is the reader's choice
    "odd-types",
    # ada-url knows no other encoding of queries than UTF-8
    "query-charset",
}  # fmt: skip


def pages(world: World, count: int = 60) -> list[tuple[Place, Resource]]:
    places = [
        world.atlas.page(host, number)
        for host in range(world.spec.hosts)
        for number in range(min(world.atlas.pages(host), 12))
    ]
    return [(place, world.find(*place)) for place in places[:count]]


def in_head_and_body(root: object, base: str) -> list[tuple[str, str]]:
    """(element, absolute URL) of every link in a document, as a browser sees them.

    Browsers open an anchor that was never closed again in every block that follows, so mentions are
    compared as sets.
    """
    found = []
    based = False
    for node in root.iter():  # type: ignore[attr-defined]
        tag = node.tag if isinstance(node.tag, str) else ""
        if tag == "base" and "href" in node.attrib and not based:
            base, based = ada_url.join_url(base, node.attrib["href"]), True
        href = {
            "a": "href", "area": "href", "img": "src", "script": "src", "iframe": "src", "frame": "src",
            "form": "action", "link": "href",
        }.get(tag)  # fmt: skip
        if href in node.attrib:
            found.append((node.attrib.get("rel", "?") if tag == "link" else tag, node.attrib[href]))
        elif tag == "meta" and node.attrib.get("http-equiv") == "refresh":
            found.append(("refresh", node.attrib["content"].removeprefix(REFRESH)))
        elif tag == "style":
            found.append(("style", node.text.partition("url(")[2].partition(")")[0]))
    absolute = []
    for element, written in found:
        try:
            absolute.append((element, ada_url.join_url(base, written).partition("#")[0]))
        except ValueError:
            continue
    return [(element, url) for element, url in absolute if url.startswith("http://")]


def as_seen(world: World, place: Place, resource: Resource, body: bytes) -> set[tuple[str, str]]:
    label = resource.content_type.rpartition("charset=")[2] if "charset=" in resource.content_type else None
    root = html5lib.parse(
        body, transport_encoding=label, useChardet=False, namespaceHTMLElements=False, likely_encoding=None
    )
    return set(in_head_and_body(root, world.atlas.url(place)))


def as_told(world: World, links: tuple[Link, ...]) -> set[tuple[str, str]]:
    return {(link.element, world.atlas.url(link.to)) for link in links}


def test_equal_specs_make_equal_bytes() -> None:
    one, two = World(RICH, 8080), World(WorldSpec.from_json(RICH.to_json()), 8080)
    assert [r.body() for _, r in pages(one)] == [r.body() for _, r in pages(two)]
    other = World(replace(RICH, seed=2), 8080)
    assert [r.body() for _, r in pages(one)] != [r.body() for _, r in pages(other)]


def test_bytes_do_not_depend_on_the_process() -> None:
    program = (
        "import hashlib; from gossamer.simweb.world.world import World;"
        " from gossamer.simweb.world.spec import WorldSpec;"
        "w = World(WorldSpec.friendly(pages=40), 8080); h = hashlib.sha256();"
        "[h.update(w.find(*w.atlas.page(i, 0)).body()) for i in range(20)]; print(h.hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_the_port_stands_in_absolute_links_and_nowhere_else() -> None:
    for (_, one), (_, two) in zip(pages(World(RICH, 8080)), pages(World(RICH, 9090)), strict=True):
        assert one.body().replace(b":8080", b":9090") == two.body() or b"8\x000\x008" in one.body()
        assert [link.to for link in one.links] == [link.to for link in two.links]


def test_generated_html_says_exactly_the_links_of_the_data() -> None:
    world = World(replace(RICH, charsets=(*RICH.charsets, "iso-2022-jp/meta", "utf-16be/bom")), 8080)
    for place, resource in pages(world, 150):
        seen = as_seen(world, place, resource, resource.body())
        assert seen == as_told(world, resource.links), place


@every("name", sorted(set(CASES) - NOT_PARSED))
def test_html_of_every_case_says_exactly_the_links_of_the_data(name: str) -> None:
    world = World(WorldSpec.hostile(name, nested_bytes=2_000), 8080)
    host = f"{name}.sim.test"
    for target, resource in world._scene(host).resources.items():
        if "html" in resource.content_type and resource.status == 200 and resource.speak is None:
            body = resource.body()
            if body.startswith(b"\x89PNG") or resource.groups or target == "/robots.txt":
                continue
            seen = as_seen(world, Place(host, target), resource, body)
            assert seen == as_told(world, resource.links), target


def test_every_link_of_an_ordinary_world_leads_somewhere_known() -> None:
    world = World(replace(RICH, missing=0.0), 8080)
    for place, resource in pages(world, 200):
        for link in resource.links:
            found = world.find(*link.to)
            assert found is not MISSING and found is not STRANGER, (place, link)


def test_pages_are_as_large_as_asked_for() -> None:
    spec = WorldSpec.plain(pages=400, hosts=4, page_bytes=30_000)
    world = World(spec, 8080)
    sizes = [len(world.find(*world.atlas.page(n % 4, n // 4)).body()) for n in range(400)]
    links = [len(world.find(*world.atlas.page(n % 4, n // 4)).links) for n in range(400)]
    assert 27_000 < sum(sizes) / 400 < 33_000
    assert 25 < sum(links) / 400 < 35


def test_sizes_of_hosts_add_up_and_follow_the_power_law() -> None:
    atlas = Atlas(WorldSpec(hosts=100, pages=10_000, exponent=1.0), 80)
    sizes = [atlas.pages(index) for index in range(100)]
    assert sum(sizes) == 10_000
    assert sizes == sorted(sizes, reverse=True)
    assert 1.8 < sizes[0] / sizes[1] < 2.3


def test_a_wide_world_costs_nothing_until_asked() -> None:
    world = World(WorldSpec.wide(200_000), 8080)
    assert world.find("h199999.sim.test", "/").status == 200
    assert world.find("h200000.sim.test", "/") is STRANGER
    assert world.naming("h200000.sim.test") is None


def test_copies_have_equal_bytes_and_different_links() -> None:
    world = World(RICH, 8080)
    one, two = (world.find("h0.sim.test", f"/copy/1/{side}/") for side in "ab")
    assert one.body() == two.body()
    assert {link.to for link in one.links}.isdisjoint(link.to for link in two.links)


@pytest.mark.parametrize("text", ["{}x", "[]", '{"hosts": 0}', '{"nonsense": 1}', '{"robots": ["odd"]}'])
def test_impossible_worlds_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        WorldSpec.from_json(text)


def test_unknown_misbehaviours_are_refused() -> None:
    with pytest.raises(ValueError, match="no such misbehaviour: odd"):
        World(WorldSpec.hostile("odd"))


@pytest.mark.parametrize(
    "charset", ["gb2312", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "koi8-r"]
)
def test_charset_pages_decode_to_their_title(charset: str) -> None:
    world = World(WorldSpec.hostile("charsets"), 8080)
    resource = world.find("charsets.sim.test", f"/{charset}-none.html")
    assert f"<title>{resource.title}</title>" in resource.body().decode(charset_of(charset).codec)
    assert not resource.title.isascii()


SEGMENTS = st.lists(st.sampled_from(["a", "b", "s1", "p.html"]), max_size=4)


@given(SEGMENTS, SEGMENTS, st.booleans())
@settings(deadline=None)
def test_relative_links_resolve_back(here: list[str], to: list[str], folder: bool) -> None:
    base, target = "/" + "/".join(here), "/" + "/".join(to) + ("/" if folder and to else "")
    assert ada_url.join_url(f"http://h.test{base}", relative(base, target)) == f"http://h.test{target}"
