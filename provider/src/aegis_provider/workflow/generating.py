"""Generated tables beside a masked one: drawn, attacked, and stated in the plan."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aegis_provider.attacks import Attacked, declared_attacks, open_case
from aegis_provider.digests import digest_of
from aegis_provider.generate import Generated, Knobs, Wish, generate
from aegis_provider.plan.generated import GeneratedTable
from aegis_provider.plan.model import Plan
from aegis_provider.progress import Progress
from aegis_provider.table import Source

METHOD: Final = "trees"
LEVELS: Final = (0.0, 5.0, 20.0)
"""The levels of privacy at which a table is generated."""


def generated_files() -> list[str]:
    """Return the names of the files that are written."""
    return [_file(level) for level in LEVELS]


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
        stated = {
            "method": self.method,
            "weights": weights,
            "attacks": {name: each.as_json() for name, each in self.attacks.items()},
            "privacy": {name: each.limit for name, each in self.attacks.items()},
        }
        return GeneratedTable(self.id, folder / self.file, self.sha256, stated)


def draw_tables(
    table: Source, plan: Plan, folder: Path, holdout: float, how: Mapping[str, Any], progress: Progress
) -> tuple[Drawn, ...]:
    """Generate a table at each level of privacy, write it into the folder, and attack it.

    Args:
        table: The table.
        plan: Its plan.
        folder: The folder.
        holdout: The share of the records that is not learnt from, and that attacks are compared with.
        how: How to read the table: `delimiter` and `memory_limit`.
        progress: Called with the number of tables that are done.

    Raises:
        PlanError: No attribute may be generated.
        TableError: The table is too small to learn from.
        AegisError: The extra `synth` is not installed.
    """
    return tuple(_drawn(table, plan, folder, holdout, how, progress))


def _drawn(
    table: Source, plan: Plan, folder: Path, holdout: float, how: Mapping[str, Any], progress: Progress
) -> Iterator[Drawn]:
    for done, level in enumerate(LEVELS):
        progress(done, len(LEVELS))
        output = folder / _file(level)
        knobs, wish = Knobs(privacy=level), Wish(holdout=holdout)
        made = generate(table, plan, output, method=METHOD, knobs=knobs, wish=wish, **how)
        case = open_case(output, table, plan=plan, holdout=holdout, **how).case
        attacks = declared_attacks(case)
        yield Drawn(_id(level), output.name, digest_of(output), METHOD, level, _weights(made), attacks)
    progress(len(LEVELS), len(LEVELS))


def _id(level: float) -> str:
    return f"{METHOD}-{level:g}"


def _file(level: float) -> str:
    return f"generated-{_id(level)}.csv"


def _weights(made: Generated) -> dict[str, float]:
    return {name: privacy for name, (privacy, _) in made.weights.items() if privacy > 0}
