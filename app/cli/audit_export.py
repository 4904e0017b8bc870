"""Export the audit log."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import orjson
import typer

from app.audit.model import SignedHead
from app.cli.commands import fail
from app.cli.environment import DataDir, on_services
from app.factory import Factory


def export(
    output: Annotated[Path | None, typer.Option(help="File to write; by default, standard output.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write the whole audit log: JSON lines, first the signed heads, then the records, oldest first."""

    async def write(services: Factory) -> None:
        with _whole_file(output) as file:
            async for one in services.audit().export():
                line = orjson.dumps({"head": one.jws}) if isinstance(one, SignedHead) else one.encode()
                file.write(line + b"\n")

    try:
        on_services(data_dir, write)
    except OSError as error:
        fail(f"the log cannot be written: {error.strerror or error}")


@contextmanager
def _whole_file(output: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that gets its name once it is complete."""
    if output is None:
        yield sys.stdout.buffer
        return
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)
