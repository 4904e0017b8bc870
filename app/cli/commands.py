"""The registry of the operator's commands. A command's module is imported only when it runs, so `--help` is quick."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from aegis_sdk.cli.group import loading, version_options
from app.platform.errors import OperatorError, RefusalError


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


cli = CommandGroup(
    "Run and administer the Aegis service. Every option has an environment variable `AEGIS_...`.",
    {
        "serve": Command("app.cli.serving:serve", "Run the whole service until SIGTERM."),
        "api": Command("app.cli.serving:api", "Run the API alone, as `serve` starts it.", hidden=True),
        "worker": Command("app.cli.serving:worker", "Run one more worker, on any machine that can reach the database."),
        "migrate": Command("app.cli.serving:migrate", "Bring the database to the newest revision."),
        "openapi": Command("app.cli.serving:openapi", "Write the OpenAPI document."),
        "replay": Command(
            "app.cli.replay:replay",
            "Compute an answer again from the counts of its version, and compare it with the stored one bit for bit.",
        ),
        "keys": CommandGroup(
            "Create, list and revoke API keys, and renew the server key.",
            {
                "create": Command("app.cli.tenants:create_key", "Create a key and print it."),
                "list": Command(
                    "app.cli.tenants:list_keys",
                    "List every key ever created: prefix, tenant, role, whether it is valid, and when it was last "
                    "used.",
                ),
                "revoke": Command("app.cli.tenants:revoke_key", "Revoke a key."),
                "renew-server-key": Command(
                    "app.cli.tenants:renew_server_key",
                    "Replace the key of the digests shown to others, and compute these digests again.",
                ),
            },
        ),
        "tenants": CommandGroup(
            "Set and list the policies and quotas of tenants.",
            {
                "set": Command(
                    "app.cli.tenants:set_tenant",
                    "Set a tenant's policy, which adds to the service's, and its quota.",
                ),
                "list": Command("app.cli.tenants:list_tenants", "List every tenant with its policy."),
            },
        ),
        "audit": CommandGroup(
            "Export the audit log, and check an exported one.",
            {
                "export": Command(
                    "app.cli.audit_export:export",
                    "Write the whole audit log: JSON lines, first the signed heads, then the records, oldest first.",
                ),
                "verify": Command("app.cli.audit:verify", "Check an exported log without a database."),
            },
        ),
    },
    version_options("aegis-server", "aegis-masking-server"),
)


def main() -> NoReturn:
    """Run a command. An error that the operator can correct is one line, with exit code 2."""
    try:
        cli(auto_envvar_prefix="AEGIS")
    except (OperatorError, RefusalError) as error:
        fail(str(error))
    sys.exit(0)
