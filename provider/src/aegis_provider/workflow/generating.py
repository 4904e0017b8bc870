"""Generated tables beside a masked one, as a release and its card know them. `synth.beside` makes them."""

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
"""The levels of privacy at which a table is generated. On tables without privacy, attacks gain something."""
MASKED, GENERATED = "masked", "generated"


def refuse_equal_ids(plan: Plan) -> None:
    """Refuse a plan that has something else by the name of a generated table.

    Raises:
        PlanError: It does.
    """
    taken = {*(configuration.id for configuration in plan.configurations), *(each.id for each in plan.generated)}
    for name in map(id_at, LEVELS):
        if name in taken:
            raise PlanError(f"{plan.source}: {name!r} is to be the name of a generated table; choose another one there")


@dataclass(frozen=True)
class Drawn:
    """A generated table, and what attacks on it achieved.

    Attributes:
        id: Its id in the plan.
        file: The name of its file in the folder of the release.
        sha256: The SHA-256 of that file.
        method: The method that made it.
        privacy: The level of privacy that was asked of the method.
        weights: By attribute, how much it counted for privacy; those that did not count are left out.
        attacks: What attacks achieved, by their names in the contract.
    """

    id: str
    file: str
    sha256: str
    method: str
    privacy: float
    weights: Mapping[str, float]
    attacks: Mapping[str, Attacked]

    def stated(self, folder: Path) -> GeneratedTable:
        """Return it as a plan in that folder states it: what is vouched for is what no attack certainly exceeded."""
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
    """A release beside others.

    Attributes:
        id: Its id in the plan.
        kind: `masked` or `generated`.
        promise: The privacy that it promises, by name.
        kept: What it tells about held-out records, as a share of what unmasked records tell; `None` if those tell
            nothing.
        attacks: What attacks achieved, by their names in the contract.
    """

    id: str
    kind: str
    promise: Mapping[str, float]
    kept: Interval | None
    attacks: Mapping[str, Attacked]


@dataclass(frozen=True)
class Comparison:
    """Releases beside each other.

    Attributes:
        measure: The measure by which they are compared.
        held_out: The number of records that none of them saw.
        releases: The releases, the masked ones first.
        unfinished: The ids of the masked ones for which time was up.
    """

    measure: str
    held_out: int
    releases: tuple[Beside, ...]
    unfinished: tuple[str, ...] = ()
