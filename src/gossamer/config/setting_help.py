"""Says of single settings what they mean: for those who look for one, not for all of them."""

from collections.abc import Iterator

import msgspec

from gossamer.config.dotted import nearest
from gossamer.config.settings_file import sentence
from gossamer.config.settings_reader import not_a_setting
from gossamer.config.shape import Kind, Setting, settings_of
from gossamer.config.toml_text import entry, example
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason, of


class SettingHelp(msgspec.Struct, frozen=True):
    """One setting.

    Attributes:
        path: dotted; `NAME` stands for what a section is called by, such as a host.
        written: its default as TOML has it, or an example as a comment if it has none.
        meaning: what it does, with the limits of its value.
    """

    path: str
    written: str
    meaning: str


def all_settings(struct_type: type[msgspec.Struct], prefix: str = "") -> Iterator[SettingHelp]:
    """Every setting, in the order of the file."""
    for setting in settings_of(struct_type):
        shape, path = setting.shape, f"{prefix}{setting.key}"
        if setting.told_elsewhere:
            continue
        if shape.kind is Kind.TABLE:
            yield from all_settings(shape.core, f"{path}.")
        elif shape.kind is not Kind.LEAF and shape.item is not None and shape.item.kind is Kind.TABLE:
            name = ".NAME" if shape.kind is Kind.MAPPING else "[]"
            yield from all_settings(shape.item.core, f"{path}{name}.")
        else:
            yield SettingHelp(path, _written(setting), sentence(setting, required=False))


def _written(setting: Setting) -> str:
    if setting.default is None or setting.shape.secret or setting.shape.kind is Kind.MAPPING:
        return f"# {setting.key} = {example(setting)}" if setting.shape.kind is Kind.LEAF else ""
    return "\n".join(entry(setting.key, setting.default, setting.shape))


def find_settings(struct_type: type[msgspec.Struct], names: list[str], word: str) -> list[SettingHelp]:
    """The settings of those names or sections, and those that a word occurs in.

    Raises:
        ConfigError: a name is none; says which was meant.
    """
    known = list(all_settings(struct_type))
    found: dict[str, SettingHelp] = {}
    problems = []
    for name in names:
        inside = [one for one in known if one.path == name or one.path.startswith((f"{name}.", f"{name}["))]
        inside = inside or [one for one in known if one.path.rpartition(".")[2] == name]
        found |= {one.path: one for one in inside}
        if not inside:
            problems.append(_unknown(name, known))
    if problems:
        raise ConfigError(*problems)
    if word:
        wanted = word.lower()
        found |= {
            one.path: one for one in known if wanted in one.path.lower() or wanted in one.meaning.lower()
        }
    return list(found.values())


def _unknown(name: str, known: list[SettingHelp]) -> Reason:
    paths = [one.path for one in known]
    sections = dict.fromkeys(path.partition(".")[0] for path in paths)
    return of(name, not_a_setting(nearest(name, [*paths, *sections])))
