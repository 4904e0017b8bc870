"""The releases of a table, all made from the same records: generated ones, and masked ones as rivals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from aegis_provider import NothingHoldsError, Plan, Requirement, apply, find_configurations
from aegis_provider.plan.model import DROP
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.generate.training import TrainingLook
from research.generation.tables import HELD_OUT, SEED, SplitTable

ORIGINAL: Final = "original"
UNCONSTRAINED: Final = "unconstrained"
PRIVACY: Final = "privacy only"
BOTH: Final = "privacy and value"
K_ANONYMOUS: Final = "k = 5"
T_CLOSE: Final = "t = 0.01"
PRIVATE: Final = "epsilon 1, delta 1e-6"
TREES: Final = "cart"
MARGINALS: Final = "mbi"

WGAN: Final[Mapping[str, Knobs]] = {
    UNCONSTRAINED: Knobs(),
    PRIVACY: Knobs(privacy=5.0),
    BOTH: Knobs(privacy=5.0, value=5.0),
}
QUICK: Final = {
    TREES: ("cart", Knobs()),
    MARGINALS: ("mbi", Knobs()),
    PRIVATE: ("mbi", Knobs(epsilon=1.0, delta=1e-6)),
}
SUPPRESSED_AT_MOST: Final = 0.05
MASKED: Final = {
    K_ANONYMOUS: Requirement({"k": 5}, SUPPRESSED_AT_MOST),
    T_CLOSE: Requirement({"t": 0.01}, SUPPRESSED_AT_MOST),
}
RIVALS: Final = (K_ANONYMOUS, T_CLOSE, PRIVATE)


@dataclass(frozen=True)
class Release:
    """A release of a table.

    Attributes:
        name: What the page calls it.
        file: The file; `None` if there is no release of this kind with more than the label.
        about: How it was made and what became of the records, in a few words.
        plan: The plan that it was made by.
        configuration: The configuration that masked it; `None` if it is not masked.
        looks: The models that were looked at during the training.
    """

    name: str
    file: Path | None
    about: str
    plan: Plan
    configuration: str | None = None
    looks: tuple[TrainingLook, ...] = ()


def original(table: SplitTable) -> Release:
    """Return the records themselves."""
    return Release(ORIGINAL, table.training, "the records as they are", table.plan)


def generated(
    table: SplitTable, name: str, folder: Path, *, method: str, knobs: Knobs, seconds: float, seed: int = SEED
) -> Release:
    """Generate as many records as were learnt from, and write them into the folder."""
    file = folder / f"{name}, seed {seed}.parquet"
    wish = Wish(holdout=HELD_OUT, seed=seed, seconds=seconds)
    made = generate(table.table, table.plan, method=method, knobs=knobs, wish=wish)
    pq.write_table(made.table, file)
    return Release(name, file, made.promise, table.plan, looks=made.training.looks)


def masked(table: SplitTable, name: str, folder: Path) -> Release:
    """Mask the records by the configuration that holds what is required and keeps most."""
    try:
        found = find_configurations(table.training, table.plan, MASKED[name], most=1)
    except NothingHoldsError:
        return Release(name, None, "no configuration reaches it", table.plan)
    chosen = found.configurations[0]
    plan = replace(table.plan, configurations=(chosen,))
    dropped = [each for each, choice in chosen.maskings.items() if choice == DROP]
    columns = f"without {', '.join(dropped)}" if dropped else "all columns"
    kept = f"{found.shares[0]:.0%} kept by the measure `joint`"
    about = f"{columns}; {chosen.suppressed or 0:,} records left out; {kept}"
    if len(dropped) == len(plan.attributes):
        return Release(name, None, "only without all attributes", plan, chosen.id)
    file = folder / f"{name}.csv"
    apply(table.training, plan, chosen.id, file)
    return Release(name, file, about, plan, chosen.id)
