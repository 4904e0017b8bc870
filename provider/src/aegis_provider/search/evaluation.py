"""Whether the release of one combination of choices holds what is required."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from aegis_provider.counting.distinct_records import DistinctRecords
from aegis_provider.counting.partition import Places
from aegis_provider.privacy import CRITERIA, Classes, breaks, classes_of
from aegis_provider.search.fast_classes import ClassCounter
from aegis_provider.search.lattice import Lattice, Node

_COUNTED: Final = frozenset({"k", "l"})


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is required of a release of these records, and which nodes of the lattice hold it.

    `records`: of the attributes of the lattice and of the `sensitive` columns; `require`: privacy by name;
    `suppressed`: how many records at most may be left out because their equivalence class breaks it. `masked`: of
    sensitive columns that every release masks, the place of each value's masked value.
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
