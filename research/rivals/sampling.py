"""The sampling baseline: make up records with the known margins, mask them, and measure what that changes.

Neither version of the paper says what is sampled. Its draft leaves the description open (section 7.1, Baselines) and
says that histograms are available to the baseline as they are to Mascara (section 7.2). The paper compares its
reconstruction with the baseline's (section 5). This allows two readings.

* From histograms: values by the attribute's histogram, labels by the label's, independently of each other.
* From a view: masked value and label by the joint counts of the attribute's finest masked table, then a value among
  those behind the masked value, by the histogram. This is the most that sampling can make of one view.

Without a histogram, values are equally likely (in the second reading, those behind one masked value).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES, Measure
from app.entries.model.configurations import ConfigurationTable
from research.study import Study, mapping_of, summed

SEED = 2026


def sampling(study: Study, seed: int = SEED) -> FloatArray:
    """Return (configurations,) negative deviations, by mutual information, of records drawn from the histograms."""
    sampler = Sampler(MEASURES["mutual_information"], seed=seed)
    return -sampler.deviations(study.evidence, study.configurations)


def sampling_views(study: Study, seed: int = SEED) -> FloatArray:
    """Return (configurations,) negative deviations, by mutual information, of records drawn from finest views."""
    sampler = Sampler(MEASURES["mutual_information"], from_views=True, seed=seed)
    return -sampler.deviations(study.evidence, study.configurations)


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws and measures records.

    Attributes:
        measure: the measure of predictive utility.
        from_views: whether to draw from the finest view of each attribute instead of the histograms.
        records: the number to draw; None for as many as the table has.
        seed: the generator's seed; each attribute gets its own stream, by its name.
    """

    measure: Measure
    from_views: bool = False
    records: int | None = None
    seed: int = SEED

    def deviations(self, evidence: Sequence[AttributeEvidence], configurations: ConfigurationTable) -> FloatArray:
        """Return (configurations,) the mean over attributes of |rho(A; Y) - rho(M(A); Y)| on drawn records (eq. 1)."""
        return summed(evidence, configurations, self._losses) / len(evidence)

    def _losses(self, evidence: AttributeEvidence, options: Sequence[str]) -> list[float]:
        sample = self.sample(evidence)
        unmasked = self.measure(sample.counts(evidence.labels))
        return [
            abs(unmasked - self.measure(sample.masked(mapping_of(evidence, option)).counts(evidence.labels)))
            for option in options
        ]

    def sample(self, evidence: AttributeEvidence) -> "Records":
        """Draw the records of one attribute."""
        rng = np.random.default_rng((self.seed, *evidence.name.encode()))
        size = evidence.records if self.records is None else self.records
        view = finest_view(evidence) if self.from_views else None
        return _independent(evidence, size, rng) if view is None else _from_view(evidence, view, size, rng)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Made-up records of one attribute: `values` and `classes`, both (records,) int."""

    values: IntArray
    classes: IntArray

    def masked(self, mapping: IntArray) -> "Records":
        """Return the same records with values masked by a mapping (values,)."""
        return Records(mapping[self.values], self.classes)

    def counts(self, labels: int, values: int | None = None) -> FloatArray:
        """Return joint counts (values, labels), with `values` rows, or as many as the largest value needs."""
        rows = int(self.values.max()) + 1 if values is None else values
        cells = np.bincount(self.values * labels + self.classes, minlength=rows * labels)
        return cells.reshape(rows, labels).astype(np.float64)


def finest_view(evidence: AttributeEvidence) -> Masking | None:
    """Return the first view with the most masked values that have records; None if no counts are known."""
    views = [masking for masking in evidence.maskings if masking.constrains]
    return max(views, key=lambda view: view.flags.occupied, default=None)


def _independent(evidence: AttributeEvidence, size: int, rng: np.random.Generator) -> Records:
    values = rng.choice(evidence.values, size, p=_shares(_weights(evidence)))
    return Records(values, rng.choice(evidence.labels, size, p=_shares(evidence.label_histogram)))


def _from_view(evidence: AttributeEvidence, view: Masking, size: int, rng: np.random.Generator) -> Records:
    """Draw cells of the view by its counts, then a value behind each masked value by inverting cumulative weights."""
    if view.joint is None or view.mapping is None:
        raise AssertionError("records are drawn from a view that has both counts and a mapping")
    cells = rng.choice(view.joint.size, size, p=_shares(view.joint.ravel()))
    groups, classes = np.divmod(cells, evidence.labels)
    order = np.argsort(view.mapping, kind="stable")
    weights = _weights(evidence)[order]
    upto = np.concatenate(([0.0], np.cumsum(weights)))
    starts = np.searchsorted(view.mapping[order], np.arange(view.groups + 1))
    first, last = upto[starts[groups]], upto[starts[groups + 1]]
    places = np.searchsorted(upto, first + rng.random(size) * (last - first), side="right") - 1
    return Records(order[np.minimum(places, starts[groups + 1] - 1)], classes)


def _weights(evidence: AttributeEvidence) -> FloatArray:
    """Return (values,) weights proportional to how often each value is drawn."""
    counts = evidence.value_counts
    return np.ones(evidence.values) if counts is None else counts.astype(np.float64)


def _shares(weights: FloatArray | IntArray) -> FloatArray:
    return weights / weights.sum()
