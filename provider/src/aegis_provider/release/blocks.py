"""Builds the masked table of a configuration, block by block, on any engine."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts, Places
from aegis_provider.errors import TableError
from aegis_provider.masking import Draw, random_for
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy.cells import STAR
from aegis_provider.privacy.classes import is_rising
from aegis_provider.table.arrays import number_array, numbers_in, text_array
from aegis_provider.table.discretization import Binned
from aegis_provider.table.values import IN_ORDER, Domain, ValueType

RECORDS = 1 << 16

Texts: TypeAlias = pa.StringArray
"""The texts of a column of a block, or of a domain."""


def block_schema(columns: int) -> pa.Schema:
    """Return the schema of a block with that many text columns, called `v0, v1, ...`."""
    return pa.schema([(f"v{place}", pa.string()) for place in range(columns)])


def blocks_of(batches: Iterable[pa.RecordBatch], records: int = RECORDS) -> Iterator[pa.RecordBatch]:
    """Yield the same records in the same order in blocks of `records`; only the last block may have fewer.

    The sizes of an engine's batches depend on its threads; random draws, made per block, must not.
    """
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        if held >= records:
            whole = pa.concat_batches(waiting)
            rest = held % records
            for start in range(0, held - rest, records):
                yield whole.slice(start, records)
            waiting, held = [whole.slice(held - rest)], rest
    if held:
        yield pa.concat_batches(waiting)


def places_of(texts: pa.Array, places: Mapping[str, int], mapping: Places | None = None) -> Places:
    """(records,) The place of each text in its domain, mapped by any `mapping`.

    Raises:
        KeyError: A text is not in the domain.
    """
    coded = texts.dictionary_encode()
    known = np.array([places[text] for text in coded.dictionary.to_pylist()], dtype=np.intp)
    codes: Places = (known if mapping is None else mapping[known])[numbers_in(coded.indices)]
    return codes


class ExhaustedError(Exception):
    """The table has more records of a value and label than the draw has masked values."""


class Urns:
    """An urn of masked values for every pair of value and label, from which its records draw without replacement.

    Every urn ends up empty, so the counts are exactly those of the draw. All orders of a pair's masked values are
    equally likely, as if the urn were shuffled and dealt out.
    """

    def __init__(self, counts: Counts, random: np.random.Generator) -> None:
        """Fill the urns.

        Args:
            counts: (values, labels, masked values) The contents of the urns; (1, ...) if all values share them.
            random: The generator to draw with.
        """
        self._values, self._labels, masked = counts.shape
        self._left = counts.reshape(-1, masked).astype(np.int64)
        self._random = random

    def draw(self, values: Places, labels: Places) -> Places:
        """(records,) A masked value for each of these records.

        Raises:
            ExhaustedError: There are more records than masked values.
        """
        cells = labels if self._values == 1 else values * self._labels + labels
        drawn = np.empty(len(cells), dtype=np.intp)
        for cell, records in _groups(cells):
            drawn[records] = self._draw(self._left[cell], len(records))
        return drawn

    def _draw(self, urn: Counts, many: int) -> Places:
        """Take this many masked values out of an urn, in the order of the draw.

        It draws numbers of items, since NumPy's own urns hold at most 10^9.
        """
        ends = np.cumsum(urn)
        if many > ends[-1]:
            raise ExhaustedError
        numbers = self._random.choice(ends[-1], many, replace=False)
        drawn = np.searchsorted(ends, numbers, side="right")
        urn -= np.bincount(drawn, minlength=len(urn))
        return drawn


def _groups(cells: Places) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield every cell that occurs, in ascending order, with its records."""
    order = np.argsort(cells, kind="stable")
    distinct, starts = np.unique(cells[order], return_index=True)
    yield from zip(distinct.tolist(), np.split(order, starts[1:]), strict=True)


Coded: TypeAlias = pa.StringArray | pa.DictionaryArray
"""Texts, plain or dictionary-encoded; a table of any size is masked, shuffled and written in this form."""

Mask: TypeAlias = Callable[[Texts, Texts], Coded]
"""Masks the texts of some records, given their texts and labels."""


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A released column, the `domain` of its released values, and a factory for its `Mask`.

    `categorical`: whether these are texts of the table in a stated order.
    """

    name: str
    domain: Domain
    masking: Callable[[], Mask]
    categorical: bool = False


@dataclass(frozen=True, eq=False)
class Release:
    """The release of a counted table by a configuration.

    Its `columns`, the only ones published, are the label and the attributes that are not dropped, in the table's order.
    """

    counted: CountedTable
    label: str
    columns: tuple[ReleasedColumn, ...]

    @classmethod
    def of(cls, counted: CountedTable, plan: Plan, configuration: Configuration) -> "Release":
        """Return the release by that configuration.

        Raises:
            TableError: A masking function has no masked value for a value, or cannot draw one.
        """
        choices = {plan.label: IDENTITY, **configuration.maskings}
        shared = [name for name in counted.table.columns if choices.get(name, DROP) != DROP]
        columns = (_column(counted, plan, name, choices[name]) for name in shared)
        return cls(counted, plan.label, tuple(columns))

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The domains of the released values, by column."""
        return {column.name: column.domain for column in self.columns}

    def only(self, names: Collection[str]) -> "Release":
        """Return the same release restricted to these columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def by_person(self) -> "Release":
        """Return the same release with the column that says whose a record is as its last one, to be judged by.

        It is not published, so the domain of its texts is empty.
        """
        if self.counted.person is None:
            return self
        whose = ReleasedColumn(self.counted.person, _domain_of((), ordered=False), lambda: lambda texts, _labels: texts)
        return replace(self, columns=(*self.columns, whose))

    def with_stars(self, names: Collection[str]) -> "Release":
        """Return the same release with `*` in the domains of these columns, where single cells are suppressed."""
        columns = []
        for column in self.columns:
            domain = _domain_of((*column.domain.texts, STAR), ordered=False)
            columns.append(replace(column, domain=domain) if column.name in names else column)
        return replace(self, columns=tuple(columns))

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Yield the masked texts of all records in the table's order, the same each time and for any other columns.

        Raises:
            TableError: The records are no longer those that were counted.
        """
        schema = block_schema(len(self.columns))
        for block in self.coded_blocks():
            yield pa.record_batch(list(map(_decoded, block.columns)), schema=schema)

    def coded_blocks(self) -> Iterator[pa.RecordBatch]:
        """Yield the same with dictionary-encoded masked columns, which are faster to shuffle and write.

        Raises:
            TableError: As for `blocks`.
        """
        masks = [column.masking() for column in self.columns]
        names = block_schema(len(masks)).names
        records = 0
        for block in blocks_of(self.counted.table.batches([*self.names, self.label])):
            records += block.num_rows
            yield pa.record_batch(self._masked(block, masks), names)
        if records != self.counted.records:
            raise self.changed()

    def masked(self, columns: Mapping[str, Texts]) -> list[Texts]:
        """Return the masked texts of some of the records, given their texts by column.

        Raises:
            TableError: The records are not among the counted ones.
        """
        block = pa.record_batch(
            [columns[each] for each in (*self.names, self.label)], block_schema(len(self.names) + 1)
        )
        return list(map(_decoded, self._masked(block, [column.masking() for column in self.columns])))

    def _masked(self, block: pa.RecordBatch, masks: Sequence[Mask]) -> list[Coded]:
        *columns, labels = block.columns
        try:
            return [mask(texts, labels) for mask, texts in zip(masks, columns, strict=True)]
        except (KeyError, ExhaustedError) as error:
            raise self.changed() from error

    def changed(self) -> TableError:
        """Return the error for a table that changed after it was counted."""
        return TableError(f"{self.counted.table.name}: changed while it was read; apply again")


def _column(counted: CountedTable, plan: Plan, name: str, choice: str) -> ReleasedColumn:
    attribute = next((each for each in counted.chosen(plan) if each.attribute.name == name), None)
    if attribute is None or choice == IDENTITY:
        domain = counted.label if attribute is None else attribute.domain
        in_bins = isinstance(counted.table.reading(name), Binned)
        categorical = domain.ordered and domain.value_type not in IN_ORDER and not in_bins
        if domain.has_one_spelling:
            return ReleasedColumn(name, domain, lambda: lambda texts, _labels: texts, categorical)
        one_spelling = _looked_up(domain, MaskedDomain(domain.texts, tuple(range(len(domain)))))
        return ReleasedColumn(name, domain, lambda: one_spelling, categorical)
    masking = next(each for each in attribute.attribute.maskings if each.id == choice)
    if not masking.is_random:
        masked = MaskedDomain.of(counted.masked(attribute, masking))
        ordered = attribute.domain.ordered and is_rising(masked.mapping)
        return ReleasedColumn(
            name, _domain_of(masked.texts, ordered=ordered), lambda: _looked_up(attribute.domain, masked)
        )
    draw = counted.draw(attribute, masking, plan.seed)
    urns = partial(_urns, draw, plan.seed, name, masking.id)
    domains = attribute.domain, counted.label
    ordered = attribute.domain.ordered and _is_ordered(attribute.domain, draw.texts)
    return ReleasedColumn(name, _domain_of(draw.texts, ordered=ordered), lambda: _drawn(*domains, draw.texts, urns()))


def _domain_of(texts: Sequence[str], *, ordered: bool) -> Domain:
    """Return the domain of masked values, in the order of the values that they mask."""
    places = {text: place for place, text in enumerate(texts)}
    return Domain(ValueType.STRING, tuple(texts), tuple(text or None for text in texts), places, ordered)


def _is_ordered(domain: Domain, drawn: Sequence[str]) -> bool:
    """Return whether drawn values have the order of the values that they replace, or of numbers."""
    if set(drawn) <= domain.places.keys():
        return is_rising([domain.places[text] for text in drawn])
    typed = Domain.of(drawn)
    return typed.ordered and typed.texts == tuple(drawn)


def _looked_up(domain: Domain, masked: MaskedDomain) -> Mask:
    values, mapping = text_array(masked.texts), np.array(masked.mapping, dtype=np.intp)
    return lambda texts, _labels: _as_coded(places_of(texts, domain.places, mapping), values)


def _as_coded(places: Places, values: pa.StringArray) -> pa.DictionaryArray:
    kind = np.min_scalar_type(-max(1, len(values)))
    return pa.DictionaryArray.from_arrays(number_array(places.astype(kind)), values, safe=False)


def _decoded(texts: Coded) -> Texts:
    return texts.dictionary_decode() if isinstance(texts, pa.DictionaryArray) else texts


def _urns(draw: Draw, seed: int, attribute: str, masking_id: str) -> Urns:
    """Return full urns with their own generator, since the draw's generator would reveal which record gets what."""
    [random] = random_for(seed, attribute, masking_id).spawn(1)
    return Urns(draw.counts, random)


def _drawn(domain: Domain, label: Domain, masked: Sequence[str], urns: Urns) -> Mask:
    values = text_array(masked)

    def mask(texts: Texts, labels: Texts) -> Coded:
        drawn = urns.draw(places_of(texts, domain.places), places_of(labels, label.places))
        return _as_coded(drawn, values)

    return mask
