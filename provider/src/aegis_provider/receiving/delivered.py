"""The counts of a delivered table, made by the same engine as for entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from aegis_provider.counting.counts import Counts, Places, Tally, tally
from aegis_provider.receiving.placing import STARRED, Placing
from aegis_provider.table import Table
from aegis_provider.table.formulas import Escaped, Formulas, are_escaped, is_formula
from aegis_sdk.wire import Evidence


@dataclass(frozen=True, eq=False)
class Delivered:
    """A delivered table.

    Attributes:
        table: The table.
        label: The name of the label, which it has.
        columns: The approved attributes that it has.
    """

    table: Table
    label: str
    columns: Sequence[str]

    def formulas(self, header: Sequence[str]) -> Formulas:
        """Return the spreadsheet formulas in the counted columns and the header; only CSV has some."""
        if self.table.delimiter is None:
            return Formulas()
        tallies = {name: (each.texts, each.counts) for name, each in self.tallies.items()}
        columns = {**tallies, self.label: (np.array([*self.labels]), np.array([*self.labels.values()]))}
        cells = {
            name: int(counts[[is_formula(text) for text in texts.tolist()]].sum())
            for name, (texts, counts) in columns.items()
        }
        return Formulas.of(header, cells)

    def unescaped(self, evidence: Evidence) -> Self:
        """Return the same table, read without any apostrophes before formulas."""
        domains = {attribute.attribute: attribute.domain for attribute in evidence.attributes}
        columns = {self.label: self.labels, **{name: self.texts(name) for name in self.columns}}
        known = {**domains, self.label: evidence.label.domain}
        with_marks = {name: Escaped() for name, texts in columns.items() if are_escaped(texts, known[name])}
        return replace(self, table=self.table.read_as(with_marks)) if with_marks else self

    @cached_property
    def tallies(self) -> Mapping[str, Tally]:
        """The joint counts of each attribute with the label, from one pass; without attributes, counts of the label."""
        names = list(self.columns) or [self.label]
        return dict(zip(names, tally(self.table, names, self.label), strict=True))

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """The number of records with each text of the label."""
        one = next(iter(self.tallies.values()))
        texts, places = np.unique(one.labels.astype(object), return_inverse=True)
        counts = np.bincount(places.reshape(-1), one.counts).astype(np.int64)
        return dict(zip(texts.tolist(), counts.tolist(), strict=True))

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(self.labels.values())

    def texts(self, name: str) -> Sequence[str]:
        """Return the texts of an attribute."""
        return list(dict.fromkeys(self.tallies[name].texts.tolist()))

    def joint(self, name: str, placing: Placing, labels: Placing) -> Counts:
        """(groups, label groups) The joint counts, without suppressed cells and unknown texts."""
        counted = self.tallies[name]
        rows, columns = _places(counted.texts.tolist(), placing), _places(counted.labels.tolist(), labels)
        joint = np.zeros((placing.groups.size, labels.groups.size), dtype=np.int64)
        kept = (rows >= 0) & (columns >= 0)
        np.add.at(joint, (rows[kept], columns[kept]), counted.counts[kept])
        return joint

    def stars(self, name: str, placing: Placing, labels: Placing) -> Counts:
        """(label groups,) The suppressed cells of an attribute, by label."""
        counted = self.tallies[name]
        starred = _places(counted.texts.tolist(), placing) == STARRED
        columns = _places(counted.labels.tolist(), labels)
        stars = np.zeros(labels.groups.size, dtype=np.int64)
        kept = starred & (columns >= 0)
        np.add.at(stars, columns[kept], counted.counts[kept])
        return stars

    def pair(self, names: tuple[str, str], placings: tuple[Placing, Placing]) -> tuple[Counts, int]:
        """Return the (groups, groups) joint counts of two attributes, and the number of records in none of these
        cells.
        """
        counted = self.table.combinations(names)
        first, second = (_places(counted.column(n).to_pylist(), placing) for n, placing in enumerate(placings))
        counts = counted.column("n").to_numpy()
        joint = np.zeros((placings[0].groups.size, placings[1].groups.size), dtype=np.int64)
        kept = (first >= 0) & (second >= 0)
        np.add.at(joint, (first[kept], second[kept]), counts[kept])
        return joint, int(counts[~kept].sum())


def _places(texts: Sequence[str], placing: Placing) -> Places:
    return np.fromiter((placing.of_text[text] for text in texts), dtype=np.intp, count=len(texts))
