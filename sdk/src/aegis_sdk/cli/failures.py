"""What went wrong, in one line, and the exit code that goes with it."""

import typer

from aegis_sdk._errors import AegisError, ProblemError
from aegis_sdk.printable import one_line

BAD_INPUT = 2
FAILED = 1

_INPUT_STATUSES = (400, 404, 409, 413, 422)


class InputError(AegisError, ValueError):
    """Something the caller can put right in the command itself."""


def fail(message: str, code: int) -> int:
    """Says it on stderr, in one line, and returns the exit code."""
    typer.echo(f"aegis: {one_line(message)}", err=True)
    return code


def exit_code(error: AegisError) -> int:
    """Bad input is what the service says is wrong with it, or the SDK, by an error that is a `ValueError` too."""
    refused = isinstance(error, ProblemError) and error.status in _INPUT_STATUSES
    return BAD_INPUT if refused or isinstance(error, ValueError) else FAILED


def explained(error: AegisError) -> str:
    """The error, with the first of the faults that the service found."""
    faults = error.errors if isinstance(error, ProblemError) else []
    if not faults:
        return str(error)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{str(error).rstrip('.')}; {faults[0].pointer}: {faults[0].detail}{more}"
