"""Groups of commands and their failures. A command's module is imported only when it runs, so `--help` is quick."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from app.platform.process.loading import loading


def fail(message: str) -> NoReturn:
    """Exit with a message and code 2."""
    typer.echo(f"aegis-server: {message}", err=True)
    raise SystemExit(2)


@dataclass(frozen=True)
class Command:
    """A command.

    Args:
        function: its location, as "module:function".
        summary: its line in the list of commands, the first sentence of the function's docstring.
        hidden: whether the list omits it.
    """

    function: str
    summary: str
    hidden: bool = False

    def load(self, name: str) -> TyperCommand:
        """Import the function as a command."""
        module, _, function = self.function.partition(":")
        application = typer.Typer(rich_markup_mode=None, add_completion=False)
        with loading():
            application.command(name, hidden=self.hidden)(getattr(import_module(module), function))
        return get_command(application)  # type: ignore[return-value]


class CommandGroup(TyperGroup):
    """Commands and groups of commands by name, in the order of the list."""

    def __init__(
        self,
        help: str,  # noqa: A002 -- typer's word
        parts: Mapping[str, "Command | CommandGroup"],
        options: Sequence[Any] = (),
    ) -> None:
        super().__init__(help=help, params=[*options], no_args_is_help=True, rich_markup_mode=None)
        self.parts = parts

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 -- typer's signature
        """The names."""
        return list(self.parts)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 -- typer's signature
        """The command or group with this name; None if there is none."""
        part = self.parts.get(cmd_name)
        return part.load(cmd_name) if isinstance(part, Command) else part

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- typer's signature
        """Find the command."""
        self.commands = dict.fromkeys(self.parts, TyperCommand(None))  # typer compares a misspelt name with these
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 -- typer's signature
        """List the commands without loading them."""
        listed = [
            (name, part.summary if isinstance(part, Command) else str(part.help))
            for name, part in self.parts.items()
            if not (isinstance(part, Command) and part.hidden)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(listed)
