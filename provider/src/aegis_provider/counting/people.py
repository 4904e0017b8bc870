"""The people of a table with several records a person: how many records of each are used, and which.

The records of a person beyond a limit are left out when the table is opened, so that everything is computed from one
table. Which ones stay follows from a hash of their contents: the same ones each time, whatever the engine's order.
Another engine keeps others: each writes decimals and dates its own way, so one hash for all would not make them agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import pyarrow.compute as pc

from aegis_provider.counting.counts import Counts
from aegis_provider.errors import PlanError, shortened
from aegis_provider.table.arrays import numbers_in
from aegis_provider.table.engine import Expression, ibis
from aegis_provider.table.in_memory import InMemory, combined
from aegis_provider.table.table import Table
from aegis_provider.table.values import MISSING
from aegis_sdk.reading import Share

MOST_ROWS: Final = 10
KEPT: Final = 0.95
"""The default limit is the smallest that keeps this share of the records, at most `MOST_ROWS`."""

_BETWEEN: Final = "\x1f"
_DRAW: Final = "the rows of a person"


@dataclass(frozen=True, eq=False)
class People:
    """The people of a table.

    Attributes:
        column: The column that says whose a record is.
        sizes: (sizes,) the different numbers of records of a person, ascending.
        many: (sizes,) how many people have each.
        unknown: The number of records without a person; each counts as one person.
        rows: The most records of a person that are used.
        by_person: Each `person` with their records, `n`, if the engine keeps that: counting them takes long.
    """

    column: str
    sizes: Counts
    many: Counts
    unknown: int
    rows: int
    by_person: Expression | None = None

    @classmethod
    def of(cls, table: Table, column: str, rows: int | None = None) -> Self:
        """Count the people of a table, by one reading.

        Args:
            rows: The most records of a person to use; by default, see `KEPT`.

        Raises:
            PlanError: All records are of one person.
            TableError: The table has no such column, or cannot be read.
        """
        table.positions([column])
        by_person = table.engine.keep(_by_person(table, column)) if _is_large(table) else None
        sizes, many, unknown = _counted(table, column, by_person)
        records = int(sizes @ many)
        if unknown + int(many.sum()) == 1 and records + unknown > 1:
            raise PlanError(f"{table.name}: {shortened(column)} has one value, so all records would be of one person")
        if not len(sizes) or sizes[-1] == 1:
            rows = 1
        elif rows is None:
            kept = [int(np.minimum(sizes, most) @ many) for most in range(1, MOST_ROWS)]
            rows = next((most for most, some in enumerate(kept, start=1) if some >= KEPT * records), MOST_ROWS)
        return cls(column, sizes, many, unknown, rows, by_person)

    @property
    def number(self) -> int:
        """The number of people."""
        return int(self.many.sum()) + self.unknown

    @property
    def most(self) -> int:
        """The largest number of records of a person in the table."""
        return int(self.sizes[-1]) if len(self.sizes) else 1

    @property
    def are_records(self) -> bool:
        """Whether no person has several of the records used."""
        return self.rows == 1

    def split_by(self, stated: int | None) -> str | None:
        """Return the column by which records are held out; `None` if each may be of another person.

        Args:
            stated: The `rows_per_person` of the plan. Of several, the column decides whatever the table has, since the
                sides of all records must not depend on whether somebody has several.
        """
        return self.column if self.rows > 1 or (stated or 1) > 1 else None

    def of_some(self, table: Table) -> Self:
        """Return the people of a table with some of the records used.

        Raises:
            TableError: The table cannot be read.
        """
        sizes, many, unknown = _counted(table, self.column)
        return replace(self, sizes=sizes, many=many, unknown=unknown)

    @property
    def kept(self) -> float:
        """The share of the records that are used."""
        kept = int(np.minimum(self.sizes, self.rows) @ self.many) + self.unknown
        return kept / (int(self.sizes @ self.many) + self.unknown)

    def in_words(self) -> Iterator[str]:
        """Yield what is counted, and what the provider should know about it, with exact numbers."""
        name = shortened(self.column)
        if self.most == 1:
            yield f"{name} is different in each record, so records are people"
        else:
            rows = f"at most {self.rows} row{'s' * (self.rows > 1)} of each of {self.number:,} people ({name})"
            yield f"{rows}: {Share(self.kept)} of the rows"
        if self.unknown:
            yield f"some records have no {name}; each of them counts as one person"

    def bounded(self, table: Table) -> Table:
        """Return the table with at most `rows` records of each person, in DuckDB in its order.

        Only the records of those who have more are drawn from: a window over all would sort the whole table.

        Raises:
            TableError: The engine fails, or cannot draw records.
        """
        if self.most <= self.rows:
            return table
        columns = [f"c{place}" for place in range(len(table.columns))]
        key = table.reading(self.column).key(table.source[columns[table.columns.index(self.column)]])
        at = ibis.row_number().over(ibis.window()) if table.engine.is_duckdb else ibis.literal(0)
        keyed = table.source.mutate(person=key, at=at)
        by_person = _by_person(table, self.column) if self.by_person is None else self.by_person
        over = by_person.filter((by_person["n"] > self.rows) & by_person["person"].notnull())
        over = table.engine.keep(over.select("person"))  # else the engine looks for them twice
        drawn = keyed.semi_join(over, "person")
        texts = [drawn[name].cast("string").fill_null(MISSING) for name in columns]
        text = ibis.literal(_BETWEEN).join([ibis.literal(_DRAW), *texts])
        mixed = drawn.mutate(text=text, mixed=text.hash())
        window = ibis.window(group_by=mixed["person"], order_by=[mixed["mixed"], mixed["text"]])
        numbered = mixed.mutate(place=ibis.row_number().over(window))
        # No number of a row from one reading is used in another: a view of DuckDB has another order each time.
        kept = numbered.filter(numbered["place"] < self.rows).select(*columns, "at")
        used = keyed.anti_join(over, "person").select(*columns, "at").union(kept)
        used = (used.order_by("at") if table.engine.is_duckdb else used).select(*columns)
        memory = None if table.memory is None else InMemory(lambda: 0)
        return replace(table, source=table.engine.keep(used), memory=memory, kept={})


def repeating_in(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of these columns that the table has and that are the same in several records, but not in all."""
    names = [name for name in names if name in table.columns]
    if not names:
        return ()
    keys = table.keys(names)
    counts = {f"d{n}": keys[f"v{n}"].nunique() for n in range(len(names))}
    counts |= {f"n{n}": keys[f"v{n}"].count() for n in range(len(names))}
    [row] = table.engine.fetch(keys.aggregate(**counts)).to_pylist()
    return tuple(name for n, name in enumerate(names) if 1 < row[f"d{n}"] < row[f"n{n}"])


def _is_large(table: Table) -> bool:
    return table.memory is None and table.engine.is_duckdb


def _by_person(table: Table, column: str) -> Expression:
    """Return each `person`, NULL for those without one, with their records, `n`."""
    keys = table.keys([column])
    return keys.group_by(person=keys["v0"]).aggregate(n=keys.count())


def _counted(table: Table, column: str, by_person: Expression | None = None) -> tuple[Counts, Counts, int]:
    """Return the numbers of records of a person, how many people have each, and the records without a person."""
    if (texts := table.in_memory([column])) is not None:
        counted = combined(texts)
        known = numbers_in(pc.binary_length(counted["v0"])) > 0
        records = numbers_in(counted["n"])
        sizes, many = np.unique(records[known], return_counts=True)
        return sizes, many, int(records[~known].sum())
    by_person = _by_person(table, column) if by_person is None else by_person
    by_person = by_person.mutate(known=by_person["person"].notnull())
    found = table.engine.fetch(by_person.group_by(["n", "known"]).aggregate(many=by_person.count()).order_by("n"))
    records, many = numbers_in(found["n"]).astype(np.int64), numbers_in(found["many"]).astype(np.int64)
    known = np.array(found["known"].to_pylist(), dtype=np.bool_)
    return records[known], many[known], int(records[~known].sum())
