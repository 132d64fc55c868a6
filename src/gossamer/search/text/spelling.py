"""Makes a query of words that may be misspelt: for titles that have words almost like them."""

from collections.abc import Sequence
from typing import Any

from gossamer.search.extra import needed
from gossamer.search.text.words import Ways, is_spaceless, sequences

_LEAST, _LONG, _LONGEST = 4, 7, 40
"""Letters of a word that may have a mistake; that may have two; that may have any."""


def spelt(schema: Any, words: Sequence[str], ways: Ways) -> Any:
    """Titles with all of the words, each of which may be spelt otherwise: a letter more, less, another, or two of them
    swapped.

    Words of scripts that write no blanks are as they are: of two characters one is no mistake.
    """
    query, must, should = needed().Query, needed().Occur.Must, needed().Occur.Should

    def like(word: str) -> Any:
        letters = len(word)
        if not _LEAST <= letters <= _LONGEST or is_spaceless(word):
            return query.term_query(schema, "title", word)
        return query.fuzzy_term_query(schema, "title", word, 2 if letters >= _LONG else 1)

    asked = []
    for word in words:
        forms = [
            query.boolean_query([(must, like(one)) for _, one in sequence])
            for sequence in sequences(word, ways)
        ]
        if forms:
            asked.append((must, query.boolean_query([(should, form) for form in forms])))
    return query.boolean_query(asked) if asked else query.empty_query()
