"""What the provider's package adds to the SDK's commands if it is installed: the verdicts on entries and deliveries."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from aegis_sdk.cli.group import INSTALL, loading
from aegis_sdk.cli.terminal import warn
from aegis_sdk.wire import DataRequest, DeliveryVerdict, EntryDocument, Evidence

VERDICTS = "aegis.verdicts"
"""Functions that take an entry and its file and return a `LocalVerdict`."""

VERIFICATIONS = "aegis.verifications"
"""Functions that take a delivered file, its request, the evidence and a delimiter, and return a `LocalVerification`."""

Verify = Callable[[Path, DataRequest, Evidence, str | None], "LocalVerification"]


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
    for each in entry_points(group=VERDICTS):
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


@dataclass(frozen=True)
class LocalVerification:
    """What was found out about a file on this machine.

    Attributes:
        received: Whether it is what was agreed upon.
        verdict: What is posted.
        lines: The same for people, with what is not posted.
        details: What is not posted, as JSON.
    """

    received: bool
    verdict: DeliveryVerdict
    lines: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict)


def verifier() -> tuple[Verify | None, str]:
    """What verifies deliveries; if there is nothing, why not."""
    for each in entry_points(group=VERIFICATIONS):
        try:
            with loading():
                return each.load(), ""
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from a download
            return None, f"{each.value} cannot be loaded: {error}"
    return None, f"that comes with the provider's package ({INSTALL})"
