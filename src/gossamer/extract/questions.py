"""What a search form is asked: the addresses of its answers to words.

Source: WHATWG URL 5.2 (`application/x-www-form-urlencoded`) and HTML 4.10.21. Deviation: a word that the form's
encoding cannot say is not asked; browsers send character references in place of its letters, which no page holds.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote_from_bytes, unquote_plus

from gossamer.extract.encodings.charset import codec_of
from gossamer.model.url import Url
from gossamer.policy.speculation.form import form_within

__all__ = ["answers", "form_encoded", "repeats"]

_LINE_END = re.compile(r"\r\n?|\n")


def answers(url: Url, element: str, words: Iterable[str]) -> Iterator[tuple[str, Url]]:
    """Each word with the address at which a form answers it.

    Args:
        url, element: of the link that the form is.
        words: those that the encoding of the form cannot say are left out.
    """
    charset, name = form_within(element)
    parts = url.query.split("&")
    if f"{name}=" not in parts:
        return  # it has lost its field on the way
    place = parts.index(f"{name}=")
    before, after = "&".join([*parts[:place], f"{name}="]), "".join(f"&{part}" for part in parts[place + 1 :])
    address = f"{url.origin}{url.path}?{before}"
    for word in words:
        try:
            said = form_encoded(word, charset, "strict")
        except UnicodeEncodeError:
            continue
        answer = Url.parse(f"{address}{said}{after}")
        if answer is not None:
            yield word, answer


def repeats(url: Url, asked: Url, word: str) -> bool:
    """Whether the query of a URL holds the word that was asked: more of the same answer, or in another order.

    Args:
        asked: where the word was asked, in whatever encoding.
    """
    if not url.query:
        return False
    if _words(word) <= _words(unquote_plus(url.query)):
        return True
    values = [part.partition("=")[2] for part in asked.query.split("&")]
    return any("\ufffd" in unquote_plus(value) and value in url.query for value in values)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def form_encoded(text: str, charset: str, errors: str = "xmlcharrefreplace") -> str:
    """As it stands in a query: WHATWG URL 5.2, which spares `*-._` and turns a blank into `+`."""
    codec = "gbk" if charset == "gbk" else codec_of(charset)
    raw = _LINE_END.sub("\r\n", text).encode(codec, errors)
    return quote_from_bytes(raw, "* ").replace(" ", "+").replace("~", "%7E")
