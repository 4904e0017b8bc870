"""Answers by declared transfer utilities, without counts or references.

Callers who may not read the counts get the order by shares to two digits, which the schema shows anyway, weighted by
the utility of each attribute, rounded to a power of 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import HoldoutContent
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import MOST_LISTED, DeclaredUtilities, ordered, rank_declared
from app.advice.model.advice import AdviceQuestion
from app.advice.model.declared import figures_for, scored_places
from app.advice.model.shares import GRID
from app.advice.service.advice_input import AdviceInput
from app.advice.service.questions import scored_names, weights_of
from app.entries.model.configurations import GENERATED, MASKED, ConfigurationTable, unpack_configurations
from app.entries.model.documents import compress, read_as
from app.entries.model.published import MEASURES as BETTER
from app.entries.model.published import Figures, nothing_by


@dataclass(frozen=True, slots=True)
class _WithHoldout:
    holdout: HoldoutContent


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """The declared utilities of the ranked configurations.

    Attributes:
        question: the question.
        names: the scored attributes; empty for a joint measure.
        weights: (attributes,) with the sum 1.
        table: all configurations of the entry.
        rows: the places of the ranked ones.
        left_out: the number of others that meet all requirements, but lack a declared utility.
        utilities: the utilities of the ranked ones.
        holdout: the held-out records.
    """

    question: AdviceQuestion
    names: Sequence[str]
    weights: NDArray[np.float64]
    table: ConfigurationTable
    rows: NDArray[np.int64]
    left_out: int
    utilities: DeclaredUtilities
    holdout: HoldoutContent

    @classmethod
    def of(cls, given: AdviceInput) -> Self:
        """Unpack the input of an answer."""
        question, names = given.question, [attribute.name for attribute in given.outline]
        scored = scored_names(question, names)
        places = scored_places(question, scored, names)
        table = unpack_configurations(given.configurations, given.outline)
        holdout = read_as(_WithHoldout, given.schema).holdout
        figures, complete = figures_for(question.measure, places, table)
        kept = table.meeting(question.at_least, question.at_most, question.policy, question.kinds)
        rows = complete[kept[complete]]
        unmasked = Figures.of([holdout.unmasked], names).by(question.measure, places)
        best = [each.best(question.measure, places) for each in (figures, unmasked)]
        better = BETTER[question.measure]
        reference = np.fmax(*best) if better == "higher" else np.fmin(*best)
        together = len(scored) != len(places)
        weights = np.ones(1) if together else weights_of(question, scored)
        utilities = DeclaredUtilities(figures.table(rows, places), reference, better)
        left_out = int(kept.sum()) - rows.size
        return cls(question, () if together else scored, weights, table, rows, left_out, utilities, holdout)

    @property
    def shares(self) -> NDArray[np.float64]:
        """(configurations, attributes) the shares kept."""
        return self.utilities.shares(self._nothing)

    @property
    def worth(self) -> NDArray[np.float64]:
        """(attributes,) the utility of each attribute, rounded to a power of 2, times its weight; 0 if it has none."""
        utility = np.abs(self.utilities.reference - self._nothing)
        rounded = [GRID ** round(math.log(one, GRID)) if one > 0 else 0.0 for one in utility.tolist()]
        return np.asarray(self.weights * np.array(rounded))

    @property
    def _nothing(self) -> float:
        return nothing_by(self.question.measure, self.holdout)

    def kind(self, place: int) -> str:
        """The kind of a configuration, by its place."""
        return GENERATED if self.table.generated is not None and self.table.generated[place] else MASKED


def compute_declared(given: AdviceInput) -> bytes:
    """The answer to a question about generated configurations, as compressed JSON in the contract's names."""
    declared = Declared.of(given)
    ranking = rank_declared(declared.utilities, declared.weights, declared.question.limit)
    order = _in_contract(declared, ranking.order, ranking.rank, ranking.tied)
    for row, deviation, numbers in zip(
        order["ranking"], ranking.deviation.tolist(), ranking.numbers.tolist(), strict=True
    ):
        row |= {"deviation": deviation, **_named(numbers), "standard_error": None, "difference_error": None}
    measure = MEASURES[declared.question.measure]
    return compress(
        order
        | {
            "deviation": float(declared.utilities.deviations[ranking.tied[0]] @ declared.weights),
            "considered": int(declared.rows.size),
            "ranking_basis": "estimated",
            "attributes": [],
            "joint": None,
            "unit": measure.unit,
            "better": measure.better,
            "transfer": _assessment(declared, int(ranking.tied[0])),
            "coarse": _coarse(declared),
        }
    )


def _coarse(declared: Declared) -> dict[str, Any]:
    """The coarse order: by shares to two digits."""
    lost = (1 - declared.shares) @ declared.worth
    order, rank = ordered(lost)
    limit = declared.question.limit
    return _in_contract(declared, order[:limit], rank[:limit], order[rank == 1])


def _in_contract(
    declared: Declared, order: NDArray[np.int64], rank: NDArray[np.int64], tied: NDArray[np.int64]
) -> dict[str, Any]:
    """The members of an answer with the order."""
    ids = [declared.table.ids[place] for place in declared.rows.tolist()]
    kept = _kept(declared)
    return {
        "configuration": ids[tied[0]],
        "tied": [ids[place] for place in tied[:MOST_LISTED].tolist()],
        "indistinguishable": None,  # utilities on the same held-out records are correlated
        "indistinguishable_count": None,
        "ranking": [
            {
                "configuration": ids[place],
                "kind": declared.kind(int(declared.rows[place])),
                "rank": number,
                "utility_share": kept[place],
                "deviation_share": round(1 - kept[place], 2),
            }
            for place, number in zip(order.tolist(), rank.tolist(), strict=True)
        ],
    }


def _kept(declared: Declared) -> list[float]:
    """The share that each configuration keeps, to two digits; 1 where there is no utility to lose."""
    worth = declared.worth
    if not worth.any():
        return [1.0] * int(declared.rows.size)
    kept: list[float] = np.round(declared.shares @ worth / worth.sum(), 2).tolist()
    return kept


def _assessment(declared: Declared, best: int) -> dict[str, Any]:
    """The basis of the ranking, and the results of the best configuration."""
    utilities = declared.utilities
    by_attribute = zip(
        declared.names,
        utilities.numbers[best].tolist(),
        utilities.reference.tolist(),
        utilities.deviations[best].tolist(),
        strict=False,
    )
    return {
        "source": "declared",
        "left_out": declared.left_out,
        "records": declared.holdout.records,
        "reference_utility": float(utilities.reference @ declared.weights),
        "attributes": [
            {"name": name, **_named(numbers), "reference_utility": reference, "deviation": deviation}
            for name, numbers, reference, deviation in by_attribute
        ],
    }


def _named(numbers: Sequence[float]) -> dict[str, float]:
    """An estimate in the contract's names."""
    return dict(zip(("utility", "low", "high"), numbers, strict=True))
