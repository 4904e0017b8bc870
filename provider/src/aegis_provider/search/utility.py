"""The utility of combinations of choices: by the measures of the advisor, from the exact counts of the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.joint.indicators import Indicators
from aegis_advisor.measures import MEASURES, Measure
from aegis_advisor.measures.partial_table import numbers_of
from aegis_provider.counting.counted_table import DistinctRecords, MaskedDomain
from aegis_provider.counting.counts import Partition, Places
from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import Plan
from aegis_provider.search.lattice import Choices, Node
from aegis_provider.table.values import Domain

Numbers = NDArray[np.float64]
Step = tuple[int, int]
"""An attribute of the lattice by its place, and its new, finer choice."""

MOST_COLUMNS: Final = 4_000
"""The most masked values of all choices together for a joint measure; their matrix then takes 128 MB."""


@dataclass(frozen=True, eq=False)
class JointUtility:
    """Pillai's trace of all attributes together, adjusted for chance: the measure `joint`.

    The trace is monotone, and at least the adjusted one, so it is a ceiling for coarser nodes. `indicators`: the
    correlations; the attributes of the lattice first, then others that no choice changes.
    """

    indicators: Indicators
    others: int

    def score(self, nodes: Places) -> tuple[Numbers, Numbers]:
        """Return the adjusted traces and the traces."""
        codes = np.pad(nodes, ((0, 0), (0, self.others)))
        traces, ranks = self.indicators.traces(codes)
        return self.indicators.adjusted(traces, ranks), traces

    def refined(self, node: Node, steps: Sequence[Step]) -> Numbers:
        """Return the adjusted traces."""
        return self.indicators.adjusted(*self.indicators.refined((*node, *(0,) * self.others), steps))

    def limit(self, finest: Sequence[Sequence[int]]) -> float:
        """Return the trace of all finest choices together."""
        return self.indicators.trace_of_all([*finest, *([0],) * self.others])


@dataclass(frozen=True, eq=False)
class MeanUtility:
    """The mean over the attributes of a measure of one attribute and the label.

    Attributes:
        by_choice: For each attribute of the lattice, (choices,) the contribution of each choice to the mean.
        ceilings: For each of them, (choices,) the highest contribution of this choice and all coarser ones.
        others: The contribution of the other attributes.
    """

    by_choice: Sequence[Numbers]
    ceilings: Sequence[Numbers]
    others: float

    def score(self, nodes: Places) -> tuple[Numbers, Numbers]:
        """Return the means, and the highest means of coarser nodes."""
        return self._sum(self.by_choice, nodes), self._sum(self.ceilings, nodes)

    def refined(self, node: Node, steps: Sequence[Step]) -> Numbers:
        """Return the means."""
        nodes = [(*node[:axis], place, *node[axis + 1 :]) for axis, place in steps]
        return self.score(np.array(nodes, dtype=np.intp).reshape(len(steps), len(node)))[0]

    def limit(self, finest: Sequence[Sequence[int]]) -> float:
        """Return the sum of the highest ceilings."""
        highest = (table[list(places)].max() for table, places in zip(self.ceilings, finest, strict=True))
        return self.others + float(sum(highest))

    def _sum(self, tables: Sequence[Numbers], nodes: Places) -> Numbers:
        summed: Numbers = np.full(len(nodes), self.others)
        for table, places in zip(tables, nodes.T, strict=True):
            summed += table[places]
        return summed


@dataclass(frozen=True, eq=False)
class MeanShare:
    """The mean over several labels of the share that is kept of what the unmasked table tells about each.

    Attributes:
        utilities: The utility about each label.
        weights: What one unit of each counts; 0 for a label about which the unmasked table tells nothing.
    """

    utilities: Sequence["Utility"]
    weights: Sequence[float]

    @classmethod
    def of(cls, utilities: Sequence["Utility"], unmasked: Sequence[float]) -> "MeanShare":
        """Return the mean; `unmasked`: what the unmasked table tells about each label."""
        told = sum(whole > 0 for whole in unmasked)
        return cls(utilities, [1 / (whole * told) if whole > 0 else 0.0 for whole in unmasked])

    def score(self, nodes: Places) -> tuple[Numbers, Numbers]:
        """Return the mean shares, and the highest of coarser nodes."""
        scored, limits = zip(*(each.score(nodes) for each in self.utilities), strict=True)
        return self._mean(scored), self._mean(limits)

    def refined(self, node: Node, steps: Sequence[Step]) -> Numbers:
        """Return the mean shares."""
        return self._mean([each.refined(node, steps) for each in self.utilities])

    def limit(self, finest: Sequence[Sequence[int]]) -> float:
        """Return the mean of the highest shares of each label."""
        limits = (each.limit(finest) for each in self.utilities)
        return sum(weight * limit for weight, limit in zip(self.weights, limits, strict=True))

    def _mean(self, each: Sequence[Numbers]) -> Numbers:
        mean: Numbers = np.tensordot(np.array(self.weights), np.array(each), axes=1)
        return mean


Utility: TypeAlias = JointUtility | MeanUtility | MeanShare
"""The utility of nodes of the lattice. Higher is better.

`score` returns (nodes,) the utility of each of the (nodes, attributes), and a ceiling for all coarser ones; `refined`,
(steps,) the utility after each of some steps to a finer choice of one attribute; `limit`, an upper bound of all
utilities, given the finest choices of each attribute.
"""


@dataclass(frozen=True, eq=False)
class UtilityCounts:
    """The records that utilities are computed from.

    Attributes:
        choices: The choices of the attributes of the lattice; the label may be among them, without contribution.
        others: The groups of every other attribute that releases share.
        whole: The groups of each attribute's values that define the unmasked table.
        weights: How much each attribute counts in a mean; by a joint measure, all that count do so alike.
        numbers: The scores (values,) of each label that has some.
    """

    records: DistinctRecords
    label: str
    choices: Sequence[Choices]
    others: Mapping[str, Partition]
    whole: Mapping[str, Partition]
    weights: Mapping[str, float]
    numbers: Mapping[str, Numbers] = field(default_factory=dict)

    def about(self, label: str, whole: Mapping[str, Partition]) -> "UtilityCounts":
        """Return the same for another label, one of `others`: the label of these is then an attribute as it is.

        `whole`: the groups that define the unmasked table in the task of that label.
        """
        plain = Partition.identity(self._size(self.label))
        others = {name: groups for name, groups in self.others.items() if name != label} | {self.label: plain}
        return replace(
            self,
            label=label,
            others=others,
            whole=whole,
            weights={**self.weights, self.label: 1.0},
        )

    def showing(self, masked: MaskedDomain | None) -> "UtilityCounts":
        """Return the same of releases that mask the label so; a class has the mean score of its labels' records."""
        if masked is None:
            return self
        place, groups = self.records.columns.index(self.label), masked.partition().groups
        codes, domains, known = self.records.codes.copy(), list(self.records.domains), dict(self.numbers)
        if self.label in known:
            weights = np.bincount(codes[:, place], self.records.counts, len(groups)) + 1e-9
            known[self.label] = np.bincount(groups, weights * known[self.label]) / np.bincount(groups, weights)
        codes[:, place], domains[place] = groups[codes[:, place]], Domain.of(masked.texts)
        return replace(self, records=replace(self.records, codes=codes, domains=tuple(domains)), numbers=known)

    def utility(self, measure: Measure) -> Utility:
        """Return the utility by a measure."""
        return self._joint(measure, self._options, self.others) if measure.is_joint else self.mean(measure)

    def unmasked(self, measure: Measure) -> float:
        """Return the utility of the unmasked table, rare values merged (`whole_values`)."""
        names = [name for name in (*self._options, *self.others) if name != self.label]
        whole = {name: self.whole[name] for name in names}
        utility = self._joint(measure, {}, whole) if measure.is_joint else self.mean(measure, {}, whole)
        return float(utility.score(np.zeros((1, 0), dtype=np.intp))[0][0]) if names else 0.0

    def _joint(
        self, measure: Measure, options: Mapping[str, Sequence[Partition]], others: Mapping[str, Partition]
    ) -> JointUtility:
        maskings = {**options, **{name: (other,) for name, other in others.items()}}
        values = np.stack([self._codes(name) for name in maskings], axis=1)
        counts = {name for name in maskings if self.weights.get(name, 1.0) > 0}
        groups = [
            [each.groups if name in counts else np.zeros_like(each.groups) for each in of]
            for name, of in maskings.items()
        ]
        known = self.numbers.get(self.label)
        uses_scores = measure.scored(known).uses_scores
        numbers = numbers_of(self._size(self.label), known) if uses_scores else None
        indicators = Indicators.of(values, self._codes(self.label), self.records.counts, groups, numbers)
        return JointUtility(indicators, len(others))

    def mean(
        self,
        measure: Measure,
        options: Mapping[str, Sequence[Partition]] | None = None,
        others: Mapping[str, Partition] | None = None,
    ) -> MeanUtility:
        """Return the mean of a measure over the attributes, by default all; without contribution of the label."""
        options, others = self._options if options is None else options, self.others if others is None else others
        weights = {name: self.weights[name] for name in (*options, *others) if name != self.label}
        total = sum(weights.values()) or 1.0
        told = [self._scores(measure, name, of) * weights.get(name, 0.0) / total for name, of in options.items()]
        rest = [self._scores(measure, name, [other])[0] * weights[name] / total for name, other in others.items()]
        pairs = zip(told, self.choices, strict=False)
        ceilings = [np.array([each[coarser].max() for coarser in of.follows.T]) for each, of in pairs]
        return MeanUtility(told, ceilings, float(sum(rest)))

    def _scores(self, measure: Measure, name: str, maskings: Sequence[Partition]) -> Numbers:
        """Return (maskings,) the measure of each with the label, negative if less is better; 0 for the label."""
        if name == self.label:
            return np.zeros(len(maskings))
        labels, scored = self._size(self.label), measure.scored(self.numbers.get(self.label))
        sign = 1.0 if measure.better == "higher" else -1.0
        told = []
        for masking in maskings:
            cells = masking.groups[self._codes(name)] * labels + self._codes(self.label)
            table = np.bincount(cells, self.records.counts, masking.size * labels).reshape(-1, labels)
            told.append(sign * scored.function(table.astype(np.float64), None))
        return np.array(told)

    @property
    def _options(self) -> dict[str, Sequence[Partition]]:
        """The groupings of each attribute of the lattice; of the label, one without information."""
        nothing = Partition(np.zeros(self._size(self.label), dtype=np.intp), 1)
        return {
            choice.attribute: (nothing,) if choice.attribute == self.label else choice.listed for choice in self.choices
        }

    def _codes(self, name: str) -> Places:
        return self.records.codes[:, self.records.columns.index(name)]

    def _size(self, name: str) -> int:
        return len(self.records.domains[self.records.columns.index(name)])


def measure_of_search(name: str, plan: Plan) -> Measure:
    """Return the measure of a search, corrected for chance if that is its default in advice.

    Raises:
        PlanError: There is no such measure, or it cannot guide a search, or the plan's weights are not for it.
    """
    usable = [each.id for each in MEASURES.values() if each.better == "higher" and not each.sees_interactions]
    if name not in usable:
        raise PlanError(f"the search does not support the measure {name!r}; {nearest(name, usable)}")
    measure, weights = MEASURES[name], {attribute.weight for attribute in plan.attributes}
    if measure.is_joint and len(weights - {0.0}) > 1:
        single = ", ".join(each for each in usable if not MEASURES[each].is_joint)
        raise PlanError(
            f"{plan.source}: the measure {name!r} takes attributes together, so it cannot weigh them: give them equal "
            f"weights, or 0 to leave one out, or choose a measure that takes weights: {single}"
        )
    if weights == {0.0}:
        raise PlanError(f"{plan.source}: all weights are 0; let one attribute count")
    return measure.corrected() if measure.corrected_by_default else measure
