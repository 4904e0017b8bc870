"""From a table and a plan to the domains, the joint counts and the masked values that both outputs need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aegis_sdk.provider.counts import JointCounts, Tally, tally
from aegis_sdk.provider.discretization import Binned, discretized, mask_bins
from aegis_sdk.provider.errors import TableError, UnmaskableValueError
from aegis_sdk.provider.partition import Partition
from aegis_sdk.provider.plan import Attribute, Masking, Plan
from aegis_sdk.provider.table import Table
from aegis_sdk.provider.values import MISSING, Domain, ValueType


@dataclass(frozen=True)
class CountedAttribute:
    """An attribute with what the table holds of it."""

    attribute: Attribute
    domain: Domain
    counts: JointCounts


@dataclass(frozen=True)
class MaskedDomain:
    """`texts`: the masked values, `""` first; `mapping`: for each value the index of its masked value."""

    texts: tuple[str, ...]
    mapping: tuple[int, ...]

    @classmethod
    def of(cls, masked: Sequence[str]) -> "MaskedDomain":
        """In the order of the values that they come from."""
        texts = sorted(dict.fromkeys(masked), key=lambda text: text != MISSING)
        places = {text: place for place, text in enumerate(texts)}
        return cls(tuple(texts), tuple(places[text] for text in masked))

    def partition(self) -> Partition:
        """The values, grouped by their masked values."""
        return Partition(np.array(self.mapping, dtype=np.intp), len(self.texts))


@dataclass(frozen=True)
class CountedTable:
    """The attributes of a plan, counted in a table against the label."""

    table: Table
    label: Domain
    attributes: tuple[CountedAttribute, ...]

    @classmethod
    def of(cls, table: Table, plan: Plan) -> "CountedTable":
        """
        Reads the table once; once more where attributes are discretised, and again for each rule that needs quantiles.

        Its `table` is the one given with such attributes read as bins.

        Raises `TableError`: no such column, no record, a value that is not of its attribute's type.
        """
        rules = {each.name: each.discretization for each in plan.attributes if each.discretization is not None}
        table = discretized(table, rules)
        tallies = tally(table, [attribute.name for attribute in plan.attributes], plan.label)
        if not len(tallies[0].counts):
            raise TableError(f"{table.name}: the table has no records")
        label = _domain(table, plan.label, tallies[0].labels, None)
        pairs = zip(plan.attributes, tallies, strict=True)
        return cls(table, label, tuple(_counted(table, attribute, each, label) for attribute, each in pairs))

    @property
    def records(self) -> int:
        """`N`."""
        return int(self.attributes[0].counts.counts.sum())

    def masked_domains(self, counted: CountedAttribute) -> dict[str, MaskedDomain]:
        """What each masking makes of the domain, by its id. Raises `TableError` as `masked` does."""
        return {each.id: MaskedDomain.of(self.masked(counted, each)) for each in counted.attribute.maskings}

    def masked(self, counted: CountedAttribute, masking: Masking) -> list[str]:
        """The masked text of each value of the attribute. Raises `TableError` for a value that has none."""
        name = counted.attribute.name
        try:
            reading = self.table.reading(name)
            if isinstance(reading, Binned):
                return mask_bins(masking.function, counted.domain, reading)
            return masking.function.mask(counted.domain)
        except UnmaskableValueError as fault:
            is_binned = isinstance(self.table.reading(name), Binned)
            where = self.table.name if is_binned else self.table.located(name, fault.text)
            raise TableError(f"{where}: {name} {fault} ({masking.place})") from fault


def _counted(table: Table, attribute: Attribute, counted: Tally, label: Domain) -> CountedAttribute:
    domain = _domain(table, attribute.name, counted.texts, attribute.value_type)
    counts = JointCounts(
        values=_places(domain, counted.texts),
        labels=_places(label, counted.labels),
        counts=counted.counts,
        shape=(len(domain), len(label)),
    )
    return CountedAttribute(attribute, domain, counts)


def _domain(table: Table, column: str, texts: NDArray[Any], declared: ValueType | None) -> Domain:
    try:
        _refuse_nul(texts)
        if isinstance(reading := table.reading(column), Binned):
            return Domain.in_order(texts, reading.key_of)
        return Domain.of(texts, declared)
    except UnmaskableValueError as fault:
        raise TableError(f"{table.located(column, fault.text)}: {column} {fault}") from fault


def _refuse_nul(texts: Iterable[str]) -> None:
    for text in texts:
        if "\0" in text:
            raise UnmaskableValueError(text, "holds a NUL character")


def _places(domain: Domain, texts: NDArray[Any]) -> NDArray[np.intp]:
    return np.fromiter((domain.places[text] for text in texts), dtype=np.intp, count=len(texts))
