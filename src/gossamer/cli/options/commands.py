"""The command line: which commands there are, and where each is defined.

A command's module is loaded when it is called, or when all are listed: the options of all together take longer to load
than many a command takes to run.
"""

import os
import sys

import click

from gossamer.cli.options.panels import Commands, LazyCommands

COMMANDS = {
    "demo": "crawl_commands",
    "crawl": "crawl_commands",
    "resume": "crawl_commands",
    "status": "running_commands",
    "set": "running_commands",
    "pause": "running_commands",
    "unpause": "running_commands",
    "changed": "running_commands",
    "why": "running_commands",
    "refetch": "running_commands",
    "get": "reading_commands",
    "view": "reading_commands",
    "proxy": "reading_commands",
    "diff": "reading_commands",
    "list": "reading_commands",
    "index": "text_commands",
    "upload": "export_commands",
    "search": "text_commands",
    "similar": "text_commands",
    "watch": "text_commands",
    "sql": "text_commands",
    "check": "export_commands",
    "audit": "audit_command",
    "traps": "running_commands",
    "export": "export_commands",
    "mirror": "export_commands",
    "report": "export_commands",
    "fields": "trying_commands",
    "login": "trying_commands",
    "robots": "trying_commands",
    "dns": "trying_commands",
    "config": "trying_commands",
    "serve": "serve_commands",
    "serve-user": "serve_commands",
    "cluster": "cluster_commands",
}
"""The module of each, in the order of `gossamer --help`: the first that are needed come first."""

COMPLETE = "_GOSSAMER_COMPLETE"
"""The variable in which a shell asks for completion: `bash_source`, `zsh_source` or `fish_source` for its script."""


@click.group(
    cls=Commands,
    commands=LazyCommands({name: f"gossamer.cli.options.{module}" for name, module in COMMANDS.items()}),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="First steps: gossamer demo, then gossamer crawl https://example.org/ --max-pages 20",
)
@click.version_option(package_name="gossamer", message="gossamer %(version)s")
def app() -> None:
    """A polite, durable web crawler that explains itself."""


def run() -> None:
    """Do what the command line says.

    Not by click's own `main`, which ends with status 1 and no word if any pipe breaks, be it a library's. A shell that
    completes a line says so in the environment, as with any program of click's.

    Raises:
        KeyboardInterrupt: interrupted.
        BrokenPipeError: nobody reads what we print, or a pipe of a library has broken.
    """
    if completing := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(app, {}, "gossamer", COMPLETE, completing))
    try:
        with app.make_context("gossamer", sys.argv[1:]) as context:
            app.invoke(context)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as end:  # --help, --version
        sys.exit(end.exit_code)
    except (click.Abort, EOFError):  # Ctrl-D at a question
        raise KeyboardInterrupt from None
