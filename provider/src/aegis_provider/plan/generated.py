"""The generated tables of a plan, and what attacks on them achieved."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from aegis_provider.yaml_file import Element
from aegis_sdk.wire import GeneratedConfiguration, faults_of

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Attacked:
    """The success of an attack, rounded to thousandths, with its interval rounded outwards.

    Attributes:
        value: The share of successes; for `membership`, the AUC.
        low: The lower limit of the 95 % interval.
        high: The upper limit.
        chance: The success without the release; `None` if unknown.
    """

    value: float
    low: float
    high: float
    chance: float | None

    @property
    def limit(self) -> float:
        """The limit to promise: the upper limit, rounded up to two digits."""
        return min(1.0, ceil(round(self.high * 100, 6)) / 100)

    def as_json(self) -> dict[str, float]:
        """Return the form of an entry."""
        chance = {} if self.chance is None else {"chance": self.chance}
        return {"value": self.value, "low": self.low, "high": self.high, **chance}


@dataclass(frozen=True)
class GeneratedTable:
    """A generated table, offered in addition to the configurations.

    Attributes:
        id: Its id, different from those of all configurations.
        file: The file with its records.
        sha256: The SHA-256 of that file. Another file is never shared.
        stated: Its method, promises, and results of attacks, in the names of the contract.
    """

    id: str
    file: Path
    sha256: str
    stated: Mapping[str, Any]

    @property
    def privacy(self) -> Mapping[str, float]:
        """The provider's promises, by name."""
        vouched: Mapping[str, float] = self.stated.get("privacy", {})
        return vouched


def read_generated(element: Element, privacy: Mapping[str, Mapping[str, int | float]]) -> Iterator[GeneratedTable]:
    """Read the generated tables of a plan.

    Args:
        element: The mapping of their ids to their fields.
        privacy: The promises of the plan, by id.

    Raises:
        PlanError: A table is invalid; the message names the place.
    """
    for generated_id, each in element.items():
        each.checked_name(generated_id)
        fields = each.fields("file", "sha256", "method", optional=("weights", "attacks", "delta"))
        digest = fields["sha256"].text()
        if not _DIGEST.fullmatch(digest):
            fields["sha256"].fail("expected a SHA-256, 64 digits of 0-9 and a-f")
        stated: dict[str, Any] = {
            "method": fields["method"].name(),
            **{name: _numbers(fields[name]) for name in ("weights", "attacks", "delta") if name in fields},
            **({"privacy": dict(privacy[generated_id])} if privacy.get(generated_id) else {}),
        }
        _refuse_unstatable(each, generated_id, stated)
        yield GeneratedTable(generated_id, fields["file"].file(), digest, stated)


def _numbers(element: Element) -> Any:  # noqa: ANN401 - any JSON value
    """Read a number, or numbers by name to any depth."""
    if isinstance(element.value, dict):
        return {name: _numbers(each) for name, each in element.items()}
    return float(element.decimal())


def _refuse_unstatable(element: Element, generated_id: str, stated: Mapping[str, Any]) -> None:
    """Refuse fields of a generated table that an entry cannot have."""
    try:
        GeneratedConfiguration.model_validate(
            {"id": generated_id, "kind": "generated", "records": 1, "histogram": [1], **stated}
        )
    except ValidationError as error:
        fault = faults_of(error)[0]
        element.fail(f"{fault.pointer.strip('/').replace('/', '.')}: {fault.detail}")
