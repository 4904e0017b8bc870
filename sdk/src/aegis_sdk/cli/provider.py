"""Verdicts on entries and verifications of deliveries, which the provider's package adds to the SDK's commands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from aegis_sdk.cli.group import INSTALL, loading
from aegis_sdk.cli.terminal import warn
from aegis_sdk.wire import DataRequest, DeliveryVerdict, EntryDocument, Evidence

VERDICTS = "aegis.verdicts"
"""Functions of an entry and its file that return a `LocalVerdict`."""

VERIFICATIONS = "aegis.verifications"
"""Functions of a delivered file, its request, the evidence and a delimiter that return a `LocalVerification`."""

Verify = Callable[[Path, DataRequest, Evidence, str | None], "LocalVerification"]


@dataclass(frozen=True)
class LocalVerdict:
    """The verdict on an entry file.

    Attributes:
        passed: Whether no small count is disclosed, and everything was decided.
        line: The verdict in words; after a failure, with the command that fixes it.
    """

    passed: bool
    line: str


def verdict_on(entry: EntryDocument, path: Path, *, counts: bool) -> LocalVerdict | None:
    """Return the verdict on an entry; `None`, with a warning, if the provider's package cannot be used.

    Warns about identifiers of persons in any case; without `counts`, the verdict is a pass.

    Raises:
        InputError: The entry contradicts its declared controls.
    """
    for entry_point in entry_points(group=VERDICTS):
        try:
            with loading():
                judge = entry_point.load()
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from publishing
            warn(f"verdict not checked here, since {entry_point.value} cannot be loaded: {error}")
            return None
        judged: LocalVerdict = judge(entry, path, counts=counts)
        return judged
    if counts:
        warn(f"verdict not checked here: it comes with the provider's package ({INSTALL}); the service decides")
    return None


@dataclass(frozen=True)
class LocalVerification:
    """The outcome of a local verification of a file.

    Attributes:
        received: Whether the file is the agreed one.
        verdict: The outcome to post.
        lines: The report for people, including details that are not posted.
        details: Details that are not posted, as JSON.
    """

    received: bool
    verdict: DeliveryVerdict
    lines: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict)


def verifier() -> tuple[Verify | None, str]:
    """The function that verifies deliveries, or the reason why there is none."""
    for entry_point in entry_points(group=VERIFICATIONS):
        try:
            with loading():
                return entry_point.load(), ""
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from a download
            return None, f"{entry_point.value} cannot be loaded: {error}"
    return None, f"that comes with the provider's package ({INSTALL})"
