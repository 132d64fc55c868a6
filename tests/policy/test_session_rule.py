"""What would end a session is no part of the crawl."""

import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.places.place import read_place
from gossamer.policy.scope.sessions import KeptSession, is_page, session_rule, way_out


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("/logout", "logout"),
        ("/admin/logout/", "logout"),
        ("/doku.php?id=a&do=logout", "logout"),
        ("/Special:UserLogout", "UserLogout"),
        ("/log_out?x", "log_out"),
        ("/users/sign%20out", "sign%20out"),
        ("/signoff.php", "signoff"),
        ("/konto/abmelden", "abmelden"),
        ("/blog-outlook", ""),
        ("/catalogout", ""),
        ("/sign-outs", ""),
        ("/logouts", ""),
        ("/login", ""),
    ],
)
def test_ways_out_are_whole_words(target, word):
    assert way_out(target) == word


@pytest.mark.parametrize(
    ("page", "url", "same"),
    [
        ("https://a.org/login?next=/m/", "https://a.org/login?next=/other", True),
        ("https://a.org/login", "http://a.org/login?next=https://b.org/", True),
        ("https://a.org/w?do=login", "https://a.org/w?id=x&do=login", True),
        ("https://a.org/w?do=login", "https://a.org/w?id=x", False),
        ("https://a.org/login", "https://b.org/login", False),
        ("https://a.org/login", "https://a.org/login/more", False),
    ],
)
def test_the_log_in_page_is_known_wherever_it_leads_back_to(page, url, same):
    assert is_page(Url.parse(url), Url.parse(page)) is same


def test_the_rule_holds_within_its_place_alone():
    page = Url.parse("https://a.org/login")
    rule = session_rule([KeptSession(read_place("a.org/m/"), page, ("[?&]end=",))])

    def opinion(url, kind=LinkKind.NAVIGATION):
        return rule.opinion(Candidate(Url.parse(url), kind))

    assert [opinion(f"https://a.org{target}") for target in ("/m/logout", "/m/x?end=1", "/login")] == [
        False
    ] * 3
    assert [opinion(f"https://a.org{target}") for target in ("/logout", "/x?end=1", "/m/x")] == [None] * 3
    assert opinion("https://a.org/m/logout", LinkKind.ROBOTS) is None
    out = Candidate(Url.parse("https://a.org/m/logout"))
    assert str(rule.why(out, False)) == "'logout' in it: it may end the session of 'a.org/m/'"
