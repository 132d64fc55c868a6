"""Settings: what they are, where they are read from, how they are written and explained.

`config` composes every room's own struct to one tree; `settings_reader` reads a TOML file and overrides
into it, and `settings_file` writes it back with comments. `dotted` and `units` are the two spellings that
people use: paths such as `place."example.org".politeness.min_delay`, and amounts such as "10s". Secrets are named by
reference and never written (`secret_values`). Every wrong name or value is refused with the nearest right
one; nothing is guessed in silence.
"""
