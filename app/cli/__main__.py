"""The entry point of `aegis-server`. It imports little, since child processes import it, too."""

from typing import NoReturn

from app.platform.process.loading import loading


def main() -> NoReturn:
    """Run a command."""
    with loading():
        from app.cli import commands  # noqa: PLC0415 -- see above

    commands.main()


if __name__ == "__main__":
    main()
