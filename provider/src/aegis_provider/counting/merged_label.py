"""The label of a counted table without rare values: refused, or merged into one."""

from dataclasses import replace

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, JointCounts, Partition, Places
from aegis_provider.counting.merged_names import MergedValues, merged_texts
from aegis_provider.counting.telling_names import rare_texts
from aegis_provider.errors import TableError, shortened
from aegis_provider.table.values import Domain, ValueType


def refuse_few_records(counted: CountedTable, least: int) -> None:
    """Reject a table with fewer than `least` records.

    Raises:
        TableError: The table has fewer.
    """
    if counted.records < least:
        raise TableError(
            f"{counted.table.name}: has {counted.records} records, fewer than the minimum cell count of {least}; "
            "choose a smaller minimum"
        )


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
    """Merge the label values with fewer than `least` records into one, together with the next rarest if the sum is
    still below it.

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
    rare_names = rare_texts(counted.label, histogram)
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
