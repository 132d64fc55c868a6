"""What is not there any more, or is linked from nowhere: told apart, with its time."""

import json
import sys

import pytest

from gossamer.cli import main


@pytest.fixture
def say(capsys, monkeypatch):
    """What a command says that ends well."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gossamer", *arguments])
        capsys.readouterr()
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        return capsys.readouterr().out

    return run


@pytest.fixture
def why(say, visited):
    """What `gossamer why` says of a URL."""

    def run(host, target="/", *options):
        return say("why", str(visited.folder), visited.url(host, target), *options)

    return run


def test_404_twice_is_gone(why):
    assert "gone" in why("gone_for_good").lower()


def test_404_once_is_not_gone(why, visited):
    assert [s.status for s in visited.of("gone_once")[:3]] == [200, 404, 200]
    assert "gone since" not in why("gone_once").lower()


def test_what_came_back_is_not_gone(why):
    assert "gone since" not in why("gone_and_back").lower()


def test_a_page_that_says_sorry_is_a_soft_404(why):
    assert "probably gone" in why("soft_404", "/page")
    assert "probably gone" not in why("soft_404")


def test_a_page_that_nobody_links_to_is_told_apart(say, visited):
    assert say("export", "links", str(visited.folder))
    said = say("list", str(visited.folder), "--orphans")
    assert visited.url("orphan", "/left") in said
    assert visited.url("orphan", "/stays") not in said and visited.url("gone_for_good") not in said


def test_gone_is_machine_readable(why):
    assert "gone" in json.dumps(json.loads(why("gone_for_good", "/", "--json")))
