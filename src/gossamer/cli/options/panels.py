"""How `--help` shows commands and their options."""

from collections import UserDict
from importlib import import_module
from typing import Any

import click

OTHERS = "Options"


class Option(click.Option):
    """An option with the heading it stands under."""

    def __init__(self, *names: Any, panel: str = OTHERS, help: Any = None, **settings: Any) -> None:  # noqa: A002 (click's name)
        """`help` may be a function that makes the text when it is shown, of what takes long to import."""
        super().__init__(*names, **settings)
        self.panel, self._help = panel, help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option, and what it says."""
        self.help = self._help() if callable(self._help) else self._help
        return super().get_help_record(ctx)


class _WithExample(click.Command):
    """A command whose last words, which hold commands to be copied, stand in one line: a terminal wraps it, a paste
    does not end amid it."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 (click's)
        """Write them as they are."""
        if self.epilog:
            formatter.write(f"\n  {self.epilog}\n")


class Command(_WithExample):
    """A command whose help shows its options by panel, and which refuses two options that exclude each other."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse options that say the same setting differently; of those click would silently take the last.

        Raises:
            UsageError: two were given.
        """
        first: dict[str, click.Parameter] = {}
        for given in self.make_parser(ctx).parse_args(args=list(args))[2]:
            known = first.setdefault(given.name or "", given)
            if known is not given:
                names = " and ".join(one.opts[-1] for one in (known, given))
                raise click.UsageError(f"{names} exclude each other: give one of them", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section for each panel, in the order in which their first options were declared."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            panel = parameter.panel if isinstance(parameter, Option) else OTHERS
            if isinstance(parameter, click.Option) and (row := parameter.get_help_record(ctx)) is not None:
                panels.setdefault(panel, []).append(row)
        panels[OTHERS] = panels.pop(OTHERS, [])  # what is special comes first
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


class QueryCommand(Command):
    """A command whose arguments may begin as options do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say how they are written, where one was taken for an option.

        Raises:
            NoSuchOption: there is no such option.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            told = f"{error.message} Words that begin with - come after --."
            raise click.NoSuchOption(error.option_name, told, error.possibilities, error.ctx) from None


class LazyCommands(UserDict[str, Any]):
    """Commands by name, each loaded when it is asked for; until then the name of its module stands in its place."""

    def __getitem__(self, name: str) -> click.Command:
        known = self.data[name]
        if isinstance(known, click.Command):
            return known
        defined = vars(import_module(known)).values()
        command = next(one for one in defined if isinstance(one, click.Command) and one.name == name)
        self.data[name] = command
        return command


class Commands(_WithExample, click.Group):
    """Commands in the order of their declaration: the first that are needed come first."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click wants it)
        """Names of the commands, in the order of their panels."""
        return list(self.commands)
