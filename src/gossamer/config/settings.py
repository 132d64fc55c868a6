"""The settings of any tree of msgspec structs: read, checked, merged, written; this page is the front.

**How settings travel.** `read_toml` makes a tree of a file, `merge` puts the command line's values into
it, `load` checks it all and makes the struct. `to_toml` writes that struct, with references in place of
secrets; `resolve_secrets` puts the secrets in for the run, and nothing writes them.
"""

from gossamer.config.secret_values import is_reference, resolve_secrets
from gossamer.config.settings_file import commented_toml, to_toml
from gossamer.config.settings_reader import Tree, load, merge, parse_toml, read_toml

__all__ = [
    "Tree",
    "commented_toml",
    "is_reference",
    "load",
    "merge",
    "parse_toml",
    "read_toml",
    "resolve_secrets",
    "to_toml",
]
