"""Answers by declared transfer utilities, which need no counts or references."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import HoldoutContent
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import DeclaredUtilities, ordered, rank_declared
from app.advice.model import DEVIATION, AdviceQuestion
from app.advice.service.advice_input import AdviceInput
from app.advice.service.coarse import GRID, CoarseOrder, in_contract
from app.advice.service.frontier import FRONTIER, RANK, Axis, frontier_in, stated_axes
from app.advice.service.questions import scored_names, scored_places, weights_of
from app.entries.model.configurations import GENERATED, MASKED, ConfigurationTable, unpack_configurations
from app.entries.model.documents import read_as
from app.entries.model.published import MEASURES as BETTER
from app.entries.model.published import Figures, nothing_by


@dataclass(frozen=True, slots=True)
class _WithHoldout:
    holdout: HoldoutContent


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """The declared utilities of the ranked configurations.

    Attributes:
        names: the scored attributes; empty for a joint measure.
        weights: (attributes,) with the sum 1.
        rows: the places of the ranked ones.
        shares: (configurations, attributes) kept.
        worth: (attributes,) the utility of each, rounded to a power of 2, times its weight; 0 if it has none.
        left_out: the number of others that meet all requirements, but lack a declared utility.
    """

    question: AdviceQuestion
    names: Sequence[str]
    weights: NDArray[np.float64]
    table: ConfigurationTable
    rows: NDArray[np.int64]
    left_out: int
    utilities: DeclaredUtilities
    shares: NDArray[np.float64]
    worth: NDArray[np.float64]
    holdout: HoldoutContent

    @classmethod
    def of(cls, given: AdviceInput) -> Self:
        """Unpack the input of an answer."""
        question, names = given.question, [attribute.name for attribute in given.outline]
        scored = scored_names(question, names)
        places = scored_places(question, scored, names)
        table = unpack_configurations(given.configurations, given.outline)
        holdout = read_as(_WithHoldout, given.schema).holdout
        figures = table.figures.by(question.measure, places)
        complete = figures.complete(places)
        kept = table.meeting(question.required, question.policy, question.kinds)
        rows = complete[kept[complete]]
        unmasked = Figures.of([holdout.unmasked], names).by(question.measure, places)
        best = [each.best(question.measure, places) for each in (figures, unmasked)]
        better = BETTER[question.measure]
        reference = np.fmax(*best) if better == "higher" else np.fmin(*best)
        together = len(scored) != len(places)
        weights = np.ones(1) if together else weights_of(question, scored)
        utilities = DeclaredUtilities(figures.table(rows, places), reference, better)
        nothing = nothing_by(question.measure, holdout)
        rounded = [
            GRID ** round(math.log(one, GRID)) if one > 0 else 0.0 for one in np.abs(reference - nothing).tolist()
        ]
        return cls(
            question=question,
            names=() if together else scored,
            weights=weights,
            table=table,
            rows=rows,
            left_out=int(kept.sum()) - rows.size,
            utilities=utilities,
            shares=utilities.shares(nothing),
            worth=np.asarray(weights * np.array(rounded)),
            holdout=holdout,
        )


def by_declared(declared: Declared, schema: bytes) -> dict[str, Any]:
    """The answer to a question about generated configurations, in the contract's names; `schema`: as stored."""
    ranking = rank_declared(declared.utilities, declared.weights, declared.question.limit)
    first = _in_contract(declared, ranking.order, ranking.rank, ranking.tied)
    for row, deviation, numbers in zip(
        first["ranking"], ranking.deviation.tolist(), ranking.numbers.tolist(), strict=True
    ):
        row |= {"deviation": deviation, **_named(numbers), "standard_error": None, "difference_error": None}
    measure = MEASURES[declared.question.measure]
    answer = first | {
        "deviation": float(declared.utilities.deviations[ranking.tied[0]] @ declared.weights),
        "considered": int(declared.rows.size),
        "ranking_basis": "estimated",
        "attributes": [],
        "joint": None,
        "unit": measure.unit,
        "better": measure.better,
        "transfer": _assessment(declared, int(ranking.tied[0])),
    }
    order, rank = ordered((1 - declared.shares) @ declared.worth)  # the coarse order: by shares to two digits
    limit = declared.question.limit
    coarse = _in_contract(declared, order[:limit], rank[:limit], order[rank == 1])
    if declared.question.frontier is not None:
        deviations, ranks = declared.utilities.deviations @ declared.weights, np.empty(declared.rows.size)
        ranks[order] = rank
        answer |= _frontier(declared, Axis(DEVIATION, deviations, unit=measure.unit), schema, is_coarse=False)
        coarse |= _frontier(declared, Axis(RANK, ranks), schema, is_coarse=True)
    return answer | {"coarse": coarse}


def _frontier(declared: Declared, utility: Axis, schema: bytes, *, is_coarse: bool) -> dict[str, Any]:
    stated = stated_axes(declared.question, declared.table, declared.rows, schema, is_coarse=is_coarse)
    return {FRONTIER: frontier_in([utility, *stated], [declared.table.ids[row] for row in declared.rows.tolist()])}


def _in_contract(
    declared: Declared, order: NDArray[np.int64], rank: NDArray[np.int64], tied: NDArray[np.int64]
) -> dict[str, Any]:
    """The members of an answer with the order."""
    ids = [declared.table.ids[place] for place in declared.rows.tolist()]
    generated = declared.table.generated
    places = declared.rows[order].tolist()
    kinds = [GENERATED if generated is not None and generated[place] else MASKED for place in places]
    worth = declared.worth  # all is kept where there is nothing to lose
    kept = np.round(declared.shares @ worth / worth.sum(), 2) if worth.any() else np.ones(declared.rows.size)
    # Utilities on the same held-out records are correlated, so what is indistinguishable from the best is not known.
    return in_contract(CoarseOrder(order, rank, tied, None), ids, kept[order], kinds)


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
