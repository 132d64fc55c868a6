"""What `why` says is data: every clause that is made has its words, every word has what it names."""

import ast
from pathlib import Path

import pytest

from gossamer.inspect.why import sentences
from gossamer.inspect.why.level_words import grade_told, grade_words, level_clause
from gossamer.inspect.why.sentences import Clause, clause, in_english
from gossamer.policy.ordering.best import BestConfig, BestFirst
from gossamer.policy.ordering.ordering import BreadthFirst
from gossamer.policy.places.place import Measure
from gossamer.words.catalogue import words

APP = Path(sentences.__file__).parent
STORY = {
    key.removeprefix("story."): text for key, text in words("en").table.items() if key.startswith("story.")
}
RANGES = {f"level.{what}" for what in ("depth", "depths", "step", "steps", "level", "levels")}
"""Keys that `level_clause` puts together."""


def made() -> list[tuple[str, frozenset[str]]]:
    """Key and names of the values of every clause in the code whose key is written out."""
    found = []
    for path in sorted(APP.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "clause":
                key = node.args[0]
                names = frozenset(str(word.arg) for word in node.keywords)
                if isinstance(key, ast.Constant):
                    found.append((str(key.value), names))
                elif path.stem == "by_place":
                    found.extend((f"place.by_{measure}", names) for measure in Measure)
                else:
                    assert path.stem == "level_words", f"{path.stem}: a key that is put together"
    return found


def named(text: str) -> frozenset[str]:
    from string import Formatter

    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_every_clause_has_words_that_name_its_values() -> None:
    calls = made()
    assert len(calls) > 50
    assert [call for call in calls if named(STORY[call[0]]) != call[1]] == []


def test_no_words_are_left_over() -> None:
    assert STORY.keys() - {key for key, _ in made()} == RANGES


@pytest.mark.parametrize(
    ("ordering", "first", "last", "key", "words"),
    [
        (BreadthFirst(), 4, 4, "level.depth", "depth 3"),
        (BreadthFirst(), 4, 1_235, "level.depths", "depth 3 to 1,234"),
        (BreadthFirst(), 0, 0, "level.robots", "robots files"),
        (BestFirst(BestConfig()), 77, 77, "level.step", "importance step "),
        (BestFirst(BestConfig()), 77, 777_777, "level.steps", "importance step "),
        (None, 5, 5, "level.level", "level 5"),
        (None, 5, 6, "level.levels", "level 5 to 6"),
    ],
)
def test_levels_are_data_too(ordering, first: int, last: int, key: str, words: str) -> None:
    told = level_clause(ordering, first, last)
    assert told.key == key
    assert in_english((told,)).startswith(words)
    assert named(STORY[key]) == told.values.keys()


@pytest.mark.parametrize("grade", [0, 2, 15])
def test_grades_say_the_same_as_their_words(grade: int) -> None:
    told = grade_told(grade)
    assert in_english(told) == grade_words(grade)
    assert bool(told) == bool(grade)


def test_a_value_is_never_read_for_braces() -> None:
    told = clause("canonical.rule", rule="{0}", before="{before}", after="{x.__class__}")
    assert in_english((told,)) == "rule {0} turns {before} into {x.__class__}"
    assert told == Clause("canonical.rule", {"rule": "{0}", "before": "{before}", "after": "{x.__class__}"})


def test_seconds_are_written_as_durations() -> None:
    for seconds, said in ((10.0, "10 s"), (5_400.0, "1 h 30 min"), (0.0, "0 s")):
        assert in_english((clause("again.fixed", interval=seconds),)) == f"is wanted every {said}"
