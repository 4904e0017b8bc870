"""Output of commands: results on stdout, progress and failures on stderr.

Progress is shown if stderr is a terminal or the environment asks for lines.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from aegis_sdk._errors import AegisError, ProblemError
from aegis_sdk.printable import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

Progress: TypeAlias = Callable[[int, int], None]
"""Called with (done, total)."""


PROGRESS = "AEGIS_PROGRESS"
"""With the value `lines`, progress is printed as lines to stderr even without a terminal, for logs of jobs."""


def say(progress: str) -> None:
    """Print a line to stderr if that is a terminal or the environment asks for lines."""
    if sys.stderr.isatty() or os.environ.get(PROGRESS) == "lines":
        typer.echo(one_line(progress), err=True)


def warn(warning: str) -> None:
    """Print a warning to stderr, terminal or not."""
    typer.echo(f"aegis: warning: {one_line(warning)}", err=True)


def print_json(result: dict[str, Any]) -> None:
    """Print the result as JSON."""
    is_any_text = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    typer.echo(json.dumps(result, indent=2, ensure_ascii=not is_any_text))


def print_result(result: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print the result as JSON, or its report as lines."""
    if as_json:
        print_json(result)
    else:
        typer.echo("\n".join(lines))


@contextmanager
def progress_bar(task: str) -> Iterator[Progress]:
    """Show a progress bar on stderr, if that is a terminal; it disappears when the work is done."""
    from rich.progress import Progress as Bars  # noqa: PLC0415 - takes a tenth of a second to load, too long for --help

    bars = Bars()
    bar = bars.add_task(task, total=None)
    with _shown(lambda: bars):
        yield lambda done, total: bars.update(bar, completed=done, total=total)


@contextmanager
def stage(step: str) -> Iterator[Progress]:
    """Print the step that begins, and show a bar during it."""
    say(f"{step} ...")
    with progress_bar(step) as progress:
        yield progress


@contextmanager
def time_bar(task: str, seconds: float) -> Iterator[Callable[[float, str], None]]:
    """Show a bar of the seconds that a task may take, with the latest result below it; see `progress_bar`.

    Yields a function of the elapsed seconds and a text, which is cut at the end of the line.
    """
    from rich.console import Group  # noqa: PLC0415 - see above
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415 - see above
    from rich.progress import Progress as Bars  # noqa: PLC0415 - see above
    from rich.text import Text  # noqa: PLC0415 - see above

    bars, below = Bars(TextColumn("{task.description}"), BarColumn()), Text(no_wrap=True, overflow="ellipsis")
    bar, began = bars.add_task(task, total=seconds), monotonic()

    def reached(done: float, text: str) -> None:
        nonlocal began
        began, below.plain = monotonic() - done, one_line(text)

    def drawn() -> Group:
        done = monotonic() - began
        bars.update(bar, completed=done, description=f"{task}, {max(0, seconds - done):.0f} s left")
        return Group(bars, below)

    with _shown(drawn):
        yield reached


@contextmanager
def _shown(drawn: Callable[[], "RenderableType"]) -> Iterator[None]:
    """Show the changing output of a function on stderr during the work, if that is a terminal."""
    from rich.console import Console  # noqa: PLC0415 - see above
    from rich.constrain import Constrain  # noqa: PLC0415 - see above
    from rich.live import Live  # noqa: PLC0415 - see above

    console = Console(stderr=True)

    def fitting() -> Constrain:
        # Ctrl-C prints ^C after the last line. On a new line, it would leave one over at the end.
        return Constrain(drawn(), console.width - len("^C"))

    live = Live(get_renderable=fitting, console=console, transient=True, refresh_per_second=10)
    with live if sys.stderr.isatty() else nullcontext():
        yield


def aligned(header: Sequence[str], rows: Sequence[Sequence[str | float]]) -> Iterator[str]:
    """Lines of aligned columns, numbers to the right: integers and shares unchanged, others with six decimals."""
    cells = [[_cell(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [any(not isinstance(row[place], str) for row in rows) for place in range(len(header))]
    for row in cells:
        columns = zip(row, widths, numeric, strict=True)
        line = "  ".join(text.rjust(width) if right else text.ljust(width) for text, width, right in columns)
        yield f"  {line}".rstrip()


def _cell(cell: str | float) -> str:
    from aegis_sdk.printable import Share  # noqa: PLC0415 - what a command needs that prints a table

    return str(cell) if isinstance(cell, str | int | Share) else f"{cell:.6f}"


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
