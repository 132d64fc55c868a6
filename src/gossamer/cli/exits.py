"""Exit codes of the commands."""

EXIT_NOTHING = 1
"""The command has run, but its answer is no: nothing found, something amiss, or a change where none was hoped for."""
EXIT_CONFIG = 2
EXIT_STORAGE = 3
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
