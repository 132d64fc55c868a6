"""Every rule has its sentence in each language and its line in the documentation; every verdict and code has words."""

from pathlib import Path

import pytest

from gossamer.audit.rules import RULES, Level, Rule
from gossamer.policy.linkcheck.verdicts import Code, LinkVerdict
from gossamer.words.amounts import LANGUAGES
from gossamer.words.catalogue import Words

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "audit.md").read_text("utf-8")


def test_each_rule_has_a_line_with_its_level_and_its_sentence() -> None:
    words = Words("en")
    for rule, level in RULES.items():
        line = f'| <a id="{rule.value}"></a>`{rule.value}` | {level.value} | {words(f"finding.{rule.value}")}'
        assert line in PAGE, rule


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_has_words(language: str) -> None:
    table = Words(language).table
    for group, values in (
        ("finding", Rule),
        ("link_verdict", LinkVerdict),
        ("link_code", Code),
        ("finding_level", Level),
    ):
        assert {key for key in table if key.startswith(f"{group}.")} == {
            f"{group}.{one.value}" for one in values
        }
