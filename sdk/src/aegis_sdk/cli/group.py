"""The group of all commands. A module is imported only when its command runs, so that `aegis --help` is quick."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.loading import loading
from aegis_sdk.cli.terminal import warn
from aegis_sdk.cli.version import version_options

DISTRIBUTION = "aegis-sdk"
"""What has the version that the program shows."""

PROVIDER = "provider"
"""The entry point of the provider's package."""

ENTRY_POINTS = "aegis.commands"
"""The entry point group in which other distributions register a `CommandSection`."""


INSTALL = "pip install ./advisor ./provider"
"""The command that installs the provider's package and what it needs."""


@dataclass(frozen=True)
class Command:
    """A command of `aegis`.

    Args:
        function: Its location as "module:function"; the function's name is the command's, with hyphens.
        summary: One sentence for the list of commands: the first of the function's docstring.
        example: An example call.
    """

    function: str
    summary: str
    example: str

    @property
    def name(self) -> str:
        """The name that people type."""
        return self.function.partition(":")[2].replace("_", "-")

    def load(self) -> Any:  # noqa: ANN401 - typer's class of commands is private
        """Import the function and make a command of it.

        Raises:
            AegisError: A library that it needs is not installed.
        """
        module, _, name = self.function.partition(":")
        application = typer.Typer(rich_markup_mode=None, add_completion=False)
        try:
            with loading():
                function = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            library = (error.name or "").partition(".")[0]
            if library == module.partition(".")[0]:
                raise
            raise AegisError(f"{library} is not installed, but `aegis {self.name}` needs it: {INSTALL}") from error
        application.command(self.name, epilog=f"Example: {self.example}")(function)
        return get_command(application)


@dataclass(frozen=True)
class CommandSection:
    """The commands of a distribution, in the order in which people need them, with a title for the help."""

    title: str
    commands: tuple[Command, ...]


class CommandGroup(TyperGroup):
    """The commands of the SDK, and those that other distributions register by an entry point."""

    def __init__(self, name: str, help: str, epilog: str) -> None:  # noqa: A002 - typer's word
        options = version_options(name, DISTRIBUTION)
        super().__init__(name=name, help=help, epilog=epilog, params=options, rich_markup_mode=None)
        self.sections = list(_sections())
        # The first command of a name runs, so no other distribution can replace a command of the SDK.
        self._records: dict[str, Command] = {}
        for each in (command for section in self.sections for command in section.commands):
            self._records.setdefault(each.name, each)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's signature
        """The names, in the order in which people need them."""
        return list(self._records)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Load the requested command."""
        record = self._records.get(cmd_name)
        return record and record.load()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer's signature
        """Find the command; if it is unknown and the provider's package is missing, say how to install that."""
        known = args[0] in self._records or args[0].startswith("-") or get_close_matches(args[0], self._records)
        if not known and not any(each.name == PROVIDER for each in entry_points(group=ENTRY_POINTS)):
            raise InputError(
                f"unknown command {args[0]!r}; commands for tables come with the provider's package: {INSTALL}"
            )
        self.commands = dict.fromkeys(self._records, TyperCommand(None))  # typer compares a misspelt name with these
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's signature
        """List the commands from their records, without loading any."""
        for section in self.sections:
            listed = [each for each in section.commands if self._records[each.name] is each]
            if listed:
                with formatter.section(section.title):
                    formatter.write_dl([(each.name, each.summary) for each in listed])


def _sections() -> Iterator[CommandSection]:
    from aegis_sdk.cli.commands import SECTION  # noqa: PLC0415 - it imports this module

    yield SECTION
    for each in entry_points(group=ENTRY_POINTS):
        try:
            section = each.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not break the other commands
            warn(f"the commands of {each.value} cannot be loaded: {error}")
            continue
        if isinstance(section, CommandSection):
            yield section
        else:
            warn(f"the commands of {each.value} cannot be loaded: it is not a CommandSection")
