"""The option `--version` of a program."""

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.main import get_command


def version_options(program: str, distribution: str) -> list[Any]:
    """The option for a group of commands: it prints the program with the version of an installed distribution."""

    def show(is_asked: bool) -> None:  # noqa: FBT001 - typer's signature
        if is_asked:
            typer.echo(f"{program} {version(distribution)}")
            raise typer.Exit

    option = typer.Option(
        "--version",
        is_eager=True,
        expose_value=False,
        allow_from_autoenv=False,  # AEGIS_VERSION may be somebody's name of an image
        callback=show,
        help="Show the version and exit.",
    )

    def options(*, version: Annotated[bool, option] = False) -> None: ...

    application = typer.Typer(add_completion=False)
    application.command()(options)
    return get_command(application).params
