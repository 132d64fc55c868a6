"""The command line: arguments in, tables out."""

import os
import sys

from gossamer import NOT_ON_WINDOWS
from gossamer.cli.exits import EXIT_CONFIG, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_NOTHING, EXIT_STORAGE
from gossamer.cli.terminal.ctrl_c import pressed, watch
from gossamer.cli.terminal.printing import say
from gossamer.cli.terminal.streams import complete, leave, nobody_reads
from gossamer.model.errors import ConfigError, GossamerError, StorageError, UnreadableError


def main() -> None:
    """Run the `gossamer` command and exit with its status."""
    if os.name == "nt":
        say(f"gossamer: {NOT_ON_WINDOWS}")
        sys.exit(EXIT_CONFIG)
    from gossamer.engine.heap import seldom_collect

    seldom_collect()  # first, because imports make containers and no cycles
    complete()
    watch()
    try:
        from gossamer.cli.options.commands import run

        run()
    except ConfigError as error:
        for problem in error.problems:
            say(f"gossamer: {problem}")
        sys.exit(EXIT_CONFIG)
    except StorageError as error:
        say(f"gossamer: {error}")
        sys.exit(EXIT_STORAGE)
    except UnreadableError as error:
        say(f"gossamer: {error}")
        sys.exit(EXIT_NOTHING)
    except GossamerError as error:
        say(f"gossamer: {error}")
        sys.exit(EXIT_INTERNAL)
    except KeyboardInterrupt:
        say("gossamer: interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and nobody_reads():
            sys.exit(0)  # whoever read our output has seen enough
        where = f" ({error.filename})" if error.filename else ""
        say(f"gossamer: {error.strerror or error}{where}")
        sys.exit(EXIT_STORAGE)
    except Exception:
        if not pressed():
            raise
        say("gossamer: interrupted")
        sys.exit(EXIT_INTERRUPTED)
    finally:
        leave()
