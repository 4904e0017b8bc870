"""Whether the release of a combination of choices meets the requirement."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import PlanError
from aegis_provider.privacy import CRITERIA, Classes, breaks, classes_of
from aegis_provider.progress import Progress
from aegis_provider.search.class_counter import ClassCounter
from aegis_provider.search.lattice import Lattice, Node
from aegis_provider.search.monotone import Decision, search

_COUNTED: Final = frozenset({"k", "l"})
_LARGEST_LATTICE = 30_000_000
_MOST_ONE_BY_ONE = 100_000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The requirement on a release of these records, and its evaluation for nodes of the lattice.

    Attributes:
        lattice: The combinations of choices.
        records: The distinct records of the attributes of the lattice and of the `sensitive` columns.
        sensitive: The sensitive columns of every release.
        require: The required privacy, by name.
        suppressed: The most records that may be suppressed because their equivalence class breaks the requirement.
        masked: For sensitive columns that every release masks, the place of each value's masked value.
    """

    lattice: Lattice
    records: DistinctRecords
    sensitive: tuple[str, ...]
    require: Mapping[str, float]
    suppressed: int
    masked: Mapping[str, Places] = field(default_factory=dict)

    @property
    def is_monotone(self) -> bool:
        """Whether every node coarser than one that meets the requirement also meets it.

        A coarser class is a union of finer ones. If it has fewer than `k` records or `l` values, so does each of them.
        Coarser masking therefore never suppresses more records, and `k` and `l` are monotone even with suppression
        (Kohlmayer et al. 2012). By the other criteria that survive merged classes, a union is no worse than its worst
        class. But a union that fails can include classes that pass, so coarser masking may suppress more.
        """
        survives = all(CRITERIA[name].survives_merged_classes for name in self.require)
        return not self._others or (self.suppressed == 0 and survives)

    def holds(self, node: Node) -> bool:
        """Return whether the records in classes that break the requirement are few enough to suppress."""
        return self.holds_counts(node) and (not self._others or self._broken(node) <= self.suppressed)

    def holds_counts(self, node: Node) -> bool:
        """Check only `k` and `l`. This is monotone and faster than `holds`, and true wherever `holds` is true."""
        k, distinct = self.require.get("k", 1), self.require.get("l", 1)
        return self._counter.short(node, k, distinct) <= self.suppressed

    def classes(self, node: Node) -> Classes:
        """Return the equivalence classes of a node, with no class suppressed."""
        pairs = list(zip(self.lattice.choices, node, strict=True))
        mappings = {each.attribute: each.partitions[place].groups for each, place in pairs}
        return classes_of(
            self.records, {**mappings, **self.masked}, [each.attribute for each, _ in pairs], self.sensitive
        )

    @property
    def _others(self) -> frozenset[str]:
        return frozenset(self.require) - _COUNTED

    def _broken(self, node: Node) -> int:
        classes = self.classes(node)
        return int(classes.sizes[breaks(classes, self.require)].sum())

    @cached_property
    def _counter(self) -> ClassCounter:
        sensitive = self.sensitive if self.require.get("l", 1) > 1 else ()
        return ClassCounter.of(self.lattice, self.records, sensitive, self.masked)


def is_decidable(lattice: Lattice) -> bool:
    """Return whether a lattice is small enough to decide every node."""
    return lattice.nodes <= _LARGEST_LATTICE


def decided(evaluation: Evaluation, source: str, progress: Progress) -> Decision:
    """Decide every node of a lattice of up to 30 million.

    A requirement that is not monotone is checked for each node that meets its `k` and `l`, which are monotone.

    Raises:
        PlanError: There are too many such nodes, or the lattice is too large; the message begins with `source`.
    """
    if not is_decidable(evaluation.lattice):
        raise PlanError(_too_many(evaluation, source, f"{evaluation.lattice.nodes:,}"))
    if evaluation.is_monotone:
        return search(evaluation.lattice, evaluation.holds, progress)
    decision = search(evaluation.lattice, evaluation.holds_counts, progress)
    holds = _one_by_one(evaluation, source, decision.holds, progress)
    return Decision(holds, decision.evaluated + int(np.count_nonzero(decision.holds)))


def _one_by_one(
    evaluation: Evaluation, source: str, candidates: NDArray[np.bool_], progress: Progress
) -> NDArray[np.bool_]:
    """Return which of the candidates meet the whole requirement."""
    nodes = np.argwhere(candidates)
    if len(nodes) > _MOST_ONE_BY_ONE:
        raise PlanError(_too_many(evaluation, source, f"{len(nodes):,}"))
    holds = np.zeros_like(candidates)
    for done, node in enumerate(map(tuple, nodes.tolist())):
        holds[node] = evaluation.holds(node)
        progress(done, len(nodes))
    return holds


def _too_many(evaluation: Evaluation, source: str, nodes: str) -> str:
    names = ", ".join(name for name in evaluation.require if name not in _COUNTED)
    never = " and ".join(name for name, each in CRITERIA.items() if not each.survives_merged_classes)
    return (
        f"{source}: {names} would have to be checked one by one for {nodes} combinations of maskings, but at most "
        f"{_MOST_ONE_BY_ONE:,} are checked; suppress nothing and do not require {never}, or remove maskings from the "
        "plan"
    )
