"""The entry point. It imports little, since child processes import it, too."""

from typing import NoReturn

from app.platform.process.loading import loading


def main() -> NoReturn:
    """Run a command of `aegis-server`."""
    with loading():
        from app.cli.commands import main  # noqa: PLC0415 -- see above

    main()
