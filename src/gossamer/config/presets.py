"""What a crawl is for, as one word: settings that go together (decision 0032).

The word is of whoever begins a crawl; it becomes plain settings before these are checked, and the folder keeps those.
So a crawl that is resumed stays what it was, whatever the word stands for in a later version.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gossamer.config.dotted import split_path
from gossamer.config.settings_reader import Tree, merge
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because, of

KEY: Final = "for"
"""The name beside the settings, in TOML too."""

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        # What a page loads, and what its scripts ask for, so that it can be seen again.
        "archive": {"scope.requisites": "any", "speculation.follow": True},
        # What pages and documents say.
        "text": {"scope.requisites": "off", "documents.follow": True},
        # Who mentions what, and in which words.
        "links": {"scope.requisites": "off", "extract.anchor_text": True},
        # Pages with what they load, as files: links in scripts are not rewritten, so they are not fetched either.
        "mirror": {"scope.requisites": "any", "speculation.follow": False},
    }
)
"""Settings by their paths, by word. None needs that a person gives more, such as a budget or days of visits."""


def with_preset(tree: Tree) -> Tree:
    """Settings in which the word, if there is one, has become what it stands for; what is set anyway stays.

    Raises:
        ConfigError: it is none of the words.
    """
    if KEY not in tree:
        return tree
    word = tree[KEY]
    if not isinstance(word, str) or word not in PRESETS:
        raise ConfigError(of(KEY, because(ProblemCode.PRESET, str(word), ", ".join(PRESETS))))
    rest = {name: value for name, value in tree.items() if name != KEY}
    return merge(rest, {path: value for path, value in PRESETS[word].items() if not _is_set(rest, path)})


def _is_set(tree: Tree, path: str) -> bool:
    """Whether the tree says something of the setting, be it nonsense."""
    table: Any = tree
    for name in split_path(path):
        if not isinstance(table, dict):
            return True
        if name not in table:
            return False
        table = table[name]
    return True
