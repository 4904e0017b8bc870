"""The verdict on an entry before it is published, which the provider's package reaches if it is installed."""

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from aegis_sdk.cli.group import INSTALL
from aegis_sdk.cli.loading import loading
from aegis_sdk.cli.terminal import warn
from aegis_sdk.wire import EntryDocument

ENTRY_POINTS = "aegis.verdicts"
"""Functions that take an entry and its file and return a `LocalVerdict`."""


@dataclass(frozen=True)
class LocalVerdict:
    """The verdict on an entry that is in a file.

    Attributes:
        passed: Whether the counts give no small count away, and everything was decided.
        line: The verdict in words; if the entry failed, with the command that mends it.
    """

    passed: bool
    line: str


def verdict_on(entry: EntryDocument, path: Path, *, counts: bool) -> LocalVerdict | None:
    """Return the verdict on an entry; `None`, after a warning, if the provider's package cannot be used.

    Whatever it is, there is a warning of what identifies persons; without `counts`, it passes.

    Raises:
        InputError: The entry is not what its controls say.
    """
    for each in entry_points(group=ENTRY_POINTS):
        try:
            with loading():
                judge = each.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from publishing
            warn(f"verdict not checked here, since {each.value} cannot be loaded: {error}")
            return None
        judged: LocalVerdict = judge(entry, path, counts=counts)
        return judged
    if counts:
        warn(f"verdict not checked here: it comes with the provider's package ({INSTALL}); the service decides")
    return None
