"""What reconstruction makes of a table's masked tables: distances to the truth with more and more of them known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import MEASURES
from bench.evaluation.distance import coarse_to_fine, distances, random_orders, total_variation, views
from bench.evaluation.reference_errors import UtilityError, utility_errors
from bench.evaluation.rivals.sampling import Sampler
from bench.evaluation.study import Study

SEED = 7
ORDERS = 6
DRAWS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """What is found about one table, with the histograms or without.

    Attributes:
        by_views: (orders, views + 1) the mean distance over the attributes with 0, 1, ... views known of each (all
            that it has, where it has fewer), in random orders.
        coarse_first: (views + 1,) the same, views from the coarsest to the finest.
        sampled: the mean distance of records drawn from the histograms.
        sampled_views: that of records drawn from the finest view of each attribute.
        errors: of every attribute by every measure.
    """

    by_views: FloatArray
    coarse_first: FloatArray
    sampled: float
    sampled_views: float
    errors: tuple[UtilityError, ...]

    @classmethod
    def of(cls, study: Study, orders: int, *, histogram: bool) -> "Variant":
        """Reconstruct every attribute of the table from every part of its views that an order begins with."""
        known = list(zip(study.evidence, study.truths, strict=True))
        curves = [_curves(one, truth, orders, histogram=histogram) for one, truth in known]
        longest = max(curve.shape[1] for curve in curves)
        mean = np.mean([_prolonged(curve, longest) for curve in curves], axis=0)
        told = [one if histogram else replace(one, histogram=None) for one in study.evidence]
        sampled = [_sampled(told, study.truths, from_views=from_views) for from_views in (False, True)]
        errors = (utility_errors(one, truth, histogram=histogram) for one, truth in known)
        return cls(mean[1:], mean[0], *sampled, tuple(error for each in errors for error in each))

    @property
    def independent(self) -> float:
        """With no view at all."""
        return float(self.coarse_first[0])

    @property
    def complete(self) -> float:
        """With all views."""
        return float(self.coarse_first[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """What is found about one table.

    Attributes:
        name: the table's.
        views: how many each attribute has.
        chance: bits, by how much the attributes' unmasked counts are expected to tell more than there is.
        histogram: variant I, with the histograms.
        no_histogram: variant II, without.
    """

    name: str
    views: tuple[int, ...]
    chance: float
    histogram: Variant
    no_histogram: Variant

    @classmethod
    def of(cls, study: Study, orders: int = ORDERS) -> "Reconstruction":
        """Of one table, with so many random orders of its views."""
        found = partial(Variant.of, study, orders)
        counted = tuple(len(views(one)) for one in study.evidence)
        bias = MEASURES["mutual_information"].bias
        chance = sum(bias(truth.astype(np.float64), None) for truth in study.truths) if bias else 0.0
        return cls(study.name, counted, chance, found(histogram=True), found(histogram=False))

    @property
    def variants(self) -> Mapping[str, Variant]:
        """By what the histograms are."""
        return {"known": self.histogram, "unknown": self.no_histogram}


def _curves(evidence: AttributeEvidence, truth: IntArray, orders: int, *, histogram: bool) -> FloatArray:
    """(1 + orders, views + 1) distances of one attribute: coarsest first, then in random orders."""
    listed = [coarse_to_fine(evidence), *random_orders(evidence, orders, SEED)]
    return distances(evidence, truth, listed, histogram=histogram)


def _prolonged(curve: FloatArray, length: int) -> FloatArray:
    return np.pad(curve, ((0, 0), (0, length - curve.shape[1])), mode="edge")


def _sampled(told: Sequence[AttributeEvidence], truths: Sequence[IntArray], *, from_views: bool) -> float:
    """The mean distance, over attributes and draws, of as many made-up records as the table has."""
    found = []
    for seed in range(DRAWS):
        sampler = Sampler(MEASURES["mutual_information"], from_views, seed=seed)
        for one, truth in zip(told, truths, strict=True):
            found.append(total_variation(sampler.sample(one).counts(one.labels, one.values), truth))
    return float(np.mean(found))
