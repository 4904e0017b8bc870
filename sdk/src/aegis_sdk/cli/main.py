"""Every command under its name, and how one ends."""

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import typer

from aegis_sdk._errors import AegisError
from aegis_sdk.cli.advise import advise
from aegis_sdk.cli.apply import apply
from aegis_sdk.cli.configurations import configurations
from aegis_sdk.cli.disclose import disclose
from aegis_sdk.cli.ending import ended_by_signals
from aegis_sdk.cli.failing import BAD_INPUT, FAILED, exit_code, explained, fail
from aegis_sdk.cli.independence import independence
from aegis_sdk.cli.plot import plot
from aegis_sdk.cli.publish import publish
from aegis_sdk.cli.risk import risk
from aegis_sdk.cli.show import show
from aegis_sdk.cli.summarize import summarize

app = typer.Typer(
    name="aegis",
    help="Find the masking configuration that keeps the most predictive utility, without showing a record.",
    epilog="The service and the key: AEGIS_URL (http://127.0.0.1:8000) and AEGIS_API_KEY.",
    rich_markup_mode=None,
    add_completion=False,
)

# In the order in which a provider comes to need them.
app.command(epilog="Example: aegis risk health.csv --plan plan.yaml --html risk.html")(risk)
app.command(
    epilog="Example: aegis configurations health.csv --plan plan.yaml --require k=5 --require l=2 "
    "--suppress-at-most 0.01 --most 1000 --output found.yaml"
)(configurations)
app.command(
    epilog="Example: aegis independence people.csv --hide age,occupation --from income --clusters 3 --output masked.csv"
)(independence)
app.command(epilog="Example: aegis summarize health.csv --plan plan.yaml --name health --output entry.json --pairs")(
    summarize
)
app.command(epilog="Example: aegis show entry.json --attribute age")(show)
app.command(epilog="Example: aegis disclose entry.json --table health.csv --plan plan.yaml --html disclosure.html")(
    disclose
)
app.command(epilog="Example: aegis publish entry.json")(publish)
app.command(epilog="Example: aegis advise ENTRY_ID --measure mutual_information --require k=5")(advise)
app.command(epilog="Example: aegis plot entry.json --advice advice.json --output plot.html")(plot)
app.command(epilog="Example: aegis apply health.csv --plan plan.yaml --configuration c17 --output masked.csv")(apply)


_FULL_OR_GONE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE)


def main(arguments: Sequence[str] | None = None) -> None:
    """
    Runs the command and exits: 0, 2 for bad input, 1 otherwise; a failure is one line on stderr.

    A signal (SIGINT, SIGTERM, SIGHUP) ends it without a word, by 128 and its number, and leaves nothing behind.
    """
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        with ended_by_signals():
            code = app(args=words or ["--help"], prog_name="aegis", standalone_mode=False) or 0
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
