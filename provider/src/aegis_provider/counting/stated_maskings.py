"""Maskings and discretizations of an entry, as JSON values, and the masked values that it lists.

Some maskings may release single values unchanged: those without a mapping, which are random or were applied elsewhere,
and functions that leave values nearly unique. The rare values among theirs are merged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts, Partition, finest_common_coarsening, tally
from aegis_provider.counting.merging import Values
from aegis_provider.counting.published_domain import PublishedDomain, group_names, least_records, merged_values
from aegis_provider.errors import PlanError, TableError, shortened
from aegis_provider.masking import Draw, Function, MaskedTable, MaskingFunction
from aegis_provider.plan.model import Masking
from aegis_provider.table import Table, open_table
from aegis_provider.table.discretization import Binned, parameters_of
from aegis_provider.table.reading import Reading
from aegis_provider.table.values import MISSING, Domain, ValueType


@dataclass(frozen=True, eq=False)
class CountsElsewhere:
    """The masked values of the attribute in that table, counted with the label.

    Attributes:
        texts: The masked values, `""` first.
        joint: (masked values, labels) the joint counts.
    """

    texts: tuple[str, ...]
    joint: Counts

    @property
    def records(self) -> int:
        """The number of records in that table."""
        return int(self.joint.sum())


def count_elsewhere(
    counted: CountedTable, attribute: CountedAttribute, masking: Masking, label: str, memory_limit: str
) -> CountsElsewhere:
    """Count the column that the masking names, in its file, against the label's column there.

    A CSV file has the delimiter of the counted table, or commas.

    Raises:
        PlanError: The masking is of another kind.
        TableError: The file is not a masking of the counted table: a column or a label is missing, or a label value has
            more records than in the table. The message names the place of the masking.
    """
    function = masking.function
    if not isinstance(function, MaskedTable):
        raise PlanError(f"{masking.place}: was not masked elsewhere, so there is no table to read")
    column = function.column or attribute.attribute.name
    delimiter = counted.table.delimiter or ","
    try:
        with open_table(function.file, delimiter=delimiter, memory_limit=memory_limit) as opened:
            return _counted(opened, column, label, counted)
    except TableError as error:
        raise TableError(f"{error} ({masking.place})") from error


def _counted(opened: Table, column: str, label: str, counted: CountedTable) -> CountsElsewhere:
    [pairs] = tally(opened, [column], label)
    for text in pairs.labels:
        if text not in counted.label.places:
            where = opened.located(label, text)
            raise TableError(f"{where}: {counted.table.name} has no {label} {shortened(text)}; is it masked too?")
    domain = Domain.of(pairs.texts)
    joint = np.zeros((len(domain), len(counted.label)), dtype=np.int64)
    rows = [domain.places[text] for text in pairs.texts]
    columns = [counted.label.places[text] for text in pairs.labels]
    np.add.at(joint, (rows, columns), pairs.counts)
    _refuse_more(opened, joint, counted, label)
    return CountsElsewhere(domain.texts, joint)


def _refuse_more(opened: Table, joint: Counts, counted: CountedTable, label: str) -> None:
    """Reject a table with more records than the counted one. Records may be left out, but not added."""
    here, there = joint.sum(axis=0), counted.attributes[0].counts.label_histogram()
    if not here.sum():
        raise TableError(f"{opened.name}: the table has no records")
    for place in np.flatnonzero(here > there)[:1]:
        text = shortened(counted.label.texts[place])
        raise TableError(
            f"{opened.name}: has {here[place]} records of {label} {text}, but {counted.table.name} has {there[place]}; "
            "is it a masking of that table?"
        )


_FEW: Final = 20
"""A table with fewer records is too small to judge."""

_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True, eq=False)
class ListedMasked:
    """The masked values of a masking, as listed in an entry.

    Attributes:
        partition: The listed value of each masked value.
    """

    texts: tuple[str, ...]
    partition: Partition

    @classmethod
    def exact(cls, texts: Sequence[str]) -> "ListedMasked":
        """List every masked value."""
        return cls(tuple(texts), Partition.identity(len(texts)))

    @classmethod
    def common(cls, texts: Sequence[str], joint: Counts, counted: CountedAttribute, *, binned: bool) -> "ListedMasked":
        """List common masked values, and groups of rare ones, merged like unmasked values.

        Args:
            texts: The masked values, in order.
            joint: (masked, labels) Their joint counts with the label.
            counted: The attribute.
            binned: Whether its values are bins.
        """
        is_same = tuple(texts) == counted.domain.texts
        known, binned = (counted.domain, binned) if is_same else (_domain_of(texts), False)
        histogram = joint.sum(axis=1)
        everything = Partition(np.zeros(len(known), dtype=np.intp), 1)
        least, fewest = least_records(int(histogram.sum()), counted.rows), counted.least
        listed = Partition.of(merged_values(known, joint, everything, least, binned=binned, fewest=fewest).groups)
        members = [np.flatnonzero(listed.groups == group) for group in range(listed.size)]
        return cls(group_names(known, members, binned=binned, frequent=histogram >= counted.least), listed)

    def summed(self, table: NDArray[_Number]) -> NDArray[_Number]:
        """(listed, n) The sums of the rows (masked, n) of each listed masked value."""
        sums = np.zeros((self.partition.size, table.shape[1]), dtype=table.dtype)
        np.add.at(sums, self.partition.groups, table)
        return sums


def is_nearly_unique(counted: CountedAttribute, masked: MaskedDomain) -> bool:
    """Return whether a masking has at most two records per masked value, or leaves most values as rare as before."""
    histogram = counted.counts.histogram()
    records, rare = int(histogram.sum()), int(histogram[_shown(counted, masked)].sum())
    return 2 * len(masked.texts) > max(records, _FEW) or 2 * rare > records


def listed_as_unmasked(
    counted: CountedAttribute, masked: MaskedDomain, published: PublishedDomain, *, binned: bool
) -> MaskedDomain:
    """Merge the masked values of a function like the listed values, so that none has few records.

    Args:
        binned: Whether the values are bins.
    """
    return _listed(counted, finest_common_coarsening(published.partition, masked.partition()), binned=binned)


def listed_without_rare(counted: CountedAttribute, masked: MaskedDomain, *, binned: bool) -> MaskedDomain:
    """Merge those masked values of a function that are unchanged values of few records.

    If values are ordered, only consecutive ones are merged.
    """
    domain, shown = counted.domain, _shown(counted, masked)
    if not shown.any():
        return masked
    ordered = Values.of(domain, binned=binned).ordered
    runs = np.cumsum(np.diff(shown.astype(np.intp), prepend=0) == 1) if ordered else np.zeros(shown.size, dtype=np.intp)
    atoms = Partition.of(np.where(shown, len(masked.texts) + runs, masked.mapping))
    least = counted.least
    values = merged_values(domain, counted.counts.dense(), atoms, least, binned=binned, fewest=least)
    return _listed(counted, finest_common_coarsening(Partition.of(values.groups), masked.partition()), binned=binned)


def _listed(counted: CountedAttribute, partition: Partition, *, binned: bool) -> MaskedDomain:
    members = [np.flatnonzero(partition.groups == group) for group in range(partition.size)]
    frequent = counted.people >= LEAST
    texts = group_names(counted.domain, members, binned=binned, frequent=frequent)
    return MaskedDomain(texts, tuple(partition.groups.tolist()))


def _shown(counted: CountedAttribute, masked: MaskedDomain) -> NDArray[np.bool_]:
    """(values,) Whether each is a value of few records that a masking leaves unchanged."""
    both = zip(masked.mapping, counted.domain.texts, strict=True)
    kept = [masked.texts[place] == text != MISSING for place, text in both]
    return np.array(kept, dtype=bool) & (counted.people < LEAST)


def _domain_of(texts: Sequence[str]) -> Domain:
    """Return masked values as a domain: of numbers or dates if they are in the order of these, else of texts."""
    typed = Domain.of(texts)
    if typed.texts == tuple(texts):
        return typed
    place = {text: place for place, text in enumerate(texts)}
    return Domain.in_order(texts, place.__getitem__)


MERGED: Final = "merged"
"""The discretization of numbers and dates whose domain is no finer than the shared maskings."""


def discretization_of(counted: CountedAttribute, reading: Reading, published: PublishedDomain) -> dict[str, Any]:
    """Return the `discretization` of an attribute, if it has any."""
    rule = counted.attribute.discretization
    if rule is None or not isinstance(reading, Binned):
        numeric = counted.domain.value_type in {ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE}
        merged = numeric and published.texts != counted.domain.texts
        return {"discretization": {"rule": MERGED, "parameters": {}}} if merged else {}
    return {"discretization": {"rule": rule.name, "parameters": parameters_of(rule, reading.bins)}}


def masking_by_value(
    counted: CountedAttribute,
    masking_id: str,
    function: MaskingFunction,
    masked: MaskedDomain,
    published: PublishedDomain,
) -> dict[str, Any]:
    """Return a masking that gives each value a masked value."""
    mapping = {} if function.secret else {"mapping": masked.partition().per_group_of(published.partition).tolist()}
    return {
        "id": masking_id,
        "function": _function(function),
        "domain": list(masked.texts),
        **({"deterministic": True} if function.secret else mapping),
        "joint": counted.counts.fold(masked.mapping, len(masked.texts)).tolist(),
    }


def drawn_masking(masking: Masking, draw: Draw, published: PublishedDomain, listed: ListedMasked) -> dict[str, Any]:
    """Return a random masking, with the counts of its draw."""
    transition = None
    if draw.transition is not None:
        transition = np.minimum(listed.summed(published.averages(draw.transition).T).T, 1.0)  # rounding may exceed 1
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(listed.texts),
        **({} if transition is None else {"transition": transition.tolist()}),
        "deterministic": False,
        "joint": listed.summed(draw.joint()).tolist(),
    }


def masking_elsewhere(
    masking: Masking, elsewhere: CountsElsewhere, records: int, listed: ListedMasked
) -> dict[str, Any]:
    """Return a masking that was applied elsewhere; `records` are those of the table."""
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(listed.texts),
        "deterministic": False,
        **({"records": elsewhere.records} if elsewhere.records < records else {}),
        "joint": listed.summed(elsewhere.joint).tolist(),
    }


def _function(function: Function) -> dict[str, Any]:
    return {"name": function.name, "parameters": function.parameters()}


def without_values(function: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the parameters that map each value: they name rare values, too."""
    parameters = {name: each for name, each in function["parameters"].items() if not isinstance(each, dict)}
    return {**function, "parameters": parameters}
