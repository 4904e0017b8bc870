"""The quality of reconstruction: distances to the truth as more and more of a table's masked tables are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.reconstruction import Reference, reconstruct
from research.evaluation.utility_errors import UtilityError, utility_errors
from research.rivals.sampling import Sampler
from research.study import Study

Order = tuple[str, ...]
"""The ids of an attribute's views, in the order in which they are given."""

SEED = 7
ORDERS = 6
DRAWS = 5
VIEWS = 4
"""The number of overlapping views for each attribute."""

MERGED = 4
"""How many values share a masked value. Some masked values have one more if the number of values is not a multiple of
this."""

FEWEST = 8
"""Attributes with fewer values are left out, since there are few ways to merge them."""

SEED_OF_MERGES = 5


def total_variation(table: FloatArray | IntArray, truth: FloatArray | IntArray) -> float:
    """Return half the sum of |P - Q| over the cells of two tables (values, labels), each over its total: 0 to 1."""
    return float(np.abs(table / table.sum() - truth / truth.sum()).sum() / 2)


def full_table(reference: Reference, histogram: IntArray | None) -> FloatArray:
    """Return the reference with a row for each value (values, labels); `histogram` (values,) is None in variant II.

    The records of an atom are divided among its values by the histogram if it is known, otherwise evenly.
    """
    atoms = reference.joint.shape[0]
    weight = np.ones(reference.atom_of_value.size) if histogram is None else histogram.astype(np.float64)
    total = np.bincount(reference.atom_of_value, weight, minlength=atoms)[reference.atom_of_value]
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    table: FloatArray = reference.joint[reference.atom_of_value] * share[:, np.newaxis]
    return table


def views(evidence: AttributeEvidence) -> list[Masking]:
    """Return the informative masked tables: with counts, a known mapping and two masked values or more.

    They are ordered from the coarsest to the finest, by the number of masked values that have records.
    """
    informative = [masking for masking in evidence.maskings if masking.constrains and masking.flags.occupied > 1]
    return sorted(informative, key=lambda view: view.flags.occupied)


def coarse_to_fine(evidence: AttributeEvidence) -> Order:
    """Return all views, the coarsest first."""
    return tuple(view.id for view in views(evidence))


def random_orders(evidence: AttributeEvidence, number: int, seed: int) -> list[Order]:
    """Return `number` random orders of all views, which depend only on the attribute and the seed."""
    rng = np.random.default_rng((seed, *evidence.name.encode()))
    ids = np.array(coarse_to_fine(evidence), dtype=np.str_)
    return [tuple(rng.permutation(ids).tolist()) for _ in range(number)]


def evidence_with(evidence: AttributeEvidence, known: Sequence[str], *, histogram: bool) -> AttributeEvidence:
    """Return the evidence with these views only, and with or without the histogram."""
    maskings = tuple(evidence.masking(view) for view in known)
    return replace(evidence, maskings=maskings, histogram=evidence.histogram if histogram else None)


def distances(evidence: AttributeEvidence, truth: IntArray, orders: Sequence[Order], *, histogram: bool) -> FloatArray:
    """Return (orders, views + 1) the distance to the true counts (values, labels) given the first 0, 1, ... views.

    Without views, value and label are independent: by their histograms, or with equally frequent values in variant II.
    """
    known_distances: dict[frozenset[str], float] = {}

    def distance(known: Order) -> float:
        if (key := frozenset(known)) not in known_distances:
            part = evidence_with(evidence, sorted(known), histogram=histogram)
            known_distances[key] = total_variation(full_table(reconstruct(part), part.histogram), truth)
        return known_distances[key]

    return np.array([[distance(order[:size]) for size in range(len(order) + 1)] for order in orders])


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """The results for one table, with the histograms or without.

    Attributes:
        by_views: (orders, views + 1) the mean distance over the attributes given 0, 1, ... views of each (all of its
            views if it has fewer), in random orders.
        coarse_first: (views + 1,) the same, with views from the coarsest to the finest.
        sampled: the mean distance of records drawn from the histograms.
        sampled_views: that of records drawn from the finest view of each attribute.
        errors: the errors for every attribute by every measure.
    """

    by_views: FloatArray
    coarse_first: FloatArray
    sampled: float
    sampled_views: float
    errors: tuple[UtilityError, ...]

    @classmethod
    def of(cls, study: Study, orders: int, *, histogram: bool) -> "Variant":
        """Reconstruct every attribute of the table from every initial part of each order of its views."""
        known = list(zip(study.evidence, study.truths, strict=True))
        curves = [_curves(one, truth, orders, histogram=histogram) for one, truth in known]
        longest = max(curve.shape[1] for curve in curves)
        mean = np.mean([_prolonged(curve, longest) for curve in curves], axis=0)
        given = [one if histogram else replace(one, histogram=None) for one in study.evidence]
        sampled = [_sampled(given, study.truths, from_views=from_views) for from_views in (False, True)]
        errors = (utility_errors(one, truth, histogram=histogram) for one, truth in known)
        return cls(mean[1:], mean[0], sampled[0], sampled[1], tuple(error for each in errors for error in each))

    @property
    def independent(self) -> float:
        """The distance without any view."""
        return float(self.coarse_first[0])

    @property
    def complete(self) -> float:
        """The distance with all views."""
        return float(self.coarse_first[-1])


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """The results for one table.

    Attributes:
        name: the table's name.
        views: the number of views of each attribute.
        chance: how many bits of information the attributes' unmasked counts are expected to show by chance alone.
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
        """Evaluate one table, with that many random orders of its views."""
        variant = partial(Variant.of, study, orders)
        counted = tuple(len(views(one)) for one in study.evidence)
        bias = MEASURES["mutual_information"].bias
        chance = sum(bias(truth.astype(np.float64), None) for truth in study.truths) if bias else 0.0
        return cls(study.name, counted, chance, variant(histogram=True), variant(histogram=False))

    @property
    def variants(self) -> Mapping[str, Variant]:
        """Both variants, by whether the histograms are known."""
        return {"known": self.histogram, "unknown": self.no_histogram}


def _curves(evidence: AttributeEvidence, truth: IntArray, orders: int, *, histogram: bool) -> FloatArray:
    """Return (1 + orders, views + 1) distances of one attribute: coarsest first, then in random orders."""
    listed = [coarse_to_fine(evidence), *random_orders(evidence, orders, SEED)]
    return distances(evidence, truth, listed, histogram=histogram)


def _prolonged(curve: FloatArray, length: int) -> FloatArray:
    return np.pad(curve, ((0, 0), (0, length - curve.shape[1])), mode="edge")


def _sampled(evidence: Sequence[AttributeEvidence], truths: Sequence[IntArray], *, from_views: bool) -> float:
    """Return the mean distance, over attributes and draws, of as many made-up records as the table has."""
    sampled = []
    for seed in range(DRAWS):
        sampler = Sampler(MEASURES["mutual_information"], from_views, seed=seed)
        for one, truth in zip(evidence, truths, strict=True):
            sampled.append(total_variation(sampler.sample(one).counts(one.labels, one.values), truth))
    return float(np.mean(sampled))


def regrouped(study: Study) -> Study | None:
    """Return the study's attributes that have enough values. Their maskings merge values at random.

    For reconstruction only: configurations and pairs remain those of the study and do not fit. None if no attribute
    is left.
    """
    known = [pair for pair in zip(study.evidence, study.truths, strict=True) if pair[0].values >= FEWEST]
    if not known:
        return None
    evidence = tuple(replace(one, maskings=_merges(one, truth)) for one, truth in known)
    return replace(study, evidence=evidence, truths=tuple(truth for _, truth in known))


def _merges(evidence: AttributeEvidence, truth: IntArray) -> tuple[Masking, ...]:
    rng = np.random.default_rng((SEED_OF_MERGES, *evidence.name.encode()))
    groups = evidence.values // MERGED
    mappings = [rng.permutation(np.arange(evidence.values) % groups) for _ in range(VIEWS)]
    return tuple(
        Masking(f"merge-{number}", groups, mapping, fold(truth, mapping, groups), deterministic=True)
        for number, mapping in enumerate(mappings)
    )
