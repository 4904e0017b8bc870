"""Generated tables beside a masked one: drawn, attacked, and stated in the plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aegis_provider.digests import digest_of
from aegis_provider.errors import PlanError, TableError
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Plan
from aegis_provider.synth.attacks import Attacked, declared_attacks, open_case
from aegis_provider.synth.generate import Generated, Knobs, Wish, generate
from aegis_provider.synth.generate.writing import write
from aegis_provider.table import Source, table_name

METHOD: Final = "trees"
LEVELS: Final = (5.0, 20.0, 50.0)
"""The levels of privacy at which a table is generated. On tables without privacy, attacks gain something."""


def refuse_equal_ids(plan: Plan) -> None:
    """Refuse a plan that has something else by the name of a generated table.

    Raises:
        PlanError: It does.
    """
    taken = {*(each.id for each in plan.configurations), *(each.id for each in plan.generated)}
    for name in map(_id, LEVELS):
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


def draw_table(table: Source, plan: Plan, level: float, folder: Path, holdout: float, how: Mapping[str, Any]) -> Drawn:
    """Generate a table at a level of privacy, attack it, and write it into the folder at the end.

    Args:
        table: The table.
        plan: Its plan.
        level: The level of privacy.
        folder: The folder.
        holdout: The share of the records that is not learnt from, and that attacks are compared with.
        how: How to read the table: `delimiter` and `memory_limit`.

    Raises:
        PlanError: No attribute may be generated.
        TableError: The table is too small to learn from, or no record is held out.
        AegisError: The extra `synth` is not installed.
    """
    knobs, wish = Knobs(privacy=level), Wish(holdout=holdout)
    made = generate(
        table, plan, method=METHOD, knobs=knobs, wish=wish, accept_identifiers=True, **how
    )  # the release refused them
    if not made.held_out:
        raise TableError(
            f"{table_name(table)}: none of its {made.combinations:,} combinations of attributes is held out by a "
            f"holdout of {holdout:g}, so nothing can be compared: state a larger `holdout` in the plan"
        )
    attacks = declared_attacks(open_case(made.table, table, plan=plan, holdout=holdout, **how).case)
    output = folder / file_at(level)
    write(output, made.table, how["delimiter"])
    return Drawn(_id(level), output.name, digest_of(output), METHOD, level, _weights(made), attacks)


def file_at(level: float) -> str:
    """Return the name of the file of the table at a level of privacy."""
    return f"generated-{_id(level)}.csv"


def _id(level: float) -> str:
    return f"{METHOD}-{level:g}"


def _weights(made: Generated) -> dict[str, float]:
    return {name: privacy for name, (privacy, _) in made.weights.items() if privacy > 0}
