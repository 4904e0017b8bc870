"""The masked table of one configuration, as it is made from a table, block by block."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable, MaskedDomain
from aegis_provider.errors import TableError
from aegis_provider.masking import Draw, random_for
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.release.blocks import Texts, block_schema, blocks_of, places_of
from aegis_provider.release.handing_out import ExhaustedError, Urns
from aegis_provider.table.values import Domain, ValueType

Mask: TypeAlias = Callable[[Texts, Texts], Texts]
"""Masked texts of some records, from their texts and their labels."""


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column that is shared, the `domain` of what is shared of it, and what begins to mask its records."""

    name: str
    domain: Domain
    masking: Callable[[], Mask]


@dataclass(frozen=True, eq=False)
class Release:
    """What a configuration shares of a counted table: `columns`, in the table's order.

    They are the plan's attributes that are not dropped, and the label; no other column is published.
    """

    counted: CountedTable
    label: str
    columns: tuple[ReleasedColumn, ...]

    @classmethod
    def of(cls, counted: CountedTable, plan: Plan, configuration: Configuration) -> "Release":
        """Raises `TableError` for a value that its masking function has no masked value for, or cannot draw one."""
        choices = {plan.label: IDENTITY, **configuration.maskings}
        shared = [name for name in counted.table.columns if choices.get(name, DROP) != DROP]
        columns = (_column(counted, plan, name, choices[name]) for name in shared)
        return cls(counted, plan.label, tuple(columns))

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [column.name for column in self.columns]

    @property
    def domains(self) -> Mapping[str, Domain]:
        """What is shared, by column."""
        return {column.name: column.domain for column in self.columns}

    def only(self, names: Collection[str]) -> "Release":
        """The same release, of these columns alone."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """The masked texts of all records, in the table's order; each time the same, whatever the other columns.

        Raises `TableError` where the records are no longer those that were counted.
        """
        masks = [column.masking() for column in self.columns]
        schema = block_schema(len(masks))
        records = 0
        for block in blocks_of(self.counted.table.batches([*self.names, self.label])):
            records += block.num_rows
            yield pa.record_batch(self._masked(block, masks), schema=schema)
        if records != self.counted.records:
            raise self.changed()

    def _masked(self, block: pa.RecordBatch, masks: Sequence[Mask]) -> list[Texts]:
        *columns, labels = block.columns
        try:
            return [mask(texts, labels) for mask, texts in zip(masks, columns, strict=True)]
        except (KeyError, ExhaustedError) as error:
            raise self.changed() from error

    def changed(self) -> TableError:
        """What to raise where the table is not the one that was counted."""
        return TableError(f"{self.counted.table.name}: changed while it was read; apply again")


def _column(counted: CountedTable, plan: Plan, name: str, choice: str) -> ReleasedColumn:
    attribute = next((each for each in counted.attributes if each.attribute.name == name), None)
    if attribute is None or choice == IDENTITY:
        return ReleasedColumn(name, counted.label if attribute is None else attribute.domain, lambda: _as_it_is)
    masking = next(each for each in attribute.attribute.maskings if each.id == choice)
    if not masking.is_random:
        masked = MaskedDomain.of(counted.masked(attribute, masking))
        return ReleasedColumn(name, _domain_of(masked.texts), lambda: _looked_up(attribute.domain, masked))
    draw = counted.draw(attribute, masking, plan.seed)
    urns = partial(_urns, draw, plan.seed, name, masking.id)
    domains = attribute.domain, counted.label
    return ReleasedColumn(name, _domain_of(draw.texts), lambda: _handed_out(*domains, draw.texts, urns()))


def _domain_of(texts: Sequence[str]) -> Domain:
    """Masked values in their own order: that of the values they come from."""
    places = {text: place for place, text in enumerate(texts)}
    return Domain(ValueType.STRING, tuple(texts), tuple(text or None for text in texts), places)


def _as_it_is(texts: Texts, _labels: Texts) -> Texts:
    return texts


def _looked_up(domain: Domain, masked: MaskedDomain) -> Mask:
    values = pa.array(masked.texts)
    mapping = np.array(masked.mapping, dtype=np.intp)
    return lambda texts, _labels: values.take(pa.array(mapping[places_of(texts, domain.places)]))


def _urns(draw: Draw, seed: int, attribute: str, masking_id: str) -> Urns:
    """Full ones, handed out by chance of their own: that of the draw must not say which record gets what."""
    [random] = random_for(seed, attribute, masking_id).spawn(1)
    return Urns(draw.counts, random)


def _handed_out(domain: Domain, label: Domain, masked: Sequence[str], urns: Urns) -> Mask:
    values = pa.array(masked)

    def mask(texts: Texts, labels: Texts) -> Texts:
        return values.take(pa.array(urns.draw(places_of(texts, domain.places), places_of(labels, label.places))))

    return mask
