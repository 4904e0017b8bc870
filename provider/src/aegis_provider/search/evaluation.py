"""Whether the release of a combination of choices holds what is required, and which of them are minimal."""

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
from aegis_provider.search.monotone import descend, search

_COUNTED: Final = frozenset({"k", "l"})
_LARGEST_LATTICE = 30_000_000
_MOST_ONE_BY_ONE = 100_000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is required of a release of these records, and which nodes of the lattice hold it.

    Attributes:
        lattice: The combinations of choices.
        records: Of the attributes of the lattice and of the `sensitive` columns.
        sensitive: The sensitive columns of every release.
        require: Privacy by name.
        suppressed: How many records at most may be left out because their equivalence class breaks it.
        masked: Of sensitive columns that every release masks, the place of each value's masked value.
    """

    lattice: Lattice
    records: DistinctRecords
    sensitive: tuple[str, ...]
    require: Mapping[str, float]
    suppressed: int
    masked: Mapping[str, Places] = field(default_factory=dict)

    @property
    def is_monotone(self) -> bool:
        """Whether what a node holds, every coarser one holds.

        A coarser class is a union of finer ones. Where it has fewer than `k` records or than `l` values, so has each of
        those, and coarser masking never suppresses more: with suppression too (Kohlmayer et al. 2012). By other
        criteria that survive it, a union is no worse than the worst of its classes; but one that fails can be a union
        with some that hold, and then more is suppressed.
        """
        survives = all(CRITERIA[name].survives_merged_classes for name in self.require)
        return not self._others or (self.suppressed == 0 and survives)

    def holds(self, node: Node) -> bool:
        """Whether so few records are in classes that break what is required, that they may be left out."""
        return self.holds_counts(node) and (not self._others or self._broken(node) <= self.suppressed)

    def holds_counts(self, node: Node) -> bool:
        """The same for `k` and `l` only, which is monotone, and quicker: nothing holds without this."""
        k, distinct = self.require.get("k", 1), self.require.get("l", 1)
        return self._counter.short(node, k, distinct) <= self.suppressed

    def classes(self, node: Node) -> Classes:
        """The equivalence classes of a node, none suppressed."""
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


@dataclass(frozen=True, eq=False)
class Minimal:
    """The minimal nodes of a lattice.

    Attributes:
        nodes: (minimal, attributes) that hold while nothing finer by a step does.
        evaluated: How many were looked at.
        complete: Whether these are all.
    """

    nodes: Places
    evaluated: int
    complete: bool


def minimal_nodes(evaluation: Evaluation, source: str, most: int, progress: Progress) -> Minimal:
    """All minimal nodes; of a lattice of more than 30 million nodes, random ones, at most `most`.

    A requirement that is not monotone is decided for each node that holds `k` and `l`, which are.

    Raises:
        PlanError: There are too many of those; it begins with `source`.
    """
    lattice = evaluation.lattice
    if evaluation.is_monotone and not evaluation.holds(lattice.top):
        return Minimal(np.empty((0, len(lattice.choices)), dtype=np.intp), 1, complete=True)
    if lattice.nodes > _LARGEST_LATTICE:
        if not evaluation.is_monotone:
            raise PlanError(_too_many(evaluation, source, f"{lattice.nodes:,}"))
        nodes, evaluated = descend(lattice, evaluation.holds, most, progress)
        return Minimal(np.array(sorted(nodes), dtype=np.intp), evaluated, complete=False)
    verdict = search(lattice, evaluation.holds if evaluation.is_monotone else evaluation.holds_counts, progress)
    holds, evaluated = verdict.holds, verdict.evaluated
    if not evaluation.is_monotone:
        evaluated += int(np.count_nonzero(holds))
        holds = _one_by_one(evaluation, source, holds, progress)
    return Minimal(lattice.minimal(holds), evaluated, complete=True)


def _one_by_one(
    evaluation: Evaluation, source: str, candidates: NDArray[np.bool_], progress: Progress
) -> NDArray[np.bool_]:
    """Which of the candidates hold everything that is required."""
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
