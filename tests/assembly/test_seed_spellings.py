"""Seeds as people write them."""

import pytest

from gossamer.assembly.seeds import parse_seed
from gossamer.model.reasons.reason import Reason


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "http://example.org/"),
        (" HTTPS://Example.org \n", "https://example.org/"),
        ("localhost:8080/x", "http://localhost:8080/x"),
        ("[::1]:8080", "http://[::1]:8080/"),
        ("b\u00fccher.example/\u00fc", "http://xn--bcher-kva.example/%C3%BC"),
        ("//example.org/x", "http://example.org/x"),
        ("http:\\\\example.org\\x", "http://example.org/x"),
        ("http:/example.org", "http://example.org/"),
        ("example.org/login?next=http://o.test/", "http://example.org/login?next=http://o.test/"),
        ("https://example.org?mail=a@b.test", "https://example.org/?mail=a@b.test"),
        ("https://example.org#a@b", "https://example.org/"),
        ("example.org/@a", "http://example.org/@a"),
        ("http://example.org\\@a", "http://example.org/@a"),
    ],
)
def test_what_is_meant(text: str, url: str) -> None:
    assert str(parse_seed(text)) == url


@pytest.mark.parametrize(
    "text", ["a b", "gopher://example.org/", "example.org:abc", "http://", "", "about:/x"]
)
def test_what_is_no_seed(text: str) -> None:
    assert "is no URL that can be crawled" in str(parse_seed(text))


@pytest.mark.parametrize(
    "text",
    [
        "http://joe:s3cret@example.org/",
        "joe:s3cret@example.org",
        "http:\\\\joe:s3cret@example.org",
        "https://joe@s3cret@example.org?@",
        "http://joe:s3cret@exa mple/",
        "ftp://joe:s3cret@example.org/",
    ],
)
def test_a_password_is_refused_and_not_repeated(text: str) -> None:
    problem = parse_seed(text)
    assert isinstance(problem, Reason)
    assert "s3cret" not in str(problem)


def test_mail_is_no_seed() -> None:
    assert isinstance(parse_seed("mailto:joe@example.org"), Reason)
