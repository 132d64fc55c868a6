"""Folders above a page (W4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.scope.ascending import MOST_FOLDERS, ascending, folders_above


@pytest.mark.parametrize(
    ("url", "folders"),
    [
        ("/a/b/page.html", ["/a/b/", "/a/", "/"]),
        ("/a/b/page.html?x=/y/", ["/a/b/", "/a/", "/"]),
        ("/a/b/", ["/a/", "/"]),
        ("/a/b/?q=1", ["/a/b/", "/a/", "/"]),
        ("/page", ["/"]),
        ("/?q", ["/"]),
        ("/", []),
        ("/a//b", ["/a//", "/a/", "/"]),
        ("//", ["/"]),
    ],
)
def test_the_example_of_w4_and_its_edges(url, folders):
    start = Url.from_serialised("https://example.org:8443" + url)
    assert [folder.text for folder in folders_above(start)] == [
        "https://example.org:8443" + folder for folder in folders
    ]


@given(st.text(alphabet="ab/?.", max_size=120))
def test_each_is_a_url_a_shorter_prefix_and_there_are_few(tail):
    start = Url.parse("http://h/" + tail)
    before = start.text
    for number, folder in enumerate(folders_above(start)):
        assert folder == Url.parse(folder.text)
        assert before.startswith(folder.text) and len(folder.text) < len(before)
        assert number < MOST_FOLDERS
        before = folder.text
    assert before.endswith("/") or before == start.text
    assert not start.path.strip("/") or before == "http://h/"


def test_a_hostile_path_is_bounded_and_still_reaches_the_root():
    folders = list(folders_above(Url.parse("http://h/" + "a/" * 5_000)))
    assert len(folders) == MOST_FOLDERS
    assert folders[-1].target == "/"


def test_a_folder_is_a_hop_and_a_depth_further_and_says_what_it_was_inferred_from():
    page = Candidate(Url.parse("http://h/a/p"), LinkKind.NAVIGATION, 2, "LL", "http://h/")
    first = next(ascending(page))
    assert (first.kind, first.depth, first.hops, first.via) == (LinkKind.FOLDER, 3, "LLI", "http://h/a/p")


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate(Url.parse("http://h/a/robots.txt"), LinkKind.ROBOTS),
        Candidate(Url.parse("http://h/a/r"), LinkKind.REDIRECT, origin="http://h"),
        Candidate(Url.parse("http://h/a/x.png"), LinkKind.REQUISITE, 1, "E"),
        Candidate(Url.parse("http://h/a/x.png"), LinkKind.REDIRECT, 1, "ER"),
        Candidate(Url.parse("http://h/a/b/"), LinkKind.FOLDER, 1, "I"),
    ],
)
def test_nothing_is_above_what_is_no_page(candidate):
    assert list(ascending(candidate)) == []
