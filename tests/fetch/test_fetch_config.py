"""Settings of the fetch room say no to what cannot work."""

import msgspec
import pytest

from gossamer.fetch.config import FetchConfig


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"connect_timeout": 0}, "connect_timeout"),
        ({"idle_timeout": 0}, "idle_timeout"),
        ({"visit_timeout": 0}, "visit_timeout"),
        ({"max_head": 10}, "max_head"),
        ({"user_agent": "a\r\nX: b"}, "user_agent"),
        ({"contact": "b\u00fccher@example.org"}, "contact"),
        ({"proxy": "nonsense"}, "proxy: must be"),
        ({"forbidden_networks": ["10.0.0.0/99"]}, "forbidden_networks"),
        ({"max_connections": 0}, "max_connections"),
        ({"max_expansion_ratio": 0}, "max_expansion_ratio"),
        ({"max_body": -1}, "max_body"),
        ({"no_such_setting": 1}, "no_such_setting"),
    ],
)
def test_impossible_values(settings: dict[str, object], text: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=text):
        msgspec.convert(settings, FetchConfig)


def test_the_agent_is_honest() -> None:
    home = "https://github.com/gossamer-crawler/gossamer"
    assert FetchConfig().agent == f"gossamer/0.1 (+{home})"
    assert FetchConfig(contact="https://e.org/bot").agent == f"gossamer/0.1 (+{home}; https://e.org/bot)"
    assert FetchConfig(user_agent="mine/1", contact="a@e.org").agent == "mine/1"


@pytest.mark.parametrize(
    ("contact", "mailbox"),
    [
        ("a@e.org", "a@e.org"),
        ("mailto:a@e.org", "a@e.org"),
        ("https://e.org/@a", ""),
        ("", ""),
        ("Alice", ""),
    ],
)
def test_from_is_a_mailbox(contact: str, mailbox: str) -> None:
    assert FetchConfig(contact=contact).mailbox == mailbox


def test_every_setting_says_its_consequence() -> None:
    schema = msgspec.json.schema(FetchConfig)
    properties = schema["$defs"]["FetchConfig"]["properties"]
    assert not [name for name, value in properties.items() if "description" not in value]
