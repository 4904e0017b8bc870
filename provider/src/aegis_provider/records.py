"""Records of a table in memory, for training models and for attacks, or a random part of a large table.

Their two sides are the training records of a generator, and the held-out records. The side of a record depends only on
the values of its attributes, so that equal records are on one side, and the sides can be recomputed from the table.
This discloses no value. The label is ignored: if records that differ only in the label were on different sides, the
training records would lack exactly the records with the label of a held-out one, and models that learn well would do
badly.
"""

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.errors import PlanError, TableError, UnmaskableValueError, shortened
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.release.blocks import places_of
from aegis_provider.table import Table
from aegis_provider.table.arrays import numbers_in
from aegis_provider.table.notation import Writing, is_text, plainly, recognised_or_located
from aegis_provider.table.values import MISSING, Domain, ValueType

NUMERIC: Final = (ValueType.INTEGER, ValueType.NUMBER)
"""The numeric types."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table.

    Attributes:
        places: (records,) The place of each value in the domain.
    """

    name: str
    domain: Domain
    places: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, texts: pa.StringArray, declared: ValueType | None = None) -> Self:
        """Return a column with these texts.

        Raises:
            UnmaskableValueError: A text is not a value of the declared type.
        """
        domain = Domain.of(texts.unique().to_pylist(), declared)
        return cls(name, domain, places_of(texts, domain.places))

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """(values,) The number of each value; see `numbers_of`."""
        return numbers_of(self.domain)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(values,) The number of records with each value."""
        return np.bincount(self.places, minlength=len(self.domain)).astype(np.int64)

    @property
    def missing(self) -> int | None:
        """The place of the missing value in the domain; `None` if there is none."""
        return self.domain.places.get(MISSING)

    def take(self, rows: NDArray[Any]) -> Self:
        """Return the column of these records, with the same domain."""
        return replace(self, places=self.places[rows])


def numbers_of(domain: Domain) -> NDArray[np.float64] | None:
    """(values,) The numbers of a domain, dates as days, NaN if missing; `None` if some values are neither."""
    if domain.value_type == ValueType.DATE:
        return as_numbers([None if key is None else key.toordinal() for key in domain.keys])
    return as_numbers(domain.keys) if domain.value_type in NUMERIC else None


def as_numbers(keys: Sequence[Any]) -> NDArray[np.float64]:
    """(values,) The keys as floats, NaN for `None`."""
    return np.array(keys, dtype=np.float64)


MOST_RECORDS: Final = 50_000
"""A larger table is sampled to this many records."""


@dataclass(frozen=True, eq=False)
class Records:
    """Records in memory, all columns in the same order, the label last.

    `people`: (records,) the number of the person of each; `None` if the plan does not say whose they are.
    """

    columns: tuple[Column, ...]
    people: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.columns[0].places)

    @property
    def number(self) -> int:
        """The number of people; of records, if it is not known whose they are."""
        return len(self) if self.people is None else len(np.unique(self.people))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def rows(self) -> int:
        """The most records of one person; 1 if it is not known whose records are."""
        return 1 if self.people is None else int(np.unique(self.people, return_counts=True)[1].max(initial=1))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the columns without the label; the label's if it is the only column."""
        return self.names[:-1] or self.names

    def column(self, name: str) -> Column:
        """Return the column with this name."""
        return self.columns[self.names.index(name)]

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the records: by their places, or by a mask."""
        people = None if self.people is None else self.people[rows]
        return type(self)(tuple(column.take(rows) for column in self.columns), people)

    def persons(self, names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (persons,) the first record of each, and (records,) whose each is.

        If it is not known whose records are, those that are equal in these columns count as one person's.
        """
        if self.people is None:
            return self.distinct(names)
        _, first, of_record = np.unique(self.people, return_index=True, return_inverse=True)
        return first, of_record.reshape(-1)

    def distinct(self, names: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (distinct records,) the first record of each kind in these columns, and (records,) their kinds."""
        _, first, of_record = np.unique(self.places(names), axis=0, return_index=True, return_inverse=True)
        return first, of_record.reshape(-1)

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """(records, names) The place of each value in the domain of its column."""
        return np.stack([self.column(name).places for name in names], axis=1)


def read_records(
    table: Table,
    attributes: Sequence[Attribute],
    label: str,
    *,
    most: int = MOST_RECORDS,
    seed: int = 0,
    as_written: bool = False,
    person: str | None = None,
) -> Records:
    """Read the attributes and, as the last column, the label, of at most `most` random records.

    Args:
        most: Maximum number of records. The sample depends on the number of records.
        as_written: Read all records, and values as texts, whatever their type. Then records are read independently;
            otherwise the types and spellings of values depend on other records.
        person: The column that says whose a record is, if any.

    Raises:
        TableError: The table cannot be read, has no records, lacks a column, or has a value that is not of its type.
    """
    names = [*(attribute.name for attribute in attributes), label]
    table.positions(names)
    records = table.records()
    if not records:
        raise TableError(f"{table.name}: has no records")
    chosen = drawn(records, records if as_written else most, seed)
    texts = rows_of(table.batches(names), chosen)
    if not as_written and (again := _read_plainly(table, attributes, texts)) is not table:
        table, texts = again, rows_of(again.batches(names), chosen)
    columns = []
    declared = [*(attribute.value_type for attribute in attributes), None]
    for name, column, value_type in zip(names, texts.columns, declared, strict=True):
        try:
            columns.append(Column.of(name, column.combine_chunks(), ValueType.STRING if as_written else value_type))
        except UnmaskableValueError as error:
            raise TableError(f"{table.located(name, error.text)}: {shortened(name)}: {error}") from error
    if person is None:
        return Records(tuple(columns))
    return Records(tuple(columns), people_in(rows_of(table.batches([person]), chosen).column(0)))


def people_in(texts: pa.ChunkedArray) -> NDArray[np.intp]:
    """(records,) The number of the person of each record, which the text alone decides; below 0 without a text."""
    coded = texts.combine_chunks().dictionary_encode()
    names, people = coded.dictionary.to_pylist(), numbers_in(coded.indices).astype(np.intp)
    numbers = np.array([_digest([name]) >> 1 for name in names], dtype=np.intp)[people]
    unknown = people == (names.index(MISSING) if MISSING in names else len(names))
    return np.where(unknown, -1 - np.arange(len(people)), numbers)


def _digest(texts: Iterable[str]) -> int:
    """Return a number of 64 bits that the texts decide."""
    return int.from_bytes(hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest(), "big")


def _read_plainly(table: Table, attributes: Sequence[Attribute], texts: pa.Table) -> Table:
    """Return the table with numbers and dates read in the form recognised in these records."""
    forms = {}
    for attribute, column in zip(attributes, texts.columns, strict=False):
        if attribute.value_type in {ValueType.STRING, ValueType.BOOLEAN} or not is_text(table, attribute.name):
            continue
        counted = column.value_counts()
        counts = dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))
        of = recognised_or_located(table, attribute.name, counts, attribute.value_type)
        if of is not None and not of.odd:
            forms[attribute.name] = Writing(of.form)
    return plainly(table, forms)


def drawn(records: int, most: int, seed: int) -> NDArray[np.intp]:
    """(at most `most`,) The ascending places of records drawn without replacement; all if there are few."""
    if records <= most:
        return np.arange(records)
    return np.sort(np.random.default_rng(seed).choice(records, most, replace=False))


def rows_of(batches: Iterable[pa.RecordBatch], chosen: NDArray[np.intp]) -> pa.Table:
    """Return the chosen records, by their ascending places, of the batches of a table."""
    taken, before = [], 0
    for batch in batches:
        first, last = np.searchsorted(chosen, (before, before + batch.num_rows))
        taken.append(batch.take(pa.array(chosen[first:last] - before)))
        before += batch.num_rows
    return pa.Table.from_batches(taken)


_FOR_VALIDATION: Final = 4

SHARE: Final = 0.2
"""The default share of held-out records."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The training and the held-out records."""

    training: Records
    held_out: Records


def sides_of(records: Records, share: float = SHARE) -> Sides:
    """Hold out about this share of the combinations of attributes, or people, with all their records."""
    held_out = held_out_of(records, share)
    return Sides(records.take(~held_out), records.take(held_out))


def held_out_of(records: Records, share: float = SHARE, purpose: str = "") -> NDArray[np.bool_]:
    """(records,) Return whether each record is held out; the choice differs by purpose.

    A person is held out with all records, by the text that says whose they are. So nobody's side depends on others.
    """
    names = records.attributes
    first, of_record = records.persons(names)
    texts = [[records.column(name).domain.texts[at] for at in records.column(name).places[first]] for name in names]
    decided = list(zip(*texts, strict=True))
    if records.people is not None:
        decided = [
            (f"{person}",) if person >= 0 else values
            for person, values in zip(records.people[first].tolist(), decided, strict=True)
        ]
    below = [_digest([purpose, *values]) / (1 << 64) < share for values in decided]
    return np.array(below, dtype=bool)[of_record]


def learnt(records: Records, plan: Plan) -> Records:
    """Return the records with the columns that a generator learns from, which determine the held-out records."""
    never = {attribute.name for attribute in plan.attributes if not attribute.is_generable}
    return replace(records, columns=tuple(column for column in records.columns if column.name not in never))


def held_out_share(plan: Plan | None, asked: float | None) -> float:
    """Return the share of records to hold out: the requested one, that of the plan, or a fifth.

    Raises:
        PlanError: It differs from the plan's, which makes all its releases comparable.
    """
    if asked is not None and plan is not None and plan.holdout is not None and asked != plan.holdout:
        raise PlanError(
            f"{plan.source}: states the holdout {plan.holdout:g}, not {asked:g}: tables that learn from other records "
            "cannot be compared; omit --holdout, or change the plan"
        )
    stated = None if plan is None else plan.holdout
    return next(each for each in (asked, stated, SHARE) if each is not None)


def validated_of(records: Records, share: float, seed: int) -> NDArray[np.bool_]:
    """(records,) Return whether each training record is used for validation.

    These are all records with some combinations of attributes, or of some people. If combinations repeat so often that
    their numbers of records are too large or too small, records are drawn one by one.
    """
    chosen = held_out_of(records, share, f"validation {seed}")
    if records.people is not None or share / 2 <= chosen.mean() <= 2 * share:
        return chosen
    return np.random.default_rng([seed, _FOR_VALIDATION]).random(len(records)) < share


def validated_by_coin(records: int, share: float) -> NDArray[np.bool_]:
    """(records,) Return about this share of the records, each by a coin of the system's secure random source.

    Coins depend neither on records nor on a seed, so an additional record changes nothing for the others, unlike in
    `validated_of`. Differential privacy requires this.
    """
    return np.random.default_rng(secrets.randbits(128)).random(records) < share
