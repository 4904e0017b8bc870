"""The entry point of `aegis-server`. It imports little, since child processes import it, too."""

from typing import NoReturn


def main() -> NoReturn:
    """Run a command."""
    from app.cli import commands  # noqa: PLC0415 -- see above

    commands.main()


if __name__ == "__main__":
    main()
