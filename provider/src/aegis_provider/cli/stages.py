"""The progress of work that has several steps."""

from collections.abc import Iterator
from contextlib import contextmanager

from aegis_provider.progress import Progress
from aegis_sdk.cli.terminal import progress_bar, say


@contextmanager
def stage(step: str) -> Iterator[Progress]:
    """Say that a step has begun, and show a bar while it takes."""
    say(f"{step} ...")
    with progress_bar(step) as progress:
        yield progress
