"""The verdict on a delivered table, which the provider's package reaches if it is installed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from aegis_sdk.cli.group import INSTALL
from aegis_sdk.cli.loading import loading
from aegis_sdk.wire import DataRequest, DeliveryVerdict, Evidence

ENTRY_POINTS = "aegis.verifications"
"""Functions that take a delivered file, its request, the evidence and a delimiter, and return a `LocalVerification`."""

Verify = Callable[[Path, DataRequest, Evidence, str | None], "LocalVerification"]


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
    for each in entry_points(group=ENTRY_POINTS):
        try:
            with loading():
                return each.load(), ""
        except Exception as error:  # noqa: BLE001 - a broken distribution must not keep anybody from a download
            return None, f"{each.value} cannot be loaded: {error}"
    return None, f"that comes with the provider's package ({INSTALL})"
