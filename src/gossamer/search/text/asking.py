"""Makes a query of the index of what was asked.

Nothing of what a user typed reaches tantivy's own parser. Words score, by BM25, most in titles; filters do not.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import msgspec

from gossamer.model.reasons.codes import QueryCode
from gossamer.model.reasons.reason import because
from gossamer.search.extra import needed
from gossamer.search.query import asked as ask
from gossamer.search.query.asked import Asked, Field, Kind
from gossamer.search.query.parser import Unreadable, read_query
from gossamer.search.text.kinds import CODE
from gossamer.search.text.schema import newest_from, whole_title, words_of
from gossamer.search.text.words import (
    LONGEST,
    STEMMERS,
    Words,
    common_in,
    is_single,
    is_spaceless,
    sequences,
    ways_of,
)

__all__ = ["Asking", "read", "scores", "several_words", "single_words"]

_WEIGHTS = {"title": 3.0, "headings": 1.5, "address": 0.7, "text": 1.0}
"""Of a word in each field."""
_PHRASED = ("title", "address", "text")
"""Fields that know the positions of words."""
_WHOLE_TITLE = 40.0
"""Of a title that is the query, beside that of its words."""
_NEAR = {"title": 2.0, "text": 0.7}
"""Of words that stand together as they were asked."""
_RUN = 4
"""Pairs of characters that must stand together; of longer runs all pairs must be there."""
_MOST_NEAR = 12


class _How(msgspec.Struct, frozen=True):
    """How parts are asked for: some of the words are enough; or none of it may be there."""

    some: bool = False
    denied: bool = False


class Asking:
    """Makes queries for one index."""

    def __init__(self, schema: Any, languages: Mapping[str, int], searcher: Any = None) -> None:
        """Args:
        schema: of the index.
        languages: tags of those in it, and how many documents are of each.
        searcher: tells how frequent words are; without, all forms of a word count the same.
        """
        self._schema = schema
        self._searcher = searcher
        self._frequency = lru_cache(10_000)(self._counted)
        self._ways = ways_of(languages)
        self._most = ways_of(sorted(languages, key=lambda one: -languages[one])[:1])[-1]
        self._tantivy = needed()
        self._query = self._tantivy.Query
        self._occur = self._tantivy.Occur

    def query(self, asked: Asked, *, some: bool = False) -> Any:
        """The query of a tree.

        Args:
            asked: what the user typed, read.
            some: not all of its words must be there, but one.
        """
        parts = asked.parts if isinstance(asked, ask.All) else (asked,)
        made = self._all(parts, _How(some=some))
        if made is None:
            return self._query.empty_query()
        if not _names_what_it_is(asked):
            code = self._term("tags", f"{Kind.TYPE}:{CODE}")
            made = self._query.boolean_query([(self._occur.Must, made), (self._occur.MustNot, code)])
        words = [*_plain_words(parts)]
        bonus = self._bonus(words) if 1 <= len(words) <= _MOST_NEAR else []
        if not bonus:
            return made
        should = self._occur.Should
        return self._query.boolean_query([(self._occur.Must, made), *((should, one) for one in bonus)])

    def _bonus(self, words: Sequence[ask.Words]) -> list[Any]:
        """What brings the page up whose title is the query, or that has its words together."""
        text = " ".join(word.text for word in words)
        found = [
            self._boosted(
                self._query.const_score_query(self._term("whole_title", whole_title(text)), 1.0), _WHOLE_TITLE
            )
        ]
        for field, weight in _NEAR.items():
            found += [
                self._boosted(self._phrase(field, one), weight * fair)
                for one, fair in self._forms(field, text)
                if len(one) > 1
            ]
        return found

    def _all(self, parts: Sequence[Asked], how: "_How") -> Any:
        """The query of all parts; everything if there are none, `None` if none can be looked for."""
        clauses: list[tuple[Any, Any]] = []
        some: list[Any] = []
        never = False
        for part in parts:
            if isinstance(part, ask.Not):
                query, occur = self._of(part.of, _How(denied=True)), self._occur.MustNot
            else:
                query, occur = self._of(part, how), self._occur.Must
            if query is None:
                never |= isinstance(part, ask.Words) and any(map(str.isalnum, part.text))
                continue
            if how.some and isinstance(part, ask.Words):
                some.append(query)
            else:
                clauses.append((occur, query))
        if some:
            clauses.append((self._occur.Must, self._any_of(some)))
        if parts and not clauses:
            return None
        if never and not some:  # a word that is too long for any index
            clauses.append((self._occur.Must, self._query.empty_query()))
        if not any(occur == self._occur.Must for occur, _ in clauses):
            clauses.append((self._occur.Must, self._sure(self._query.all_query())))
        return self._query.boolean_query(clauses)

    def _of(self, asked: Asked, how: "_How") -> Any:
        """The query of a part; `None` of words without a letter or digit, or longer than those in the index."""
        match asked:
            case ask.Words() if _is_anything(asked):
                return self._sure(self._query.all_query())
            case ask.Words():
                with _bounded(asked.text):
                    return self._words(asked, how)
            case ask.Filter():
                with _bounded(asked.value):
                    return self._sure(self._filter(asked))
            case ask.Span(since, before):
                return self._sure(self._span(since, before))
            case ask.All(parts):
                return self._all(parts, how)
            case ask.Not():
                return self._all((asked,), how)
            case ask.Any(parts):
                made = [one for part in parts if (one := self._of(part, how)) is not None]
                return self._any_of(made) if made else None

    def _words(self, words: ask.Words, how: "_How") -> Any:
        if words.pattern:
            if words.field is Field.URL:
                return self._query.const_score_query(self._regex("url", url_pattern(words.text)), 1.0)
            return self._beginning(words)
        if words.field is Field.URL:
            return self._phrases("address", words_of(words.text) if "://" in words.text else words.text)
        if words.field is Field.TITLE:
            return self._phrases("title", words.text)
        if how.some and (pieces := _pieces_of(words)):
            return self._any_of([self._words(one, how) for one in pieces])
        made = [
            self._boosted(query, weight)
            for field, weight in _WEIGHTS.items()
            if (query := self._phrases(field, words.text, loose=not words.phrase)) is not None
        ]
        if made and not words.phrase and not how.denied and not how.some:
            # Texts are kept without the commonest words of their language: they are taken to have them.
            common = common_in(words.text, self._ways)
            made += [self._sure(self._term("tags", f"lang:{language}")) for language in common]
        return self._any_of(made) if made else None

    def _phrases(self, field: str, text: str, *, loose: bool = False) -> Any:
        """A word, or words one after the other, in any of the languages' ways; `None` if there are none."""
        made = []
        for sequence, fair in self._forms(field, text):
            query = self._sequence(field, sequence, loose=loose)
            if query is not None:
                made.append(self._where_left_out(self._boosted(query, fair), text, sequence))
        return self._any_of(made) if made else None

    def _fair(self, field: str, text: str, sequence: Words) -> float | None:
        """By how much the form that a language gives to words is to count less.

        A form is rare that few documents are of the language of; a word that is written so in a quotation would bring
        these up. So none counts more than that of the language most documents are of. `None` if it is nowhere.
        """
        if self._searcher is None:
            return 1.0
        [most] = sequences(text, (self._most,), common=field != "text") or [()]
        if sequence == most or not most:
            return 1.0
        if not is_single(sequence[-1][1]) and not all(self._frequency(field, word) for _, word in sequence):
            return None
        weight = sum(self._weight(field, word) for _, word in sequence)
        return min(1.0, sum(self._weight(field, word) for _, word in most) / weight)

    def _counted(self, field: str, word: str) -> int:
        """Documents that have a word in a field."""
        return int(self._searcher.doc_freq(field, word))

    def _weight(self, field: str, word: str) -> float:
        """What a word is worth: its inverse document frequency, as BM25 has it."""
        has, documents = self._frequency(field, word), self._searcher.num_docs
        return math.log1p((max(documents - has, 0) + 0.5) / (has + 0.5))

    def _forms(self, field: str, text: str) -> Iterator[tuple[Words, float]]:
        """The words of a text in each of the languages' ways, and by how much each of these is to count less.

        What has a word that no document has in the field is left out, unless it is the way of most documents: most of
        what the languages make of a word is nowhere, and to look for it again costs as much as for what is there.
        """
        for sequence in sequences(text, self._ways, common=field != "text"):
            fair = self._fair(field, text, sequence)
            if fair is not None:
                yield sequence, fair

    def _where_left_out(self, query: Any, text: str, sequence: Words) -> Any:
        """A query of what some language leaves of a text is for documents of that language."""
        if sequence in sequences(text, self._ways):
            return query
        ways = [way for way in self._ways if sequence in sequences(text, (way,), common=False)]
        tags = [self._term("tags", f"lang:{language}") for language, way in STEMMERS.items() if way in ways]
        must = self._occur.Must
        return self._query.boolean_query([(must, query), (must, self._sure(self._any_of(tags)))])

    def _sequence(self, field: str, sequence: Words, *, loose: bool) -> Any:
        """Words one after the other; `None` in a field that does not know where its words stand."""
        if is_single(sequence[-1][1]):  # the first of a pair, wherever one may be
            return self._started(field, sequence)
        if len(sequence) == 1:
            return self._term(field, sequence[0][1])
        spaceless = all(is_spaceless(word) for _, word in sequence)
        if spaceless and (field not in _PHRASED or (loose and len(sequence) > _RUN)):
            must = [(self._occur.Must, self._term(field, word)) for _, word in sequence]
            return self._query.boolean_query(must)
        return self._phrase(field, sequence) if field in _PHRASED else None

    def _beginning(self, words: ask.Words) -> Any:
        """Words that begin so."""
        folded = sequences(words.text.rstrip("*"))
        if not folded:
            return None
        beginning = re.escape(folded[0][0][1]) + ".*"
        fields = ["title"] if words.field is Field.TITLE else [*_WEIGHTS]
        return self._any_of(
            [self._boosted(self._regex(field, beginning), _WEIGHTS[field]) for field in fields]
        )

    def _filter(self, asked: ask.Filter) -> Any:
        if asked.kind is not Kind.SITE:
            return self._term("tags", f"{asked.kind}:{asked.value}")
        authority, slash, path = asked.value.rpartition("://")[2].partition("/")
        host = re.sub(r":\d+$", "", authority).removeprefix("*").strip(".")
        site = self._term("tags", f"site:{host}")
        if not path:
            return site
        below = self._regex("url", rf"(?i)[a-z]+://[^/]*{re.escape(slash + path)}.*")
        return self._query.boolean_query([(self._occur.Must, site), (self._occur.Must, below)])

    def _span(self, since: float | None, before: float | None) -> Any:
        return self._query.range_query(
            self._schema, "newest", self._tantivy.FieldType.Integer,
            lower_bound=None if since is None else newest_from(int(since)),
            upper_bound=None if before is None else newest_from(int(before)), include_upper=before is None,
        )  # fmt: skip

    def _term(self, field: str, word: str) -> Any:
        return self._query.term_query(self._schema, field, word)

    def _phrase(self, field: str, sequence: Words) -> Any:
        return self._query.phrase_query(self._schema, field, list(sequence))

    def _started(self, field: str, sequence: Words) -> Any:
        if len(sequence) == 1 or field not in _PHRASED:
            return self._regex(field, f"{sequence[-1][1]}.*")
        return self._query.phrase_prefix_query(self._schema, field, list(sequence))

    def _sure(self, query: Any) -> Any:
        """What is asked for, and says nothing of how good an answer is."""
        return self._query.const_score_query(query, 0.0)

    def _regex(self, field: str, pattern: str) -> Any:
        return self._query.regex_query(self._schema, field, pattern)

    def _boosted(self, query: Any, boost: float) -> Any:
        return query if boost == 1.0 else self._query.boost_query(query, boost)

    def _any_of(self, queries: list[Any]) -> Any:
        if len(queries) == 1:
            return queries[0]
        return self._query.boolean_query([(self._occur.Should, query) for query in queries])


@contextmanager
def _bounded(pattern: str) -> Iterator[None]:
    """Refuse a pattern that would be too large a machine: tantivy allows 1,000 states."""
    try:
        yield
    except ValueError as error:
        if "regex" not in str(error).lower():
            raise
        raise Unreadable(because(QueryCode.PATTERN, pattern[:40])) from None


def read(text: str) -> Asked:
    """The tree of a query, as `read_query`, of which something can be looked for unless it is empty.

    Raises:
        Unreadable: it is refused; or there is no word, filter or date in it, only signs.
    """
    asked = read_query(text)
    if not _says_something(asked) or (asked == ask.All() and text.strip()):
        raise Unreadable(because(QueryCode.NOTHING, LONGEST))
    return asked


def _says_something(asked: Asked) -> bool:
    match asked:
        case ask.Words(text, field, pattern=pattern):
            return (
                _is_anything(asked) or (pattern and field is Field.URL) or bool(sequences(text.rstrip("*")))
            )
        case ask.Not(of):
            return _says_something(of)
        case ask.All(parts) | ask.Any(parts):
            return not parts or any(map(_says_something, parts))
    return True


def _is_anything(words: ask.Words) -> bool:
    """Whether it is but a star."""
    return not words.phrase and not words.text.strip("*")


def _names_what_it_is(asked: Asked) -> bool:
    """Whether it asks for a type or an address, by which style sheets and scripts are found, too."""
    match asked:
        case ask.Filter(kind):
            return kind is Kind.TYPE
        case ask.Words(field=field):
            return field is Field.URL
        case ask.All(parts) | ask.Any(parts):
            return any(map(_names_what_it_is, parts))
    return False


def several_words(asked: Asked) -> bool:
    """Whether some of the words can be enough, where no document has all."""
    return len(single_words(asked)) > 1


def single_words(asked: Asked) -> list[ask.Words]:
    """The words of which some can be enough, sentences without blanks in their pieces."""
    parts = asked.parts if isinstance(asked, ask.All) else (asked,)
    return [one for part in parts if isinstance(part, ask.Words) for one in _pieces_of(part) or (part,)]


def _pieces_of(words: ask.Words) -> tuple[ask.Words, ...]:
    """The pieces of a sentence in a script without blanks, any of which may be enough; none of other words.

    It stands in the query as one word. Its pieces are the pairs of neighbouring characters.
    """
    if words.phrase or words.pattern or words.field is Field.URL:
        return ()
    said = dict.fromkeys(word for sequence in sequences(words.text) for _, word in sequence)
    if len(said) < 2 or not any(map(is_spaceless, said)):
        return ()
    pieces = [word for word in said if not is_single(word)]
    return tuple(msgspec.structs.replace(words, text=word) for word in pieces) if len(pieces) > 1 else ()


def scores(asked: Asked) -> bool:
    """Whether some of what is asked tells pages apart by more than yes or no."""
    match asked:
        case ask.Words(pattern=pattern, field=field):
            return not _is_anything(asked) and not (pattern and field is Field.URL)
        case ask.All(parts) | ask.Any(parts):
            return any(scores(part) for part in parts)
    return False


def url_pattern(pattern: str) -> str:
    """A regular expression of an address: a star stands for any characters, a question mark for one.

    It may begin anywhere, unless with a scheme, and ends where the address ends.
    """
    begun = "" if "://" in pattern else ".*"
    made = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return f"(?i){begun}{made}"


def _plain_words(parts: Iterable[Asked]) -> Iterator[ask.Words]:
    """Words that must all be there, anywhere, those in brackets too."""
    for part in parts:
        if isinstance(part, ask.All):
            yield from _plain_words(part.parts)
        elif isinstance(part, ask.Words) and part.field is Field.ANYWHERE and not part.pattern:
            yield part
