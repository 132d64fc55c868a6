"""What shares one politeness."""

import pytest

from gossamer.model.url import Url
from gossamer.policy.urls.queue_key import QueueKind, queue_key


@pytest.mark.parametrize("kind", ["host", "site"])
def test_a_final_dot_makes_no_other_host(kind: QueueKind) -> None:
    key = queue_key(kind)
    plain, dotted = Url.parse("http://www.example.org/a"), Url.parse("http://www.example.org.:8080/b")
    assert plain is not None and dotted is not None
    assert key(plain) == key(dotted) == ("www.example.org" if kind == "host" else "example.org")


def test_a_url_without_host_has_the_queue_of_files() -> None:
    file = Url.parse("file:///srv/a.html")
    assert file is not None
    assert queue_key("host")(file) == ""
