"""Robots files: reading (RFC 9309, 2.2.1, 2.5) and matching (2.2.2, 2.2.3), also against a naive matcher."""

from functools import cache

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.robots.file import ALLOW_ALL, SIZE_LIMIT, RobotsRules, parse_robots
from gossamer.policy.robots.match import TOO_COSTLY


def rules(text: str | bytes, token: str = "gossamer") -> RobotsRules:
    return parse_robots(text.encode() if isinstance(text, str) else text, token)


def allowed(text: str | bytes, target: str, token: str = "gossamer") -> bool:
    return rules(text, token).allows(target)[0]


def for_all(*lines: str) -> str:
    return "User-agent: *\n" + "\n".join(lines) + "\n"


# Groups


def test_empty_file_allows_everything() -> None:
    assert rules(b"") == ALLOW_ALL
    assert ALLOW_ALL.allows("/x") == (True, "")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_ending(ending: str) -> None:
    assert not allowed(ending.join(["User-agent: *", "Disallow: /x"]), "/x/y")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
def test_byte_order_mark_is_skipped(mark: bytes) -> None:
    assert not allowed(mark + b"User-agent: *\nDisallow: /x", "/x")


def test_utf16_file_is_understood() -> None:
    assert not allowed("User-agent: *\nDisallow: /x".encode("utf-16"), "/x")


@pytest.mark.parametrize("name", ["gossamer", "Gossamer", "GOSSAMER", "gossamer/1.0", "Gossamer 1.0 (x)"])
def test_our_name_in_any_case_with_or_without_version(name: str) -> None:
    assert not allowed(f"User-agent: {name}\nDisallow: /", "/x")


@pytest.mark.parametrize(
    "name", ["goss", "gossamerbot", "gossamer-news", "my gossamer", "gossamer2", "gossamer.x"]
)
def test_a_part_of_our_name_is_not_our_name(name: str) -> None:
    assert allowed(f"User-agent: {name}\nDisallow: /", "/x")


def test_our_product_token_may_be_given_as_a_whole_user_agent() -> None:
    assert not allowed("User-agent: Gossamer\nDisallow: /", "/x", token="gossamer/2.1 (+https://example.org)")


def test_empty_product_token_gets_the_rules_for_all() -> None:
    text = "User-agent: \nDisallow: /a\n\nUser-agent: *\nDisallow: /b"
    assert allowed(text, "/a", token="") and not allowed(text, "/b", token="")


def test_all_groups_of_ours_are_merged() -> None:
    text = "User-agent: gossamer\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\n"
    text += "User-agent: Gossamer\nDisallow: /c"
    assert [allowed(text, target) for target in ("/a", "/b", "/c")] == [False, True, False]


def test_all_star_groups_are_merged_if_none_is_ours() -> None:
    text = "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c\n"
    assert [allowed(text, target) for target in ("/a", "/b", "/c")] == [False, True, False]


def test_a_group_of_ours_without_rules_shuts_out_the_star() -> None:
    assert allowed("User-agent: gossamer\nDisallow:\n\nUser-agent: *\nDisallow: /\n", "/x")
    assert allowed("User-agent: *\nDisallow: /\nUser-agent: gossamer\n", "/x")


def test_user_agents_in_a_row_share_rules() -> None:
    text = "User-agent: a\nUser-agent: gossamer\nUser-agent: b\nDisallow: /x\n"
    assert not allowed(text, "/x")


@pytest.mark.parametrize(
    "between", ["", "\n\n", "# note\n", "Sitemap: http://x/s\n", "Crawl-delay: 1\n", "Foo: x\n"]
)
def test_only_a_rule_line_ends_a_run_of_user_agents(between: str) -> None:
    assert not allowed(f"User-agent: gossamer\n{between}User-agent: other\nDisallow: /x\n", "/x")


@pytest.mark.parametrize("rule", ["Disallow: /b", "Allow: /b", "Disallow:", "Disallow: nonsense"])
def test_a_rule_line_ends_a_run_of_user_agents(rule: str) -> None:
    assert allowed(f"User-agent: gossamer\n{rule}\nUser-agent: other\nDisallow: /x\n", "/x")


@pytest.mark.parametrize("between", ["\n\n\n", "Sitemap: /s\n", "Crawl-delay: 1\n", "Unknown\n"])
def test_other_lines_do_not_end_a_group(between: str) -> None:
    assert not allowed(f"User-agent: *\nDisallow: /a\n{between}Disallow: /x\n", "/x")


def test_rules_before_any_user_agent_do_not_count() -> None:
    assert allowed("Disallow: /x\nUser-agent: *\nDisallow: /y\n", "/x")


@pytest.mark.parametrize("star", ["*", "* ", "* # all", "*\t"])
def test_star_names_everybody(star: str) -> None:
    assert not allowed(f"User-agent: {star}\nDisallow: /x", "/x")


def test_html_yields_no_rules() -> None:
    page = (
        b"<!DOCTYPE html>\n<html><head><title>Allow: me</title></head>\n<p>Disallow: / is a rule</p></html>"
    )
    assert rules(page) == ALLOW_ALL


# Lines


@pytest.mark.parametrize(
    "line",
    [
        "Disallow:/x",
        "disallow: /x",
        "DISALLOW : /x",
        "  \tDisallow:\t /x \t",
        "Disallow: /x # why",
        "Disallow: /x#why",
        "Disallow /x",
        "Dissallow: /x",
        "Disalow: /x",
        "diasllow: /x",
    ],
)
def test_spellings_of_a_line(line: str) -> None:
    assert not allowed(for_all(line), "/x")


def test_a_forgotten_colon_before_bytes_that_are_blanks_by_latin_1() -> None:
    assert not allowed(for_all("Disallow /citt\u00e0"), "/citt%C3%A0")


@pytest.mark.parametrize(
    "agent", ["user-agent: *", "useragent: *", "User Agent: *", "User-agent *", "USER-AGENT:*"]
)
def test_spellings_of_user_agent(agent: str) -> None:
    assert not allowed(f"{agent}\nDisallow: /x", "/x")


@pytest.mark.parametrize(
    "line", ["Disallow x y: /x", "NoDisallow: /x", "Disallow: x", "Disallow: http://h/x", "Disallow"]
)
def test_lines_without_effect(line: str) -> None:
    assert allowed(for_all(line), "/x")


def test_size_limit_cuts_at_a_line_end() -> None:
    filler = "#" * 98 + "\n"
    head = for_all("Disallow: /a")
    body = head + filler * ((SIZE_LIMIT - len(head)) // len(filler))
    body += "#" * (SIZE_LIMIT - len(body) - len("\nAllow: /a")) + "\nAllow: /abc\n"
    assert body[SIZE_LIMIT - 2 : SIZE_LIMIT] == "/a"
    assert rules(body).rules == ((False, "/a"),)


def test_what_lies_within_the_size_limit_is_read() -> None:
    body = for_all() + ("#" * 98 + "\n") * 5_000 + "Disallow: /last\n"
    assert len(body) < SIZE_LIMIT
    assert not allowed(body, "/last")


@given(st.binary(max_size=300))
def test_any_bytes_are_read(body: bytes) -> None:
    found = rules(body)
    found.allows("/x")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=RobotsRules) == found


def test_decision_is_the_same_from_disk() -> None:
    found = rules(for_all("Disallow: /*.gif$", "Crawl-delay: 3", "Sitemap: /s.xml"))
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=RobotsRules)
    assert again == found
    assert again.allows("/a.gif") == (False, "Disallow: /*.gif$")


# Crawl-delay and Sitemap


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5", 5.0), ("0.5", 0.5), (".5", 0.5), ("2.", 2.0), ("0", 0.0), ("10 # s", 10.0), ("7 seconds", 7.0)],
)
def test_crawl_delay(value: str, seconds: float) -> None:
    assert rules(for_all(f"Crawl-delay: {value}")).crawl_delay == seconds


@pytest.mark.parametrize("value", ["", "-1", "nan", "inf", "1e9", "soon", "0,5", "1_0", "9" * 4_000, "٣"])
def test_senseless_crawl_delay_is_ignored(value: str) -> None:
    assert rules(for_all(f"Crawl-delay: {value}")).crawl_delay is None


def test_longest_crawl_delay_of_our_groups_counts() -> None:
    text = "User-agent: gossamer\nCrawl-delay: 2\nAllow: /\nUser-agent: *\nCrawl-delay: 50\nAllow: /\n"
    assert rules(text).crawl_delay == 2
    assert rules(text + "User-agent: gossamer\nCrawl-delay: 4\nCrawl-delay: 3\n").crawl_delay == 4


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: other\nCrawl-delay: 4\n\nUser-agent: *\nDisallow: /x\n", None),
        ("User-agent: other\nCrawl-delay: 4\nUser-agent: gossamer\nDisallow: /x\n", None),
        ("User-agent: *\nCrawl-delay: 4\nUser-agent: other\nCrawl-delay: 9\nDisallow: /x\n", 4),
        ("User-agent: *\nCrawl-delay: 4\nUser-agent: gossamer\nDisallow: /x\n", None),
        ("User-agent: other\nUser-agent: *\nCrawl-delay: 4\nDisallow: /x\n", 4),
        ("User-agent: *\nSitemap: /s\nUser-agent: other\nCrawl-delay: 4\n", 4),
        (
            "User-agent: other\nCrawl-delay: 4\nUser-agent: *\nDisallow: /x\nCrawl-delay: 2\n",
            2,
        ),
        ("Crawl-delay: 7\nUser-agent: *\nDisallow: /x\n", None),
    ],
)
def test_a_crawl_delay_is_for_the_names_above_it(text: str, delay: float | None) -> None:
    assert rules(text).crawl_delay == delay
    # Rules are for all names of a group, and a delay does not end it (RFC 9309, 2.2.1).
    assert "Disallow: /x" not in text or not rules(text).allows("/x")[0]


def test_sitemaps_stand_anywhere_in_any_group() -> None:
    text = (
        "Sitemap: https://a/1.xml\nUser-agent: other\nDisallow: /\nsitemap: /2.xml\nSITEMAP:https://a/1.xml\n"
    )
    assert rules(text).sitemaps == ("https://a/1.xml", "/2.xml")


def test_sitemap_text_is_printable_and_bounded() -> None:
    text = "Sitemap: https://a/\x1b[1mé x\n" + "Sitemap: " + "x" * 5_000 + "\n"
    assert rules(text).sitemaps == ("https://a/%1B[1m%C3%A9%20x",)
    many = "".join(f"Sitemap: /{number}\n" for number in range(3_000))
    assert len(rules(many).sitemaps) == 1_000


# Matching


@pytest.mark.parametrize(
    ("lines", "target", "decision"),
    [
        # RFC 9309, 5.2
        (
            ["Allow: /example/page/", "Disallow: /example/page/disallowed.gif"],
            "/example/page/disallowed.gif",
            False,
        ),
        (
            ["Allow: /example/page/", "Disallow: /example/page/disallowed.gif"],
            "/example/page/other.gif",
            True,
        ),
        # Longest wins, Allow wins ties, whatever the order
        (["Allow: /p", "Disallow: /"], "/page", True),
        (["Disallow: /", "Allow: /p"], "/page", True),
        (["Disallow: /folder", "Allow: /folder"], "/folder/page", True),
        (["Allow: /folder", "Disallow: /folder"], "/folder/page", True),
        (["Allow: /page", "Disallow: /*.html"], "/page.html", False),
        (["Allow: /page", "Disallow: /*.ph"], "/page.php5", True),
        (["Allow: /$", "Disallow: /"], "/", True),
        (["Allow: /$", "Disallow: /"], "/page.htm", False),
        # Paths are prefixes, case counts, the query belongs to them
        (["Disallow: /fish"], "/fish.html", False),
        (["Disallow: /fish"], "/Fish", True),
        (["Disallow: /fish/"], "/fish", True),
        (["Disallow: /fish/"], "/fish/?id=anything", False),
        (["Disallow: /a?b"], "/a?b=1", False),
        (["Disallow: /a?b"], "/a/b=1", True),
        # * and $
        (["Disallow: /*.php"], "/folder/any.php.file.html", False),
        (["Disallow: /*.php$"], "/filename.php?parameters", True),
        (["Disallow: /*.php$"], "/a.php/b.php", False),
        (["Disallow: /fish*.php"], "/fishheads/catfish.php?parameters", False),
        (["Disallow: /fish*"], "/fish", False),
        (["Disallow: *x"], "/a/x", False),
        (["Disallow: /*"], "/", False),
        (["Disallow: /a*$"], "/ab", False),
        (["Disallow: /a$b"], "/a$bc", False),
        (["Disallow: /a$"], "/a$", True),
        (["Disallow: /ab*ba$"], "/aba", True),
        (["Disallow: /**a***b$"], "/xaxb", False),
        (["Disallow: /a**b$"], "/abx", True),
        (["Disallow: /a*b*$"], "/axbx", False),
        # Percent-encoding
        (["Disallow: /foo/bar?baz=http://foo.bar"], "/foo/bar?baz=http://foo.bar", False),
        (["Disallow: /ツ"], "/%E3%83%84", False),
        (["Disallow: /%e3%83%84"], "/%E3%83%84", False),
        (["Disallow: /%E3%83%84"], "/%e3%83%84", False),
        (["Disallow: /%62%61%7A"], "/baz", False),
        (["Disallow: /baz"], "/%62%61%7a", False),
        (["Disallow: /a%2Fb"], "/a/b", True),
        (["Disallow: /a/b"], "/a%2fb", True),
        (["Disallow: /a%3Fb"], "/a?b", True),
        (["Disallow: /a%2Ab"], "/a*b", False),
        (["Disallow: /a%2Ab"], "/axb", True),
        (["Disallow: /a%24"], "/a$", False),
        (["Disallow: /a%24"], "/a", True),
        (["Disallow: /100%"], "/100%25", False),
        (["Disallow: /a b"], "/a%20b", False),
        (["Disallow: /?q='x'"], "/?q=%27x%27", False),
        (["Disallow: /?a[]="], "/?a%5B%5D=1", False),
        # Nothing
        (["Disallow:"], "/", True),
        (["Allow:", "Disallow: /x"], "/x", False),
        (["Disallow: /"], "/robots.txt", True),
        (["Disallow: /"], "/robots.txt?x", False),
    ],
)
def test_match(lines: list[str], target: str, decision: bool) -> None:
    assert allowed(for_all(*lines), target) is decision


def test_bytes_that_are_not_utf8_match_themselves() -> None:
    assert not allowed(b"User-agent: *\nDisallow: /\xe9", "/%e9")


def test_decision_quotes_the_deciding_line() -> None:
    found = rules(for_all("Disallow: /x", "Allow: /x/*y", "Disallow: /only$"))
    assert found.allows("/x/1y") == (True, "Allow: /x/*y")
    assert found.allows("/xy") == (False, "Disallow: /x")
    assert found.allows("/only") == (False, "Disallow: /only$")
    assert found.allows("/z") == (True, "")
    assert len(rules(for_all("Disallow: /" + "*" * 9_000)).allows("/")[1]) < 1_000


def test_many_rules_of_every_sort_find_theirs() -> None:
    lines = [f"Disallow: /plain/{number}/" for number in range(4_000)]
    lines += [f"Disallow: /*wild{number}w" for number in range(4_000)]
    lines += [f"Disallow: /end{number}$" for number in range(4_000)]
    lines += [f"Allow: /plain/{number}/*open" for number in range(4_000)]
    found = rules(for_all(*lines))
    assert found.allows("/plain/77/x") == (False, "Disallow: /plain/77/")
    assert found.allows("/plain/77/x/open") == (True, "Allow: /plain/77/*open")
    assert found.allows("/x/wild3999w") == (False, "Disallow: /*wild3999w")
    assert found.allows("/end12") == (False, "Disallow: /end12$")
    assert found.allows("/end12x")[0]
    assert found.allows("/" + "a" * 4_000)[0]


def test_patterns_made_to_be_costly_are_refused_unmatched() -> None:
    lines = [f"Disallow: /*{'x' * number}*{'a' * 97}ba" for number in range(1, 400)]
    target = "/" + "x" * 400 + "a" * 90 + "ba" + "a" * 3_500
    assert rules(for_all(*lines)).allows(target) == (False, TOO_COSTLY)
    assert rules(for_all(*lines)).allows("/aa")[0]


def test_wildcards_without_end_are_matched_at_once() -> None:
    assert not allowed(for_all("Disallow: /" + "*a" * 300), "/" + "a" * 4_000)
    assert allowed(for_all("Disallow: /" + "*a" * 300 + "*b"), "/" + "a" * 4_000)


# Against a naive matcher that knows no index and walks units one by one.

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!&()+,;=:@/?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def units(text: str, special: str) -> list[str]:
    raw, found, place = text.encode(), [], 0
    while place < len(raw):
        digits = raw[place + 1 : place + 3]
        if (
            raw[place] == 0x25
            and len(digits) == 2
            and all(chr(digit) in "0123456789abcdefABCDEF" for digit in digits)
        ):
            char = chr(int(digits, 16))
            found.append(char if char in _UNRESERVED else f"%{int(digits, 16):02X}")
            place += 3
            continue
        char = chr(raw[place])
        found.append(char if char in _PLAIN or char in special else f"%{raw[place]:02X}")
        place += 1
    return found


def naive_match(pattern: list[str], target: list[str]) -> bool:
    @cache
    def match(p: int, t: int) -> bool:
        if p == len(pattern):
            return True
        if pattern[p] == "*":
            return match(p + 1, t) or (t < len(target) and match(p, t + 1))
        if pattern[p] == "$" and p == len(pattern) - 1:
            return t == len(target)
        literal = "%24" if pattern[p] == "$" else pattern[p]
        return t < len(target) and target[t] == literal and match(p + 1, t + 1)

    return match(0, 0)


def naive_decision(rules_: list[tuple[bool, str]], target: str) -> bool:
    best, decision = -1, True
    for allow, pattern in rules_:
        spelled = units(pattern, "*$")
        length = sum(map(len, spelled))
        if naive_match(spelled, units(target, "")) and (length > best or (length == best and allow)):
            best, decision = length, allow
    return decision


_PIECES = [
    "a",
    "b",
    "ab",
    "/",
    "*",
    "$",
    "%2F",
    "%2f",
    "%61",
    "%24",
    "%2a",
    "%",
    "é",
    "%C3%A9",
    "?",
    "'",
    "[",
    "aab",
]
_patterns = st.builds(
    lambda first, rest: first + "".join(rest),
    st.sampled_from(["/", "*", "/a", "/*"]),
    st.lists(st.sampled_from(_PIECES), max_size=7),
)
_targets = st.lists(st.sampled_from(_PIECES), max_size=9).map(lambda pieces: "/" + "".join(pieces))


@given(st.lists(st.tuples(st.booleans(), _patterns), max_size=8), _targets)
def test_decision_equals_the_naive_one(lines: list[tuple[bool, str]], target: str) -> None:
    text = for_all(*(f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in lines))
    assert allowed(text, target) is naive_decision(lines, target)


@given(_patterns)
def test_a_pattern_matches_its_own_text_with_the_specials_spelled_out(pattern: str) -> None:
    target = "/" + pattern.lstrip("*/").replace("*", "any/thing").removesuffix("$")
    if not pattern.startswith("*"):
        assert naive_match(units(pattern, "*$"), units(target, "")) is not allowed(
            for_all(f"Disallow: {pattern}"), target
        )


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("Disallow: /0\nUser-agent: *\nDisallow: /1", "1"),
        ("Crawl-delay: 9\nUser-agent: *\nDisallow: /1", "1"),
        ("User-agent: *\nUser-agent: x\nDisallow: /1", "1"),
        ("User-agent: x\nUser-agent: *\nDisallow: /1", "1"),
        ("User-agent: x\nDisallow: /1", ""),
        ("User-agent: x\nDisallow: /1\nUser-agent: *\nUser-agent: y\nDisallow: /2", "2"),
        ("User-agent: x\nDisallow: /1\nUser-agent: gossamer\nUser-agent: y\nDisallow: /2", "2"),
        ("User-agent: *\nDisallow: /1\nUser-agent: y\nUser-agent: gossamer\nDisallow: /2", "2"),
        ("User-agent: *\nDisallow: /1\nUser-agent: *\nUser-agent: y\nDisallow: /2", "12"),
        ("User-agent: *\nDisallow: /1\nUser-agent: y\nDisallow: /2\nUser-agent: z\nDisallow: /3", "1"),
    ],
)
def test_which_groups_are_ours_however_many_names_share_one(text: str, ours: str) -> None:
    found = rules(text)
    assert [pattern for _, pattern in found.rules] == [f"/{each}" for each in ours]
    assert found.crawl_delay is None
