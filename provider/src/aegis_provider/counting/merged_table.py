"""A counted table with coarser maskings, so that no count of a masking with the label is small.

Rare values of the label are refused, or merged into one. Names of merged values are composed of the original names.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts, JointCounts, Partition, Places, common_refinement
from aegis_provider.counting.merging import Values, View, nested_merging
from aegis_provider.counting.telling_names import rare_texts
from aegis_provider.errors import TableError, shortened
from aegis_provider.masking import Draw, Mapped
from aegis_provider.plan.model import Masking
from aegis_provider.table.discretization import Binned
from aegis_provider.table.values import MISSING, Domain, ValueType
from aegis_sdk.printable import with_blanks

_LISTED: Final = 3
_LENGTH: Final = 60
_SHOWN: Final = 40


@dataclass(frozen=True)
class MergedValues:
    """Values, masked or of the label, merged into one, `text`."""

    values: tuple[str, ...]
    text: str


def merged_texts(
    groups: Iterable[Sequence[str]], known: Iterable[str], *, ordered: bool, rare: Collection[str] = ()
) -> list[str]:
    """Return a new, unique text for each group of two or more masked values, which are in order.

    If `ordered`, a group has only neighbours and is named by its first and last value, unless one of these is rare.
    Names omit rare values, which count among the `others`. A missing value is named `missing`.
    """
    taken, texts = set(known), []
    for group in groups:
        text = _text(group, rare, ordered=ordered)
        if text in taken:
            text = next(name for number in count(2) if (name := f"{text} ({number})") not in taken)
        taken.add(text)
        texts.append(text)
    return texts


def _text(group: Sequence[str], rare: Collection[str], *, ordered: bool) -> str:
    present = [text for text in group if text != MISSING]
    missing = ["missing"] * (len(present) < len(group))
    common = [text for text in present if text.casefold() not in rare]
    if ordered and len(present) > 1 and {present[0], present[-1]} <= set(common):
        return " or ".join([f"{_short(present[0])} to {_short(present[-1])}", *missing])
    if len(common) < len(present):
        return " or ".join([*map(_short, common[:_LISTED]), "others" if common else "rare values", *missing])
    listed = " or ".join([*map(with_blanks, present), *missing])
    if len(group) <= _LISTED and len(listed) <= _LENGTH:
        return listed
    others = len(present) - 1
    return " or ".join([_short(present[0]), *[f"{others} other{'s' * (others > 1)}"] * (others > 0), *missing])


def _short(text: str) -> str:
    return with_blanks(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def refuse_rare_labels(counted: CountedTable, name: str, least: int) -> None:
    """Reject a table with a label value that has fewer than `least` records: masking cannot hide it.

    Raises:
        TableError: There is such a value.
    """
    histogram = counted.attributes[0].counts.label_histogram()
    place = int(histogram.argmin())
    if histogram[place] < least:
        raise TableError(
            f"{counted.table.name}: the label {name!r} has values with fewer records than the minimum cell count of "
            f"{least}, {shortened(counted.label.texts[place])} only {histogram[place]}; merge them with "
            "--merge-rare-labels or choose a smaller minimum"
        )


def with_merged_labels(counted: CountedTable, name: str, least: int) -> tuple[CountedTable, MergedValues | None]:
    """Merge the label values with fewer than `least` records, and the next rarest if the sum is still below it.

    Raises:
        TableError: One value would be left.
    """
    histogram = counted.attributes[0].counts.label_histogram()
    rare = _rare(histogram, least)
    if not len(rare):
        return counted, None
    if len(rare) == len(histogram):
        raise TableError(
            f"{counted.table.name}: merging the values of the label {name!r} with fewer than {least} records leaves "
            "only one; choose a smaller minimum"
        )
    texts = counted.label.texts
    members = tuple(texts[place] for place in rare)
    rare_names = rare_texts(counted.label, histogram // counted.rows)
    [text] = merged_texts([members], texts, ordered=False, rare=rare_names)
    groups = np.arange(len(texts))
    groups[rare] = rare[0]
    return _with_label(counted, Partition.of(groups), text, rare), MergedValues(members, text)


def _rare(histogram: Counts, least: int) -> Places:
    """Return the places of the values to merge, ascending: the rare ones, and more if their sum is too small."""
    order = np.argsort(histogram, kind="stable")
    number = int(np.count_nonzero(histogram < least))
    if not number:
        return order[:0]
    enough = int(np.searchsorted(histogram[order].cumsum(), least)) + 1
    return np.sort(order[: max(number, enough, 2)])


def _with_label(counted: CountedTable, merged: Partition, text: str, members: Places) -> CountedTable:
    """Return the table with a coarser label, whose merged value has this text."""
    old = counted.label
    first = [int(np.flatnonzero(merged.groups == group)[0]) for group in range(merged.size)]
    texts = tuple(text if place == members[0] else old.texts[place] for place in first)
    places = {each: int(merged.groups[place]) for each, place in old.places.items()}
    label = Domain(ValueType.STRING, texts, texts, places)
    attributes = tuple(_coarser(attribute, merged) for attribute in counted.attributes)
    return replace(counted, label=label, attributes=attributes)


def _coarser(counted: CountedAttribute, label: Partition) -> CountedAttribute:
    """Return the counts with groups of label values."""
    old = counted.counts
    cells, place = np.unique(old.values * label.size + label.groups[old.labels], return_inverse=True)
    sums = np.zeros(len(cells), dtype=np.int64)
    np.add.at(sums, place.reshape(-1), old.counts)
    values, labels = np.divmod(cells, label.size)
    return replace(counted, counts=JointCounts(values, labels, sums, (old.shape[0], label.size)))


_ALL: Final = ""
"""The name of the common refinement of all maskings; no masking can have it."""


@dataclass(frozen=True)
class Merging:
    """The merging of values before an entry is made.

    Attributes:
        least: The smallest count of a masked value and a label value, apart from 0.
        labels: Whether rare label values are merged; otherwise the table is refused.
    """

    least: int
    labels: bool = False

    def of_people(self, rows: int) -> "Merging":
        """Return the merging that leaves as many people, who have at most `rows` records each."""
        return replace(self, least=self.least * rows)


@dataclass(frozen=True)
class MergedMasking:
    """A masking with some of its masked values merged.

    Attributes:
        groups: The merged masked values.
        masked: The new masked value of each value of the attribute.
    """

    attribute: str
    masking: str
    groups: tuple[MergedValues, ...]
    masked: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class MergedTable:
    """A counted table, and the values merged in it.

    Attributes:
        counted: The table; its attributes have the maskings after merging.
        maskings: The maskings with merged masked values.
        label: The merged label values, if any.
        apart: The table before the merging of label values, as in releases.
    """

    counted: CountedTable
    maskings: tuple[MergedMasking, ...] = ()
    label: MergedValues | None = None
    apart: CountedTable | None = None

    def draw(self, counted: CountedAttribute, masking: Masking, seed: int) -> Draw:
        """Return the draw of a random masking in the release: drawn before label values are merged."""
        if self.apart is None:
            return self.counted.draw(counted, masking, seed)
        [same] = [
            attribute for attribute in self.apart.attributes if attribute.attribute.name == counted.attribute.name
        ]
        draw = self.apart.draw(same, masking, seed)
        counts = np.zeros((draw.counts.shape[0], len(self.counted.label), draw.counts.shape[2]), dtype=np.int64)
        for place, text in enumerate(self.apart.label.texts):
            counts[:, self.counted.label.places[text]] += draw.counts[:, place]
        return replace(draw, counts=counts)


def merged_table(counted: CountedTable, label: str, merging: Merging) -> MergedTable:
    """Merge masked values until no masking and no common refinement of an attribute's maskings has a small count.

    So everything that follows from the maskings of an attribute, such as the difference of two of them, is a sum of
    counts that are not small. A table without small counts stays unchanged, and so do maskings without a mapping or
    with a secret one: their masked values cannot be merged.

    Args:
        counted: The table, with only the maskings that configurations use.

    Raises:
        TableError: There are fewer records than the minimum, a label value is rare and must not be merged, or only one
            label value would be left.
    """
    if counted.records < merging.least:
        raise TableError(
            f"{counted.table.name}: has {counted.records} records, fewer than the minimum cell count of "
            f"{merging.least}; choose a smaller minimum"
        )
    together, apart = None, counted
    if merging.labels:
        counted, together = with_merged_labels(counted, label, merging.least)
    else:
        refuse_rare_labels(counted, label, merging.least)
    each = [_merged_maskings(counted, one, merging.least) for one in counted.attributes]
    attributes = []
    for one, of_one in zip(counted.attributes, each, strict=True):
        tables = {masking.masking: masking.masked for masking in of_one}
        coarser = tuple(
            replace(masking, function=Mapped(tables[masking.id])) if masking.id in tables else masking
            for masking in one.attribute.maskings
        )
        attributes.append(replace(one, attribute=replace(one.attribute, maskings=coarser)))
    maskings = tuple(masking for of_one in each for masking in of_one)
    merged = replace(counted, attributes=tuple(attributes))
    return MergedTable(merged, maskings, together, None if together is None else apart)


def _merged_maskings(counted: CountedTable, one: CountedAttribute, least: int) -> list[MergedMasking]:
    secret = {masking.id for masking in one.attribute.maskings if masking.is_secret}
    domains = {name: masked_domain for name, masked_domain in counted.masked_domains(one).items() if name not in secret}
    if not domains:
        return []
    values = Values.of(one.domain, binned=isinstance(counted.table.reading(one.attribute.name), Binned))
    partitions = {name: Partition.of(domain.partition().groups) for name, domain in domains.items()}
    partitions[_ALL] = Partition.of(common_refinement(list(partitions.values())).groups)
    views = [View(partition, one.counts.fold(partition.groups, partition.size)) for partition in partitions.values()]
    merged = dict(zip(partitions, nested_merging(views, least, values), strict=True))
    return [
        _merged_masking(one, name, domain, merged[name], ordered=values.is_order_of(partitions[name]))
        for name, domain in domains.items()
        if merged[name].size < partitions[name].size
    ]


def _merged_masking(
    one: CountedAttribute, name: str, masked: MaskedDomain, merged: Partition, *, ordered: bool
) -> MergedMasking:
    rare = rare_texts(one.domain, one.people)
    groups = _texts_of(masked.texts, merged.per_group_of(masked.partition()).tolist(), rare, ordered=ordered)
    became = {text: group.text for group in groups for text in group.values}
    texts = (masked.texts[place] for place in masked.mapping)
    table = {value: became.get(text, text) for value, text in zip(one.domain.texts, texts, strict=True)}
    return MergedMasking(one.attribute.name, name, groups, table)


def _texts_of(
    texts: Sequence[str], groups: Sequence[int], rare: Collection[str], *, ordered: bool
) -> tuple[MergedValues, ...]:
    """Name the groups of two or more masked values; those of neighbours by the first and the last."""
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    merged = [member for member in members.values() if len(member) > 1]
    named: list[MergedValues] = []
    for each in merged:
        present = [place for place in each if texts[place] != MISSING]
        neighbours = ordered and bool(np.all(np.diff(present) == 1))
        values = tuple(texts[place] for place in each)
        [text] = merged_texts([values], [*texts, *(one.text for one in named)], ordered=neighbours, rare=rare)
        named.append(MergedValues(values, text))
    return tuple(named)
