"""Generated tables in a release and its card. `synth.offer` makes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aegis_provider.check_result import Interval
from aegis_provider.errors import PlanError
from aegis_provider.plan.generated import Attacked, GeneratedTable
from aegis_provider.plan.model import Plan

METHOD: Final = "trees"
LEVELS: Final = (5.0, 20.0, 50.0)
"""The levels of privacy of generated tables. Without privacy, attacks on them gain something."""
MASKED, GENERATED = "masked", "generated"


def refuse_equal_ids(plan: Plan) -> None:
    """Refuse a plan that uses the name of a generated table for something else.

    Raises:
        PlanError: The plan uses one.
    """
    taken = {*(configuration.id for configuration in plan.configurations), *(table.id for table in plan.generated)}
    for name in map(id_at, LEVELS):
        if name in taken:
            raise PlanError(f"{plan.source}: {name!r} is to be the name of a generated table; choose another one there")


@dataclass(frozen=True)
class Drawn:
    """A generated table, and the results of attacks on it.

    Attributes:
        id: Its id in the plan.
        file: The name of its file in the folder of the release.
        sha256: The SHA-256 of that file.
        method: The method that made it.
        privacy: The level of privacy given to the method.
        weights: The positive weights of attributes for privacy.
        attacks: The results of attacks, by their names in the contract.
    """

    id: str
    file: str
    sha256: str
    method: str
    privacy: float
    weights: Mapping[str, float]
    attacks: Mapping[str, Attacked]

    def stated(self, folder: Path) -> GeneratedTable:
        """Return it as a plan in that folder states it, promising the upper limits of what attacks achieved."""
        attributes = {name: {"privacy": weight} for name, weight in self.weights.items()}
        weights = {"privacy": self.privacy, **({"attributes": attributes} if attributes else {})}
        stated: dict[str, Any] = {
            "method": self.method,
            "weights": weights,
            "attacks": {name: each.as_json() for name, each in self.attacks.items()},
        }
        if self.attacks:
            stated["privacy"] = {name: each.limit for name, each in self.attacks.items()}
        return GeneratedTable(self.id, folder / self.file, self.sha256, stated)


def file_at(level: float) -> str:
    """Return the name of the file of the table at a level of privacy."""
    return f"generated-{id_at(level)}.csv"


def id_at(level: float) -> str:
    """Return the id of the table at a level of privacy."""
    return f"{METHOD}-{level:g}"


@dataclass(frozen=True)
class Beside:
    """A release in a comparison.

    Attributes:
        id: Its id in the plan.
        kind: `masked` or `generated`.
        promise: The promised privacy, by name.
        kept: Its transfer utility on held-out records, as a share of the unmasked records'; `None` if theirs is 0.
        attacks: The results of attacks, by their names in the contract.
    """

    id: str
    kind: str
    promise: Mapping[str, float]
    kept: Interval | None
    attacks: Mapping[str, Attacked]


@dataclass(frozen=True)
class Comparison:
    """A comparison of releases.

    Attributes:
        measure: The measure of the comparison.
        held_out: The number of records held out from all of them.
        releases: The releases, the masked ones first.
        unfinished: The ids of masked ones that did not finish in time.
    """

    measure: str
    held_out: int
    releases: tuple[Beside, ...]
    unfinished: tuple[str, ...] = ()
