"""Failures of a command: the message, in one line, and the exit code."""

import typer

from aegis_sdk._errors import AegisError, ProblemError
from aegis_sdk.printable import one_line

BAD_INPUT = 2
FAILED = 1

_INPUT_STATUSES = (400, 404, 409, 413, 422)


class InputError(AegisError, ValueError):
    """An error that the user can correct on the command line."""


def fail(message: str, code: int) -> int:
    """Print the message to stderr on one line, and return the exit code."""
    typer.echo(f"aegis: {one_line(message)}", err=True)
    return code


def exit_code(error: AegisError) -> int:
    """2 for bad input, else 1. Input is bad if the service says so, or if the error is also a `ValueError`."""
    refused = isinstance(error, ProblemError) and error.status in _INPUT_STATUSES
    return BAD_INPUT if refused or isinstance(error, ValueError) else FAILED


def explained(error: AegisError) -> str:
    """The error with the service's first fault, and with notes on its consequences."""
    faults = error.errors if isinstance(error, ProblemError) else []
    if not faults:
        return ". ".join([str(error), *getattr(error, "__notes__", ())])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{str(error).rstrip('.')}; {faults[0].pointer}: {faults[0].detail}{more}"
