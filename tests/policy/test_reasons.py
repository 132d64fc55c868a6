"""Reasons are values of closed lists with words in both languages; what older versions wrote is read."""

import inspect
import re
from enum import StrEnum
from itertools import chain
from string import Formatter

import msgspec
import pytest
from every import every

from gossamer.model.outcome import Fault, Rule
from gossamer.model.reasons import codes
from gossamer.model.reasons.catalogue import Entry, catalogue
from gossamer.model.reasons.codes import (
    BudgetCode,
    EndCode,
    HoldCode,
    ProblemCode,
    RetryCode,
    RobotsCode,
    ScopeCode,
    TextCode,
)
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason, because, of, placed, text, together
from gossamer.policy.visits.retry import asked_for_rest
from gossamer.state.records import (
    HostRecord,
    PageRecord,
    RobotsRecord,
    decode_host,
    decode_page,
    decode_reason,
    decode_robots,
    encode,
)

LISTS = [kind for _, kind in inspect.getmembers(codes, inspect.isclass) if kind.__module__ == codes.__name__]
CODES = list(chain.from_iterable(LISTS))
CHINESE = re.compile("[\u4e00-\u9fff]")


def fields(entry: Entry) -> set[str]:
    texts = [entry] if isinstance(entry, str) else list(entry.values())
    return {name for one in texts for _, name, _, _ in Formatter().parse(one) if name is not None}


def test_every_code_stands_in_one_list() -> None:
    assert len(LISTS) > 10 and all(issubclass(kind, StrEnum) for kind in LISTS)
    every = [*map(str, CODES), *Fault, *(rule for rule in Rule if rule not in set(Fault))]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_code_has_words_and_no_words_are_left_over(language: str) -> None:
    words = {code for code in catalogue(language) if not code.startswith("state.")}
    assert words == {*map(str, CODES), *(f"fault.{kind}" for kind in (*Fault, *Rule))}


@every("code", catalogue("en"))
def test_both_languages_say_the_same_values(code: str) -> None:
    english, chinese = catalogue("en")[code], catalogue("zh")[code]
    assert fields(english) == fields(chinese)
    assert fields(english) == set(map(str, range(len(fields(english))))), "numbered from 0 on"
    said = chinese if isinstance(chinese, str) else "".join(chinese.values())
    plain = re.sub(r"\{[^}]*\}", "", said)
    assert (
        CHINESE.search(said) or not re.search("[a-z]{3}", plain) or code in ("fault.tls", "fault.directive")
    )


def test_words_of_reasons_within_reasons() -> None:
    reason = because(RetryCode.VISITS, because(Fault.CONNECT, "refused"), 1)
    assert str(reason) == "no connection: refused, 1 visit"
    assert reason.said("zh") == "无法连接：refused，共访问 1 次"  # noqa: RUF001
    assert str(because(RetryCode.VISITS, because(RetryCode.STATUS, 500), 4)) == "500, 4 visits"
    assert (
        str(because(Rule.SCOPE, Reason(ScopeCode.OFF_HOSTS))) == "scope: not on the seeds' hosts (mode host)"
    )
    assert str(together([because(RetryCode.STATUS, 1), text("b"), text("c")])) == "1; b; c"
    assert together([]) is None


def test_a_reason_is_stored_by_its_code_and_values() -> None:
    reason = because(Rule.SCOPE, because(ScopeCode.DEPTH, 9, 3))
    stored = encode(reason)
    assert b"at most" not in stored and len(stored) < 40
    assert decode_reason(stored) == reason
    assert str(because("of.a_newer_version", 5, text("x"))) == "of.a_newer_version 5 x"


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("another crawl of this machine", Reason(HoldCode.SHARED)),
        ("by the operator", Reason(HoldCode.OPERATOR)),
        ("pages_per_host 5", because(BudgetCode.PAGES_PER_HOST, 5)),
        ("max_time 1.5", because(EndCode.MAX_TIME, 1.5)),
        ("unreachable", Reason(EndCode.NO_SERVER)),
        ("connect", Reason(Fault.CONNECT)),
        ("scope: host a.test is blocked", because(Rule.SCOPE, "host a.test is blocked")),
        ("held for a while", text("held for a while")),
        ("pages_per_host many", text("pages_per_host many")),
    ],
)
def test_what_an_older_version_wrote(sentence: str, reason: Reason) -> None:
    assert told_before(sentence) == reason
    assert str(told_before(sentence)) in (sentence, "no connection")


@pytest.mark.parametrize(
    "sentence", ["429", "503", "robots: hold (robots file unreachable (429))", "503, 2 visits"]
)
def test_a_rest_that_a_host_asked_for_is_still_one(sentence: str) -> None:
    assert asked_for_rest(told_before(sentence)) and str(told_before(sentence)) == sentence
    assert told_before("by the operator, for 60 s").has(HoldCode.OPERATOR)


def test_who_asked_for_rest() -> None:
    assert asked_for_rest(because(RetryCode.STATUS, 429))
    assert asked_for_rest(because(RobotsCode.HOLD, because(RobotsCode.UNREACHABLE, 503)))
    assert not asked_for_rest(because(RetryCode.STATUS, 500))
    assert not asked_for_rest(because(EndCode.MAX_PAGES, 429)), "a number is not a status"


def test_records_of_older_versions_are_read() -> None:
    page = decode_page(msgspec.msgpack.encode(["http://a/", "rejected", "scope: not on the seeds' hosts"]))
    assert page.reason == because(Rule.SCOPE, "not on the seeds' hosts") and not page.old_reason
    fields_of = HostRecord.__struct_fields__
    plain = msgspec.to_builtins(HostRecord("a"), builtin_types=(bytes,))
    plain[fields_of.index("old_reason")], plain[fields_of.index("old_parked")] = "429", "by the operator"
    host = decode_host(msgspec.msgpack.encode(plain[:-2]))
    assert host.reason is not None and asked_for_rest(host.reason)
    assert host.parked == Reason(HoldCode.OPERATOR)
    robots = decode_robots(msgspec.msgpack.encode(["closed", 0, b"", 0, "scope: host a is blocked"]))
    assert robots.reason == because(Rule.SCOPE, "host a is blocked")
    assert decode_reason(b"") is None and decode_reason(b"max_pages 7") == because(EndCode.MAX_PAGES, 7)


def test_new_records_hold_no_sentence() -> None:
    page = PageRecord("http://a/", "rejected", reason=because(Rule.SCOPE, Reason(ScopeCode.OFF_HOSTS)))  # type: ignore[arg-type]
    robots = RobotsRecord("open", 0, reason=because(RobotsCode.NONE, 404))
    assert b"seeds" not in encode(page) and b"robots file" not in encode(robots)
    assert decode_page(encode(page)).reason == page.reason
    assert decode_robots(encode(robots)).reason == robots.reason


def test_where_a_problem_lies() -> None:
    wrong = because(ProblemCode.WHOLE, "'x'")
    assert placed(of("engine.workers", wrong)) == ("engine.workers", wrong)
    assert str(of("engine.workers", wrong)) == "engine.workers: expected a whole number, got 'x'"
    assert placed(text("engine.workers: is odd")) == ("engine.workers", text("is odd"))
    assert placed(text("all is odd: see there"))[0] == ""
    assert placed(Reason(TextCode.TEXT, ("x",))) == ("", text("x"))
