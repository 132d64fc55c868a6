"""Finds the values that the configuration asks for in every page."""

from collections.abc import Mapping

import msgspec

from gossamer.extract.fields.selector import Parsed, Selector, read_selector
from gossamer.model.document import HTML_TYPES, Document, Findings
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.policy.scope.address_pattern import address_pattern, address_problem

MATCH = "match"


class Group(msgspec.Struct, frozen=True):
    """Fields of pages of one kind.

    Attributes:
        name: of the section.
        match: pattern of the addresses, as in `policy.scope.address_pattern`; empty for all pages.
        selectors: by the field's name.
    """

    name: str
    match: str
    selectors: dict[str, Selector]

    def is_of(self, url: Url) -> bool:
        """Whether a page is of this kind."""
        if not self.match:
            return True
        return address_pattern(self.match).matches(url.text)


def read_groups(sections: Mapping[str, Mapping[str, str]]) -> list[Group]:
    """The groups of `[fields.*]`.

    Raises:
        ConfigError: lists every selector that cannot be read.
    """
    groups, problems = [], []
    for name, section in sections.items():
        selectors = {}
        for field, text in section.items():
            if field == MATCH:
                continue
            try:
                selectors[field] = read_selector(text)
            except ConfigError as error:
                problems.append(f"fields.{name}.{field}: {error}")
        if (problem := address_problem(section.get(MATCH, ""))) is not None:
            problems.append(f"fields.{name}.{MATCH}: is no regular expression of RE2 ({problem})")
        groups.append(Group(name, section.get(MATCH, ""), selectors))
    if problems:
        raise ConfigError("\n".join(problems))
    return groups


class FieldsExtractor(msgspec.Struct, frozen=True):
    """Finds the fields of all groups that a page is of; of two with one name the later group's counts."""

    groups: list[Group]
    name: str = "fields"
    media_types: frozenset[str] = HTML_TYPES
    isolated: bool = True

    def extract(self, document: Document) -> Findings:
        """The fields that the page has."""
        wanted = [group for group in self.groups if group.is_of(document.url)]
        if not any(group.selectors for group in wanted):
            return Findings()
        page = Parsed(document.content, document.charset, document.url)
        found: dict[str, object] = {}
        for group in wanted:
            for name, selector in group.selectors.items():
                if (value := page.value(selector)) is not None:
                    found[name] = value
        return Findings(fields=found)
