"""Groups of commands, and how they fail. A module is imported only when its command is asked for, so that `--help` is
quick.
"""

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
        function: where it is, as "module:function".
        summary: a sentence for the list of commands: how the function's docstring begins.
        hidden: whether it is left out of this list.
    """

    function: str
    summary: str
    hidden: bool = False

    def load(self, name: str) -> TyperCommand:
        """Import the function, and make a command of it."""
        module, _, function = self.function.partition(":")
        application = typer.Typer(rich_markup_mode=None, add_completion=False)
        with loading():
            application.command(name, hidden=self.hidden)(getattr(import_module(module), function))
        return get_command(application)  # type: ignore[return-value]


class CommandGroup(TyperGroup):
    """Commands and groups of these, by their names, in the order in which the list has them."""

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
        """Load a command, or return a group; None if there is none of this name."""
        part = self.parts.get(cmd_name)
        return part.load(cmd_name) if isinstance(part, Command) else part

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- typer's signature
        """Find the command."""
        self.commands = dict.fromkeys(self.parts, TyperCommand(None))  # typer compares a misspelt name with these
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 -- typer's signature
        """List the commands by what is known of them, without loading any."""
        listed = [
            (name, part.summary if isinstance(part, Command) else str(part.help))
            for name, part in self.parts.items()
            if not (isinstance(part, Command) and part.hidden)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(listed)
