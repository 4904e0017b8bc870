"""The entry point of the command, and how it ends."""

import errno
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import typer

from aegis_sdk._errors import AegisError, KeyExpiresWarning
from aegis_sdk.cli.group import DISTRIBUTION, CommandGroup, installed_sections, version_options
from aegis_sdk.cli.signals import ended_by_signals
from aegis_sdk.cli.terminal import BAD_INPUT, FAILED, InputError, exit_code, explained, fail, warn

HELP = "Find the masking configuration that keeps the most predictive utility, without showing a record."
EPILOG = "AEGIS_URL sets the service's address (default http://127.0.0.1:8000), and AEGIS_API_KEY the key."

_FULL_OR_GONE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def command_group() -> CommandGroup:
    """The command `aegis` with all installed commands."""
    options = version_options("aegis", DISTRIBUTION)
    return CommandGroup("aegis", HELP, list(installed_sections()), is_open=True, epilog=EPILOG, params=options)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with 0, with 2 for bad input, or with 1 otherwise. A failure is one line on stderr.

    A signal (SIGINT, SIGTERM, SIGHUP) ends the command with 128 plus its number. Files that remain are reported.
    """
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        _print_what_the_encoding_has()
        _refuse_no_text(words)
        with ended_by_signals(), _warnings_in_a_line():
            # A command may print itself again, with another option.
            code = command_group()(args=list(words), prog_name="aegis", standalone_mode=False, obj=words) or 0
            sys.stdout.flush()
    except SystemExit as ended:  # a signal came
        for note in getattr(ended, "__notes__", ()):
            fail(note, FAILED)
        raise
    except typer.TyperException as error:
        code = fail(error.format_message(), BAD_INPUT)
    except AegisError as error:
        code = fail(explained(error), exit_code(error))
    except OSError as error:
        code = fail(f"stdout: {error.strerror}" if _is_of_stdout(error) else str(error), FAILED)
        if _is_of_stdout(error):
            _give_up_stdout()
    sys.exit(code)


def _print_what_the_encoding_has() -> None:
    """Print a question mark for characters that stdout cannot encode, for example on a redirected Windows console."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _refuse_no_text(words: Sequence[str]) -> None:
    """Refuse arguments that Python could not decode: table libraries cannot open files of such names.

    Raises:
        InputError: An argument is undecodable.
    """
    for word in words:
        if not word.isascii() and any("\udc80" <= letter <= "\udcff" for letter in word):
            raise InputError(f"{word!a} cannot be read as text; use UTF-8, and set PYTHONUTF8=1")


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print the SDK's own warnings like those of commands."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:  # noqa: ANN401
            if issubclass(category, KeyExpiresWarning):
                warn(str(message))
            else:
                usual(message, category, *place, **more)

        warnings.showwarning = show
        warnings.simplefilter("once", KeyExpiresWarning)
        yield


def _is_of_stdout(error: OSError) -> bool:
    """Whether the error comes from printing; an error on another file has the name of that file."""
    return error.filename is None and error.errno in _FULL_OR_GONE


def _give_up_stdout() -> None:
    """Redirect stdout to nowhere, so that Python does not try to print the rest at exit and report another error."""
    with suppress(io.UnsupportedOperation), open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
