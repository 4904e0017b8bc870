"""Cell-by-cell comparison of a delivered table's counts with the published ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import fold
from aegis_advisor.evidence.perturbation import IMPLAUSIBLE, largest_noise
from aegis_provider.counting.counts import Counts, Partition, finest_common_coarsening
from aegis_provider.ledger import most_held_back
from aegis_provider.processes import Progress
from aegis_provider.receiving.delivered import Delivered, Listed, Placing, placed
from aegis_provider.table.values import ValueType, infer_type
from aegis_sdk.wire import (
    IDENTITY,
    MOST_DIFFERENCES,
    Difference,
    DisclosureControl,
    Evidence,
    EvidencePair,
    EvidenceTable,
    Inexact,
)

_LONG: Final = 200
"""Maximum length of texts, in characters."""
_TOGETHER: Final = " | "
_MORE: Final = "..."


@dataclass(frozen=True)
class UnknownText:
    """A text of the file that the entry does not list. It may be a raw value, so it stays on the consumer's machine.

    `attribute`: `None` for the label; `text`: cut if it is long.
    """

    attribute: str | None
    text: str
    records: int


@dataclass(frozen=True)
class Part:
    """A part of a comparison.

    Attributes:
        differing: How many of them differ beyond the tolerance.
        first: The first of these, without unpublished texts of the file.
        unknown: The first unpublished texts.
    """

    cells: int
    differing: int = 0
    first: tuple[Difference, ...] = ()
    unknown: tuple[UnknownText, ...] = ()

    @classmethod
    def of(
        cls, published: Counts, delivered: Counts, less: Counts, more: Counts, tell: Callable[..., Difference]
    ) -> Self:
        """Compare counts.

        Args:
            less: How much lower a delivered count may be.
            more: How much higher it may be.
            tell: Makes a `Difference` from the place of a cell and its two counts.
        """
        off = published - delivered
        places = np.argwhere((off > less) | (off < -more))
        first = (tuple(map(int, at)) for at in places[:MOST_DIFFERENCES])
        return cls(published.size, len(places), tuple(tell(at, int(published[at]), int(delivered[at])) for at in first))

    @classmethod
    def together(cls, every: Sequence["Part"]) -> Self:
        """Return the combination of all parts."""
        first = tuple(one for part in every for one in part.first)[:MOST_DIFFERENCES]
        unknown = tuple(one for part in every for one in part.unknown)[:MOST_DIFFERENCES]
        return cls(sum(each.cells for each in every), sum(each.differing for each in every), first, unknown)

    @classmethod
    def of_unknown(cls, table: EvidenceTable | None, counts: Mapping[str, int]) -> Self:
        """Return the part for unlisted texts of an attribute, or of the label; it reports only their number."""
        if not counts:
            return cls(0)
        names, maskings = ((), ()) if table is None else ((table.attribute,), (table.masking,))
        told = difference_of(names, maskings, (), None, None, len(counts), "unknown")
        attribute = None if table is None else table.attribute
        first = [UnknownText(attribute, _shortened(text), number) for text, number in counts.items()]
        return cls(len(counts), len(counts), (told,), tuple(first[:MOST_DIFFERENCES]))


def names_of(texts: Sequence[str], partition: Partition, group: int) -> str:
    """Return the masked values of a group, unless there are too many; most groups have one."""
    names: list[str] = []
    for place in np.flatnonzero(partition.groups == group).tolist():
        if sum(map(len, names)) > _LONG:
            return _TOGETHER.join([*names, _MORE])
        names.append(_shortened(texts[place]))
    return _TOGETHER.join(names)


def difference_of(
    attributes: tuple[str, ...],
    maskings: tuple[str, ...],
    values: tuple[str, ...],
    label: str | None,
    published: int | None,
    delivered: int,
    rule: str,
) -> Difference:
    """Return a difference."""
    place = {"attributes": list(attributes), "maskings": list(maskings), "values": list(values), "label": label}
    return Difference.model_validate({**place, "published": published, "delivered": delivered, "rule": rule})


def _shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}{_MORE}"


Rows: TypeAlias = NDArray[np.int64]

ANY_NUMBER = 2**53
"""Numbers of records."""


@dataclass(frozen=True)
class Slack:
    """The tolerance of published counts, by what their table declares.

    Attributes:
        off_by: The maximum rounding error of one published count.
        scale: The scale of the noise on each; `None` without noise.
        terms: The number of noisy terms in each count.
        sums: The total number of compared sums: noise exceeds the tolerance of any of them with a probability of at
            most 1e-9.
    """

    off_by: int
    scale: float | None
    terms: int
    sums: int

    @classmethod
    def of(cls, inexact: Inexact, sums: int) -> Self:
        """Return the slack of a table of evidence."""
        noise = inexact.noise
        return cls(inexact.off_by, None if noise is None else noise.scale, 1 if noise is None else noise.terms, sums)

    def for_sums(self, cells: Counts) -> Rows:
        """Return the tolerance of sums of that many published counts; an array of the same shape."""
        known = {int(number): self.for_sum(int(number)) for number in np.unique(cells)}
        return np.vectorize(known.__getitem__, otypes=[np.int64])(cells) if cells.size else cells.astype(np.int64)

    def for_sum(self, cells: int) -> int:
        """Return the tolerance of a sum of that many published counts."""
        noise = 0 if self.scale is None else _noise(self.scale, self.terms * cells, self.sums)
        return self.off_by * cells + noise


@lru_cache(maxsize=4096)
def _noise(scale: float, terms: int, sums: int) -> int:
    return largest_noise(scale, terms, IMPLAUSIBLE / max(sums, 1))


@dataclass(frozen=True)
class Range:
    """A range of numbers of records, or cells."""

    least: int
    most: int


def suppressed_in(evidence: Evidence, name: str) -> Range:
    """Return how many records, or cells, a configuration may suppress by its entry, if this is published at all."""
    number = getattr(evidence, name)
    control = None if evidence.disclosure_control is None else DisclosureControl(**evidence.disclosure_control)
    if number is None:
        if control is not None and control.epsilon is not None:
            return Range(0, ANY_NUMBER)
        least = None if control is None else control.min_cell
        return Range(0, 0 if least is None else least - 1)
    off = 0 if control is None or control.rounded_to is None else control.rounded_to - 1
    return Range(max(0, number - off), number + off)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The published evidence and a delivered table; `sums` counts share the probability of a false alarm."""

    evidence: Evidence
    delivered: Delivered
    sums: int
    labels: Placing
    left_out: Range

    @classmethod
    def of(cls, evidence: Evidence, delivered: Delivered, *, held_back: bool = False) -> "Comparison":
        """Return the comparison of a delivered table with the evidence on it.

        Args:
            held_back: Whether the table holds records back, as its card says.
        """
        tables = [evidence.label.joint, *(attribute.joint for attribute in evidence.attributes)]
        tables += [pair.joint for pair in evidence.pairs]
        sums = sum(len(table) * len(table[0]) for table in tables if table) + 1
        label, exact = evidence.label, evidence.disclosure_control is None
        labels = placed(Listed(label.domain, infer_type(label.domain), exact=exact), delivered.labels)
        declared = suppressed_in(evidence, "suppressed")
        # A table that was masked elsewhere may lack records of its own.
        lacking = [
            evidence.records - attribute.records for attribute in evidence.attributes if attribute.records is not None
        ]
        more = most_held_back(evidence.records) if held_back else 0
        left_out = Range(declared.least if not lacking else 0, max([declared.most, *lacking]) + more)
        return cls(evidence, delivered, sums, labels, left_out)

    def compared(self, progress: Progress) -> Part:
        """Compare label, number of records, suppressed cells, attributes and pairs."""
        parts = [self._label()]
        if self.missing.least <= self.left_out.most and self.missing.most >= self.left_out.least:
            parts.append(Part(1))
        else:
            published = int(self._published_labels.sum())
            total = difference_of((), (), (), None, published, self.delivered.records, "total")
            parts.append(Part(1, 1, (total,)))
        parts += self._cells()
        for table in self.evidence.attributes:
            if table.attribute in self.placings:
                parts += self._attribute(table, self.placings[table.attribute])
        for done, pair in enumerate(self.evidence.pairs, start=1):
            progress(done, len(self.evidence.pairs) + 2)
            if set(pair.attributes) <= self.placings.keys():
                parts.append(self._pair(pair))
        return Part.together(parts)

    @cached_property
    def missing(self) -> Range:
        """The number of missing records, by the published counts."""
        slack = Slack.of(self.evidence.label, self.sums).for_sum(len(self.evidence.label.domain))
        off = int(self._published_labels.sum()) - self.delivered.records
        return Range(max(0, off - slack), max(0, off + slack))

    @cached_property
    def placings(self) -> Mapping[str, Placing]:
        """The placing of the texts of each delivered attribute with known counts."""
        placings, exact = {}, self.evidence.disclosure_control is None
        for table in self.evidence.attributes:
            if table.attribute in self.delivered.columns:
                function = None if table.masking == IDENTITY else table.function or {"name": ""}
                listed = Listed(table.domain, ValueType(table.type), function, exact=exact)
                placings[table.attribute] = placed(listed, self.delivered.texts(table.attribute))
        return placings

    @cached_property
    def _published_labels(self) -> Counts:
        groups = self.labels.groups
        return fold(np.array(self.evidence.label.joint, dtype=np.int64).T, groups.groups, groups.size)[:, 0]

    @cached_property
    def _missing_labels(self) -> tuple[Counts, Counts]:
        """(label groups,) The number of delivered records of each, and the maximum number missing."""
        delivered = np.zeros(self.labels.groups.size, dtype=np.int64)
        for text, number in self.delivered.labels.items():
            if (place := self.labels.of_text[text]) >= 0:
                delivered[place] += number
        slack = Slack.of(self.evidence.label, self.sums).for_sums(_sizes(self.labels.groups))
        return delivered, np.clip(self._published_labels - delivered + slack, 0, self.left_out.most)

    def _label(self) -> Part:
        slack, (delivered, _) = Slack.of(self.evidence.label, self.sums), self._missing_labels
        off = slack.for_sums(_sizes(self.labels.groups))
        names = [names_of(self.evidence.label.domain, self.labels.groups, at) for at in range(self.labels.groups.size)]
        known = Part.of(
            self._published_labels,
            delivered,
            off + self.left_out.most,
            off,
            lambda at, told, counted: difference_of((), (), (), names[at[0]], told, counted, self._rule(slack)),
        )
        unknown = {text: self.delivered.labels[text] for text in self.labels.unknown}
        return Part.together([known, Part.of_unknown(None, unknown)])

    def _cells(self) -> Iterator[Part]:
        """Compare the number of suppressed cells with the declared one."""
        may_be = suppressed_in(self.evidence, "suppressed_cells")
        stars = {
            name: int(self.delivered.stars(name, placing, self.labels).sum()) for name, placing in self.placings.items()
        }
        if not may_be.most and not any(stars.values()):
            return
        if may_be.least <= sum(stars.values()) <= may_be.most:
            yield Part(1)
            return
        declared = self.evidence.suppressed_cells or 0
        yield Part(1, 1, (difference_of((), (), ("*",), None, declared, sum(stars.values()), "stars"),))

    def _attribute(self, table: EvidenceTable, placing: Placing) -> Iterator[Part]:
        yield self._unknown(table, placing)
        if table.joint is None:
            return
        slack, rows, columns = Slack.of(table, self.sums), placing.groups, self.labels.groups
        published = _folded(np.array(table.joint, dtype=np.int64), rows, columns)
        delivered = self.delivered.joint(table.attribute, placing, self.labels)
        off = slack.for_sums(np.outer(_sizes(rows), _sizes(columns)))
        stars = self.delivered.stars(table.attribute, placing, self.labels)
        rule = self._rule(slack, stars=bool(stars.any()))

        def tell(at: tuple[int, ...], number: int, counted: int) -> Difference:
            value = names_of(table.domain, rows, at[0])
            label = names_of(self.evidence.label.domain, self.labels.groups, at[1])
            return difference_of((table.attribute,), (table.masking,), (value,), label, number, counted, rule)

        yield Part.of(published, delivered, off + self._missing_labels[1] + stars, off, tell)

    def _unknown(self, table: EvidenceTable, placing: Placing) -> Part:
        """Report texts that are not masked values of the entry."""
        unknown = set(placing.unknown)
        if not unknown:
            return Part(0)
        counted: dict[str, int] = {}
        tally = self.delivered.tallies[table.attribute]
        for text, number in zip(tally.texts.tolist(), tally.counts.tolist(), strict=True):
            if text in unknown:
                counted[text] = counted.get(text, 0) + int(number)
        return Part.of_unknown(table, counted)

    def _pair(self, pair: EvidencePair) -> Part:
        domains = {attribute.attribute: attribute.domain for attribute in self.evidence.attributes}
        first, second = pair.attributes
        sides = [
            _pooled(self.placings[name], None if pair.counted_with is None else pair.counted_with[side])
            for side, name in enumerate(pair.attributes)
        ]
        (rows, cells), (columns, more) = sides
        slack = Slack.of(pair, self.sums)
        published = _folded(np.array(pair.joint, dtype=np.int64), rows.groups, columns.groups)
        delivered, elsewhere = self.delivered.pair((first, second), (rows, columns))
        off = slack.for_sums(np.outer(cells, more))
        rule = self._rule(slack, stars=elsewhere > 0)

        def tell(at: tuple[int, ...], number: int, counted: int) -> Difference:
            values = names_of(domains[first], rows.groups, at[0]), names_of(domains[second], columns.groups, at[1])
            return difference_of(tuple(pair.attributes), tuple(pair.maskings), values, None, number, counted, rule)

        missing = min(self.missing.most, self.left_out.most)
        return Part.of(published, delivered, off + missing + elsewhere, off, tell)

    def _rule(self, slack: Slack, *, stars: bool = False) -> str:
        if slack.scale is not None:
            return "noise"
        if slack.off_by:
            return "rounded"
        return "equal" if not self.left_out.most and not stars else "left_out"


def _pooled(placing: Placing, counted_with: Sequence[int] | None) -> tuple[Placing, Counts]:
    """Return the placing of texts in pair counts, and (groups,) the number of published rows in each group."""
    if counted_with is None:
        return placing, _sizes(placing.groups)
    places = np.array(counted_with, dtype=np.intp)
    groups = finest_common_coarsening(placing.groups, Partition.of(places))
    outer = groups.per_group_of(placing.groups)
    of_text = {text: int(outer[group]) if group >= 0 else group for text, group in placing.of_text.items()}
    rows = np.bincount(groups.groups[np.unique(places)], minlength=groups.size)
    return Placing(groups, of_text), rows.astype(np.int64)


def _folded(counts: Counts, rows: Partition, columns: Partition) -> Counts:
    by_row = fold(counts, rows.groups, rows.size)
    folded: Counts = fold(np.ascontiguousarray(by_row.T), columns.groups, columns.size).T
    return folded


def _sizes(partition: Partition) -> Counts:
    return np.bincount(partition.groups, minlength=partition.size).astype(np.int64)
