"""Settings of name resolution: what is taken for a name server, and what cannot be."""

import msgspec
import pytest

from gossamer.dns.config import DnsConfig, is_asked_over_https, split_server


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("192.0.2.1", ("192.0.2.1", 53)),
        ("192.0.2.1:5353", ("192.0.2.1", 5353)),
        ("[2001:db8::1]", ("2001:db8::1", 53)),
        ("[2001:db8::1]:54", ("2001:db8::1", 54)),
        ("2001:db8::1", ("2001:db8::1", 53)),
        ("::1", ("::1", 53)),
        ("::ffff:192.0.2.1", ("::ffff:192.0.2.1", 53)),
    ],
)
def test_servers(text, parts):
    assert split_server(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dns.example",
        "192.0.2",
        "192.0.2.1:",
        "192.0.2.1:0",
        "192.0.2.1:65536",
        "192.0.2.1:x",
        "256.0.0.1",
        "[::1",
        "[::1]x",
        "[::1]:",
        "[]:53",
        "[192.0.2.1]:53",
        ":53",
        "::1]:53",
        "192.0.2.1,192.0.2.2",
        "http://192.0.2.1/dns-query",
        "https:",
        "https://192.0.2.1/dns-query{?dns}",
        "https://192.0.2.1/#dns",
    ],
)
def test_not_servers(text):
    with pytest.raises(ValueError, match="is not a name server; write"):
        DnsConfig(nameservers=(text,))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"first_wait": 0.0}, "first_wait must be greater"),
        ({"total": 0.5}, "total must be at least first_wait"),
        ({"max_ttl": 30.0}, "max_ttl must be at least min_ttl"),
    ],
)
def test_impossible_values(settings, says):
    with pytest.raises(ValueError, match=says):
        DnsConfig(**settings)


def test_servers_over_https():
    assert is_asked_over_https("https://[2001:db8::1]:8443/dns-query")
    assert not is_asked_over_https("192.0.2.1")
    DnsConfig(nameservers=("https://dns.example/dns-query", "192.0.2.1"))


def test_unknown_settings_are_refused():
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"retries": 3}, DnsConfig)
