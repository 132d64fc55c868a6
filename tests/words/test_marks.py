"""Whatever kept a document from being read whole has words in each language."""

from every import every

from gossamer.datasets.deriving import no_answer
from gossamer.documents.said import Mark
from gossamer.extract.isolation.processes import Why
from gossamer.words.amounts import LANGUAGES
from gossamer.words.catalogue import words

MARKS = [*map(str, Mark), *(no_answer(why) for why in Why)]


@every("language", LANGUAGES)
@every("mark", MARKS)
def test_a_mark_has_words(language: str, mark: str) -> None:
    said = words(language).table[f"mark.{mark}"]
    assert said == words(language).said("mark", mark)
    assert said != mark or (language, mark) in {("en", "cut"), ("en", "encrypted")}
