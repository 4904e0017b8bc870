"""The attack on one entry: what is known of its counts before any answer, and after all answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from research.leakage.observation import Observation
from research.leakage.posterior import Known, Samples, Walks
from research.leakage.target import Target

WALKS = 32

#: Walks that are still where they began may only have been too short: they go on for this many times their steps.
ROUNDS = 100

#: What somebody holds to be more likely than not has been recovered.
LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an attack has found out.

    Attributes:
        ratios: (cells,) the width of the central 95 % of what a count can be, over that before any answer. Counts that
            were known to 1 before are left out.
        tables: (attributes,) whether the joint counts were recovered wholly.
        labels: whether the label histogram was.
    """

    ratios: FloatArray
    tables: BoolArray
    labels: bool


def attack(target: Target, steps: int, seed: int) -> Mapping[str, Outcome]:
    """Attack by the values of all answers alone, by the order besides, and by what models should reach besides both."""
    rng = np.random.default_rng(seed)
    observed = Observation.of(target)
    before = Walks(target, None, rng, walks=WALKS).run(steps)
    return {
        "values": _outcome(target, Known(target, observed, with_order=False), before, steps, rng),
        "and order": _outcome(target, Known(target, observed, with_order=True), before, steps, rng),
        "and expected": _outcome(
            target, Known(target, observed, with_order=True, with_expected=True), before, steps, rng
        ),
    }


def _outcome(target: Target, known: Known, before: Samples, steps: int, rng: np.random.Generator) -> Outcome:
    walks = Walks(target, known, rng, walks=WALKS)
    for _ in range(ROUNDS):
        after = walks.run(steps)
        tables, labels = after.exact.mean(axis=0) > LIKELY, bool(after.labels.mean() > LIKELY)
        if not (tables.any() or labels):
            break
    prior = before.widths()
    return Outcome((after.widths() / np.maximum(prior, 1))[prior > 1], tables, labels)
