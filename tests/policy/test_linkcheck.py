"""What answers to links mean: the table, what is asked next, fragments, walls."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from gossamer.model.exchange import Headers
from gossamer.model.outcome import Fault
from gossamer.policy.linkcheck.fragments import PagePlaces, judge_fragment, names_a_place, slug
from gossamer.policy.linkcheck.verdicts import (
    Answer,
    Ask,
    Code,
    Judged,
    LinkVerdict,
    Method,
    Patience,
    next_step,
    of_status,
)
from gossamer.policy.linkcheck.walls import LONGEST, is_wall

HEAD, GET = Method.HEAD, Method.GET
PATIENT = Patience(longest=20.0, again=5.0)


def step(*answers: Answer, body: bool = False) -> Ask | Judged:
    return next_step(answers, PATIENT, body=body)


def test_a_head_comes_first_unless_the_content_is_wanted() -> None:
    assert step() == Ask(HEAD)
    assert step(body=True) == Ask(GET)


@pytest.mark.parametrize("status", [200, 204, 206])
def test_a_head_that_is_well_is_enough(status: int) -> None:
    assert step(Answer(HEAD, status)) == Judged(LinkVerdict.WELL, Code.OK, status)


@pytest.mark.parametrize("status", [199, 300, 400, 403, 404, 405, 406, 410, 418, 500, 501, 502, 503, 599])
def test_a_head_that_may_lie_is_asked_again_by_get(status: int) -> None:
    assert step(Answer(HEAD, status)) == Ask(GET)
    assert step(Answer(HEAD, status), Answer(GET, 200)) == Judged(LinkVerdict.WELL, Code.OK, 200)


@pytest.mark.parametrize("fault", [Fault.TIMEOUT, Fault.RESET, Fault.PROTOCOL, Fault.TOO_SLOW])
def test_a_head_that_hangs_is_asked_again_by_get(fault: Fault) -> None:
    assert step(Answer(HEAD, fault=fault)) == Ask(GET)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, Code.LOGIN),
        (402, Code.PAYMENT),
        (407, Code.LOGIN),
        (429, Code.RATE_LIMITED),
        (451, Code.LEGAL),
        (999, Code.BOT_WALL),
    ],
)
def test_refusals_are_believed_at_once(status: int, code: Code) -> None:
    assert step(Answer(HEAD, status)) == Judged(LinkVerdict.REFUSED, code, status)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (404, LinkVerdict.BROKEN),
        (410, LinkVerdict.BROKEN),
        (403, LinkVerdict.REFUSED),
        (405, LinkVerdict.REFUSED),
        (408, LinkVerdict.UNKNOWN),
    ],
)
def test_statuses_of_a_get(status: int, verdict: LinkVerdict) -> None:
    found = step(Answer(HEAD, status), Answer(GET, status))
    assert isinstance(found, Judged)
    assert found.verdict is verdict


def test_a_servers_error_is_broken_the_second_time_only() -> None:
    assert step(Answer(HEAD, 500), Answer(GET, 500)) == Ask(GET, 5.0)
    twice = step(Answer(HEAD, 500), Answer(GET, 500), Answer(GET, 500))
    assert twice == Judged(LinkVerdict.BROKEN, Code.SERVER_ERROR, 500)
    assert step(Answer(GET, 500), Answer(GET, 200)) == Judged(LinkVerdict.WELL, Code.OK, 200)


@pytest.mark.parametrize("status", [503, 504, 520, 522, 530])
def test_what_passes_is_never_broken(status: int) -> None:
    found = step(Answer(GET, status), Answer(GET, status))
    assert found == Judged(LinkVerdict.UNKNOWN, Code.UNAVAILABLE, status)


@pytest.mark.parametrize(("wait", "waits"), [(20.0, True), (20.5, False)])
def test_a_wait_may_be_as_long_as_ones_patience(wait: float, waits: bool) -> None:
    found = step(Answer(GET, 429, wait=wait))
    assert found == (Ask(GET, wait) if waits else Judged(LinkVerdict.REFUSED, Code.RATE_LIMITED, 429))


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_that_is_asked_for_is_kept_once_and_only_if_short(status: int) -> None:
    assert step(Answer(HEAD, status, wait=3.0)) == Ask(HEAD, 3.0)
    assert isinstance(step(Answer(HEAD, status, wait=3.0), Answer(HEAD, status, wait=3.0)), Judged)
    assert isinstance(step(Answer(HEAD, status, wait=3_600.0)), Judged)


def test_a_connection_is_refused_when_it_is_refused_twice() -> None:
    refused = Answer(HEAD, fault=Fault.CONNECT, refused=True)
    assert step(refused) == Ask(HEAD, 5.0)
    assert step(refused, refused) == Judged(LinkVerdict.BROKEN, Code.CONNECTION_REFUSED)
    no_way = Answer(HEAD, fault=Fault.CONNECT)
    assert step(no_way) == Judged(LinkVerdict.UNKNOWN, Code.CONNECTION)


@pytest.mark.parametrize(
    ("certificate", "verdict"),
    [
        (10, LinkVerdict.BROKEN),
        (62, LinkVerdict.BROKEN),
        (23, LinkVerdict.BROKEN),
        (18, LinkVerdict.UNKNOWN),
        (20, LinkVerdict.UNKNOWN),
        (0, LinkVerdict.UNKNOWN),
    ],
)
def test_certificates_are_broken_where_it_cannot_be_our_fault(certificate: int, verdict: LinkVerdict) -> None:
    found = step(Answer(HEAD, fault=Fault.TLS, certificate=certificate))
    assert isinstance(found, Judged)
    assert found.verdict is verdict


def test_names() -> None:
    assert step(Answer(HEAD, fault=Fault.NAME_NOT_FOUND)) == Judged(LinkVerdict.BROKEN, Code.NO_SUCH_NAME)
    assert step(Answer(HEAD, fault=Fault.NAME_FAILED)) == Judged(LinkVerdict.UNKNOWN, Code.NAME_FAILED)


answers = some.builds(
    Answer,
    some.sampled_from(Method),
    some.sampled_from(
        [0, 200, 301, 304, 400, 401, 403, 404, 405, 408, 410, 429, 451, 500, 502, 503, 504, 522, 999]
    ),
    some.sampled_from([None, *Fault]),
    some.booleans(),
    some.sampled_from([0, 10, 18, 62]),
    some.sampled_from([None, 0.0, 1.0, 7_200.0]),
    some.booleans(),
)
NEVER = {401, 402, 403, 405, 407, 408, 429, 451, 503, 504, 522, 999}


@given(some.lists(answers, min_size=8, max_size=8), some.booleans())
def test_asking_ends_soon_and_the_refused_are_never_broken(told: list[Answer], body: bool) -> None:
    given_ = []
    for one in told:
        found = next_step(given_, PATIENT, body=body)
        if isinstance(found, Judged):
            break
        assert found.wait <= PATIENT.longest
        given_.append(msgspec.structs.replace(one, method=found.method))
    else:
        found = next_step(given_, PATIENT, body=body)
    assert isinstance(found, Judged)
    last = given_[-1]
    if found.verdict is LinkVerdict.BROKEN:
        assert last.status not in NEVER or last.fault is not None
        assert last.fault in (None, Fault.NAME_NOT_FOUND, Fault.TLS, Fault.CONNECT)
        assert not (last.wall and last.fault is None)


BY_ITSELF = {  # what a status says where nothing else does
    Code.OK: [*range(200, 300)],
    Code.NOT_FOUND: [404],
    Code.GONE: [410],
    Code.LOGIN: [401, 407],
    Code.PAYMENT: [402],
    Code.FORBIDDEN: [403],
    Code.NOT_ACCEPTABLE: [405, 406, 415],
    Code.RATE_LIMITED: [429],
    Code.LEGAL: [451],
    Code.BOT_WALL: [999],
    Code.TIMEOUT: [408],
    Code.UNAVAILABLE: [*range(500, 600)],
    Code.ODD_STATUS: [*range(100, 200), *range(300, 400), *range(600, 999)],
}


def test_what_each_status_says() -> None:
    found: dict[Code, list[int]] = {}
    for status in range(100, 1_000):
        found.setdefault(of_status(status).code, []).append(status)
    others = found.pop(Code.CLIENT_ERROR)
    assert found == BY_ITSELF
    assert {status // 100 for status in others} == {4}
    twice = {of_status(status, twice=True).code for status in range(500, 600)}
    lasting = [
        status for status in range(500, 600) if of_status(status, twice=True).code is Code.SERVER_ERROR
    ]
    assert lasting == [500, 501, 502, *range(505, 520)]
    assert twice == {Code.SERVER_ERROR, Code.UNAVAILABLE}


@given(some.integers(100, 999), some.booleans())
def test_every_status_has_a_verdict(status: int, twice: bool) -> None:
    assert of_status(status, twice=twice).status == status


PAGE = PagePlaces(names={"here", "a b", "\u00fcber", "user-content-setup"}, text_length=5_000)


@pytest.mark.parametrize(
    "fragment",
    [
        "here",
        "",
        "top",
        "TOP",
        ":~:text=anything",
        "here:~:text=word",
        "a%20b",
        "%C3%BCber",
        "\u00fcber",
        "setup",
    ],
)
def test_places_that_are_there(fragment: str) -> None:
    assert judge_fragment(fragment, PAGE) is None


@pytest.mark.parametrize("fragment", ["Here", "absent", "here%20", "%00", "\x07", "%zz"])
def test_places_that_are_not(fragment: str) -> None:
    assert judge_fragment(fragment, PAGE) == Judged(LinkVerdict.BROKEN, Code.FRAGMENT_MISSING)


@pytest.mark.parametrize(
    ("fragment", "places"),
    [
        ("made", PagePlaces(names={"x"}, scripts=True, script_text="el.id = 'made'", text_length=5_000)),
        ("/route", PagePlaces(names={"x"}, scripts=True, text_length=5_000)),
        ("a=1", PagePlaces(names={"x"}, scripts=True, text_length=5_000)),
        (
            "first-steps",
            PagePlaces(names={"x"}, headings={slug("First  steps!")}, scripts=True, text_length=5_000),
        ),
        ("any", PagePlaces(names={"x"}, scripts=True, text_length=10)),
        ("any", PagePlaces(scripts=True, text_length=5_000)),
    ],
)
def test_places_that_a_script_may_make_are_unknown(fragment: str, places: PagePlaces) -> None:
    assert judge_fragment(fragment, places) == Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_BY_SCRIPT)


@pytest.mark.parametrize(("length", "code"), [(199, Code.FRAGMENT_BY_SCRIPT), (200, Code.FRAGMENT_MISSING)])
def test_a_page_of_200_characters_says_something_without_its_scripts(length: int, code: Code) -> None:
    found = judge_fragment("any", PagePlaces(names={"x"}, scripts=True, text_length=length))
    assert found is not None
    assert found.code is code


def test_a_script_excuses_not_every_place() -> None:
    places = PagePlaces(names={"x"}, scripts=True, script_text="count()", text_length=5_000)
    assert judge_fragment("absent", places) == Judged(LinkVerdict.BROKEN, Code.FRAGMENT_MISSING)


def test_other_documents_and_pages_that_were_cut() -> None:
    assert judge_fragment("page=3", PagePlaces(html=False)) is None
    found = judge_fragment("absent", PagePlaces(names={"x"}, whole=False))
    assert found == Judged(LinkVerdict.UNKNOWN, Code.FRAGMENT_UNREAD)
    assert names_a_place("top") == ""


@pytest.mark.parametrize(
    ("status", "fields", "content"),
    [
        (403, [("cf-mitigated", "challenge")], b""),
        (202, [("x-amzn-waf-action", "challenge")], b""),
        (200, [], b"<title>Just a moment...</title>"),
        (503, [], b"x <script src='/cdn-cgi/challenge-platform/x.js'>"),
        (404, [], b"<TITLE>Attention Required! | Cloudflare</TITLE>"),
        (200, [], b"<title>Robot Check</title>".ljust(LONGEST)),
    ],
)
def test_walls(status: int, fields: list[tuple[str, str]], content: bytes) -> None:
    assert is_wall(status, Headers(fields), content)


def test_a_wall_has_one_of_these_statuses() -> None:
    head, page = Headers([("cf-mitigated", "challenge")]), b"<title>Robot Check</title>"
    may_be = [200, 202, 400, 401, 403, 404, 405, 406, 418, 429, 503]
    assert [status for status in range(100, 600) if is_wall(status, head, b"")] == may_be
    assert [status for status in range(100, 600) if is_wall(status, Headers([]), page)] == may_be


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b"<title>Robot Check</title>".ljust(LONGEST + 1)),
        (200, b"an article about captchas"),
        (200, b"<title>Just a moment...</title>" + b" " * LONGEST),
        (301, b"<title>Access denied"),
    ],
)
def test_no_walls(status: int, content: bytes) -> None:
    assert not is_wall(status, Headers([]), content)
