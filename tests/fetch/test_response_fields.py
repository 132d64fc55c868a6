"""The fields of response heads, as they are read of what came."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.head import parse_fields

_LINES = st.lists(
    st.text("ab:\r\xa0\t", max_size=6).filter(lambda line: line[:1] not in ("\t", " ")), max_size=6
)


@given(_LINES, st.sampled_from(("\n", "\r\n")))
def test_a_line_that_goes_on_changes_nothing_of_those_before_it(lines: list[str], end: str) -> None:
    head = end.join(("HTTP/1.1 200 OK", *lines, ""))
    fields = parse_fields(head.encode("latin-1")).fields
    last = f"last: begins{end} and goes on{end}{end}"
    assert parse_fields((head + last).encode("latin-1")).fields == [*fields, ("last", "begins and goes on")]
    assert [name for name, _ in fields] == [
        line.rstrip("\r").partition(":")[0].rstrip(" \t\r") for line in lines if ":" in line
    ]


def test_of_a_field_that_stands_twice_the_first_is_meant() -> None:
    headers = parse_fields(b"HTTP/1.1 200 OK\r\nETag: a\r\nno field\r\netag : b\r\n\r\n")
    assert (headers.get("etag"), headers.get_all("etag")) == ("a", ["a", "b"])
