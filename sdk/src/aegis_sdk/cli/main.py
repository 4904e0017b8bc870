"""How the command is called, and how it ends."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import typer

from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import BAD_INPUT, FAILED, exit_code, explained, fail
from aegis_sdk.cli.group import CommandGroup
from aegis_sdk.cli.signals import ended_by_signals

HELP = "Find the masking configuration that keeps the most predictive utility, without showing a record."
EPILOG = "The service and the key: AEGIS_URL (http://127.0.0.1:8000) and AEGIS_API_KEY."

_FULL_OR_GONE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def command_group() -> CommandGroup:
    """`aegis` with every command that is installed."""
    return CommandGroup(name="aegis", help=HELP, epilog=EPILOG)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits: 0, 2 for bad input, 1 otherwise; a failure is one line on stderr.

    A signal (SIGINT, SIGTERM, SIGHUP) ends it without a word, by 128 and its number, and leaves nothing behind.
    """
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        with ended_by_signals():
            code = command_group()(args=words or ["--help"], prog_name="aegis", standalone_mode=False) or 0
            sys.stdout.flush()
    except typer.TyperException as error:
        code = fail(error.format_message(), BAD_INPUT)
    except AegisError as error:
        code = fail(explained(error), exit_code(error))
    except OSError as error:
        code = fail(f"stdout: {error.strerror}" if _is_of_stdout(error) else str(error), FAILED)
        if _is_of_stdout(error):
            _give_up_stdout()
    sys.exit(code)


def _is_of_stdout(error: OSError) -> bool:
    """Whether it comes of printing: files complain with their name."""
    return error.filename is None and error.errno in _FULL_OR_GONE


def _give_up_stdout() -> None:
    """What could not be printed is not tried again at exit, which would complain of it in its own way."""
    with suppress(io.UnsupportedOperation), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
