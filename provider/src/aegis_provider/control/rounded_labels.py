"""Rounded tables of an entry with several labels, which agree on how many records have each value.

If every label's tables were rounded by themselves, their sums would be as many looks at the records of each value as
there are labels, whose mean tells the exact number. So the records of each value of each column are rounded first, once
(`rounded_once`), and all tables of the column have these sums (`rounded_to_sums`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from aegis_provider.control.control import ControlError
from aegis_provider.control.counted_together import Masked, rounded_to_sums
from aegis_provider.control.dependent_rounding import rounded_once
from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.control.rounded_pairs import views_of
from aegis_provider.counting.counts import Counts, Partition
from aegis_sdk.wire import IDENTITY, EntryDocument, Pair


@dataclass(frozen=True, eq=False)
class RoundedLabels:
    """The tables of every column with every label, rounded to multiples of `base`.

    Attributes:
        chance: The randomness, which the names of columns and of their values tell apart: neither their order in the
            plan, nor which label is the default, nor which others there are changes a table.
        labels: The labels, the default one first.
        exact: By the names of a column and of a label, the exact counts (values, label values).
        texts: By column, its values.
        views: By column and masking, the grouping of the values.
        records: By column, the rounded records of each value (values,); each column's sum to the same number.
        rounded: The tables rounded so far.
    """

    base: int
    chance: LastingRandomness
    labels: Sequence[str]
    exact: Mapping[tuple[str, str], Counts]
    texts: Mapping[str, Sequence[str]]
    views: Mapping[Masked, Partition]
    records: Mapping[str, Counts]
    rounded: dict[tuple[str, str], Counts] = field(default_factory=dict)

    @classmethod
    def of(
        cls, entry: EntryDocument, others: Mapping[tuple[str, str], Counts], base: int, chance: LastingRandomness
    ) -> Self:
        """Round the records of each value of each column.

        Args:
            entry: The exact entry; its attributes have joint counts.
            others: By the names of an attribute and of another label, their exact counts.
        """
        default, views = entry.label.name, views_of(entry)
        joints = {attribute.name: np.array(attribute.joint, dtype=np.int64) for attribute in entry.attributes}
        histograms = {default: np.array(entry.label.histogram, dtype=np.int64)}
        histograms |= {name: joint.sum(axis=1) for name, joint in joints.items()}
        texts = {default: entry.label.domain, **{each.name: each.domain for each in entry.attributes}}
        is_up = chance.number("records") * base < entry.records % base
        records = {}
        for name, histogram in histograms.items():
            drawn, nested = chance.of("records", name), _of_maskings(views, name)
            of_all = rounded_once(histogram[:, np.newaxis], nested, base, np.array([is_up]), drawn, texts[name], [""])
            records[name] = of_all[:, 0]
        exact = {**others, **{(name, default): joint for name, joint in joints.items()}}
        exact |= {(default, label): joints[label].T for label in entry.labels or () if label != default}
        return cls(base, chance, entry.labels or (), exact, texts, views, records)

    def joint(self, name: str, label: str) -> Counts:
        """Return the rounded counts (values, label values) of a column and a label, off by less than two bases.

        Raises:
            ControlError: No such counts have the rounded records of each value.
        """
        both = (min(name, label), max(name, label)) if name in self.labels else (name, label)
        if both not in self.rounded:
            one, other = both
            sums, texts = (self.records[one], self.records[other]), (self.texts[one], self.texts[other])
            views, drawn = (self._views(one), self._views(other)), self.chance.of("table", *both)
            few = ControlError(f"{one} and {other}: too few records to round beside other labels; list one label")
            try:
                self.rounded[both], within = rounded_to_sums(self.exact[both], sums, self.base, drawn, texts, views)
            except ControlError as error:
                raise few from error
            if within > 2:  # noqa: PLR2004 - what a reader takes of an entry with several labels
                raise few
        return self.rounded[both] if both[0] == name else self.rounded[both].T

    def of_pair(self, pair: Pair) -> Counts | None:
        """Return the rounded counts of a pair with a label other than the default one; `None` of others."""
        for side, label in enumerate(pair.attributes):
            if label in self.labels and pair.maskings[side] == IDENTITY:
                view = self.views[pair.attributes[1 - side], pair.maskings[1 - side]]
                joint = self.joint(pair.attributes[1 - side], label)
                sums = np.zeros((view.size, joint.shape[1]), dtype=np.int64)
                np.add.at(sums, view.groups, joint)
                return sums.T if side == 0 else sums
        return None

    def _views(self, name: str) -> list[Partition]:
        return _of_maskings(self.views, name)


def _of_maskings(views: Mapping[Masked, Partition], name: str) -> list[Partition]:
    return [view for (of, masking), view in views.items() if of == name and masking != IDENTITY]
