"""The provider's table, from any source. Every value is text; a missing value is `""`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import TableError, nearest, shortened
from aegis_provider.table.arrays import number_array, numbers_in
from aegis_provider.table.engine import Engine, Expression, View, counts_of_sets
from aegis_provider.table.in_memory import Column, InMemory, combined
from aegis_provider.table.reading import AS_TEXT, TEXT_IN_DUCKDB, Reading, reading_of, with_dates
from aegis_provider.table.values import MISSING, Domain

_RECORDS_PER_BATCH = 1 << 16
_FEW_UNLABELLED: Final = 0.01
DELIMITERS: Final = {
    ";": ("semicolons", "';'"),
    ",": ("commas", "','"),
    "\t": ("tabs", "tab"),
    "|": ("vertical bars", "'|'"),
    ":": ("colons", "':'"),
}
"""The usual delimiters of tables, with the word for each and its form in the option."""

# Counting more columns at once would need much memory for groups.
_ATTRIBUTES_PER_READING = 60

# Counts of more pairs of texts, of a column or of all, are not stored: the table is then read again.
_MOST_KEPT = 200_000
_MOST_KEPT_IN_ALL = 5_000_000

CountedColumn: TypeAlias = tuple[Column, Column]
"""A column and its label."""


class Finder(Protocol):
    """Locates a value in its file."""

    def whereabouts(self, table: "Table", place: int, text: str) -> str:
        """Return `line 17`, `row 16`, or nothing, possibly after the name of the file."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """A table, open for queries, which raise a `TableError` if it lacks a column or its engine fails.

    Attributes:
        name: The name of the table in messages.
        engine: The engine of the table.
        source: An Ibis table whose columns are called `c0, c1, ...`, in the order of `columns`, so that names that
            differ only in case stay distinct.
        readings: The reading of each column.
        finder: Locates values in files and in memory.
        delimiter: The delimiter of CSV files; otherwise `None`.
        orders: The values, from the lowest to the highest, of columns with an ordered type: ordered categoricals and
            enums.
        written: The form of a CSV file, and its parts that do not belong to the table, in words; otherwise `None`.
        index: Columns that were the index of a data frame: mostly row numbers, not meant to be shared.
        memory: The texts of a small table, which is read once; `None` if the table is not small.
        kept: The cached results of `counts_with` for a table that is not small.
    """

    name: str
    columns: tuple[str, ...]
    engine: Engine
    source: Expression
    readings: tuple[Reading, ...]
    finder: Finder | None = None
    delimiter: str | None = None
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    written: str | None = None
    index: tuple[str, ...] = ()
    memory: InMemory | None = None
    kept: dict[CountedColumn, pa.Table] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: Engine, source: Expression, columns: Sequence[str] | None = None) -> "Table":
        """Return the table of an Ibis expression, optionally with other names for its columns.

        Columns whose moments are all midnight are dates, as in CSV.
        """
        names = tuple(columns or source.columns)
        source = with_dates(engine, source)
        readings = tuple(map(reading_of, source.schema().types))
        places = {f"c{place}": name for place, name in enumerate(source.columns)}
        # Ibis takes seconds to select thousands of columns, even under the same names.
        if any(place != name for place, name in places.items()):
            source = source.select(**{place: source[name] for place, name in places.items()})
        return cls(engine.name, names, engine, source, readings)

    def read_as(self, readings: Mapping[str, Reading]) -> "Table":
        """Return the same table with other readings for some columns."""
        pairs = zip(self.columns, self.readings, strict=True)
        return replace(self, readings=tuple(readings.get(name, reading) for name, reading in pairs))

    def positions(self, names: Sequence[str]) -> list[int]:
        """Return the places of these columns.

        Raises:
            TableError: The table lacks a column.
        """
        missing = [name for name in names if name not in self.columns]
        if not missing:
            return [self.columns.index(name) for name in names]
        name, asked, apart = missing[0], set(names), self.delimiter is not None and len(self.columns) == 1
        if mark := self.likely_delimiter(name):
            word, option = DELIMITERS[mark]
            raise TableError(f"{self.name}: looks separated by {word}; add --delimiter {option}")
        if apart and self.columns[0] not in names and len(asked) > 1:
            message = f"one column found ({shortened(self.columns[0])}) with delimiter {self.delimiter!r}"
            raise TableError(f"{self.name}: {message}; name the right one with --delimiter")
        lacking = len(set(missing))
        if lacking > 1 and 2 * lacking >= len(asked):
            others = f"no column {shortened(name)}, nor {lacking - 1} more of the {len(asked)} requested"
            raise TableError(f"{self.name}: {others}; is the plan for another table?")
        raise TableError(f"{self.name}: no column {shortened(name)}; {nearest(name, list(self.columns))}")

    def has_texts(self, name: str) -> bool:
        """Return whether a column has texts, in any reading."""
        return self.delimiter is not None or bool(self.source[f"c{self.columns.index(name)}"].type().is_string())

    def reading(self, name: str) -> Reading:
        """Return the reading of a column."""
        return self.readings[self.columns.index(name)]

    def keys(self, names: Sequence[str], untouched: Sequence[str] = ()) -> Expression:
        """Return the keys of these columns as `v0, v1, ...`, and the `untouched` columns unchanged as `w0, w1, ...`."""
        keys = {f"v{n}": self.readings[p].key(self.source[f"c{p}"]) for n, p in enumerate(self.positions(names))}
        kept = {f"w{n}": self.source[f"c{place}"] for n, place in enumerate(self.positions(untouched))}
        return self.source.select(**keys, **kept)

    def counts_with(self, names: Sequence[str], label: str) -> Iterator[pa.Table]:
        """Yield for each column the counts of its texts with those of the label: `first`, `second` (the label's), `n`.

        The table is read once for every 60 columns that were not counted with this label before. A pair may appear more
        than once.
        """
        self.positions([*names, label])
        for start in range(0, len(names), _ATTRIBUTES_PER_READING):
            yield from self._counted(names[start : start + _ATTRIBUTES_PER_READING], label)

    def keep_counts(self, names: Sequence[str], label: str) -> None:
        """Count these columns now if the table is not small, so that later calls do not read it again."""
        if names and self.in_memory([*names, label]) is None:
            for _ in self.counts_with(names, label):
                pass

    def known_counts(self, name: str) -> pa.Table | None:
        """Return each text of a column with its records, `text` and `n`, if `counts_with` has cached it."""
        mine = self._column(name)
        for (column, label), counted in self.kept.items():
            if mine in {column, label}:
                coded = _chunk(counted["first" if mine == column else "second"]).dictionary_encode()
                records = np.bincount(numbers_in(coded.indices), numbers_in(counted["n"]), len(coded.dictionary))
                return pa.table({"text": coded.dictionary, "n": number_array(records.astype(np.int64))})
        return None

    def in_memory(self, names: Sequence[str]) -> pa.Table | None:
        """Return the texts of these columns in all records as `v0, v1, ...`; `None` if the table is not small."""
        if self.memory is None or not names:
            return None
        return self.memory.texts([(place, self.readings[place]) for place in self.positions(names)], self._read)

    def batches(self, names: Sequence[str], untouched: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """Yield batches of some thousand records in the table's order, the texts of these columns as `v0, v1, ...`.

        The `untouched` columns follow as `w0, w1, ...`; their values have the engine's types. The records of a database
        table come in the database's order.
        """
        if not untouched and (texts := self.in_memory(names)) is not None:
            yield from texts.to_batches(_RECORDS_PER_BATCH)
            return
        keys = self.keys(names, untouched)
        kept = {f"w{n}": keys[f"w{n}"] for n in range(len(untouched))}
        yield from self._texts(names, keys, kept)

    def different(self, names: Sequence[str]) -> Iterator[tuple[list[str], list[pa.Array]]]:
        """Yield the distinct texts of these columns: once if they are counted, otherwise once per batch of records.

        Every item has some of the columns, and the texts of each.
        """
        self.positions(names)
        counted = {name: known["text"] for name in names if (known := self.known_counts(name)) is not None}
        if counted:
            yield list(counted), [_chunk(texts) for texts in counted.values()]
        rest = [name for name in names if name not in counted]
        for batch in self.batches(rest) if rest else ():
            yield rest, [pc.unique(texts) for texts in batch.columns]

    def combinations(self, names: Sequence[str]) -> pa.Table:
        """Return every combination of texts of these columns that occurs, with its number of records: `v0, v1, ..., n`.

        The texts are dictionaries with integer codes.
        """
        if (texts := self.in_memory(names)) is not None:
            batches = iter(combined(texts).to_batches())
        else:
            keys = self.keys(names)
            grouped = keys.group_by(list(keys.columns)).aggregate(n=keys.count())
            batches = self._texts(names, grouped, {"n": grouped["n"].cast("int64")})
        coded = [
            pa.table(
                [*(column.dictionary_encode() for column in batch.columns[:-1]), batch.column("n")], batch.schema.names
            )
            for batch in batches
        ]
        return pa.concat_tables(coded).unify_dictionaries().combine_chunks()

    def values(self, names: Sequence[str]) -> list[pa.Array]:
        """Return the different texts of each of these columns, except missing ones, by one reading."""
        keys, readings = self.keys(names), [self.readings[place] for place in self.positions(names)]
        sets = [(f"v{place}", f"v{place}") for place in range(len(names))]
        distinct = self.engine.fetch(
            counts_of_sets(self.engine, keys, sets, lambda name, key: readings[int(name[1:])].text(key))
        )
        places = numbers_in(distinct["place"])
        mine = [distinct["first"].take(number_array(np.flatnonzero(places == place))) for place in range(len(names))]
        texts = [reading.canonical(_chunk(each)) for reading, each in zip(readings, mine, strict=True)]
        return [text.filter(pc.not_equal(text, MISSING)) for text in texts]

    def people_of_texts(self, name: str, person: str) -> Iterator[tuple[str, int]]:
        """Yield each text of a column, and how many people have it; a record without a person is of one of its own.

        Args:
            person: The column that says whose a record is.
        """
        if (texts := self.in_memory([name, person])) is not None:
            seen = combined(texts)
            many = np.where(numbers_in(pc.binary_length(seen["v1"])) > 0, 1, numbers_in(seen["n"]))
            coded = seen["v0"].combine_chunks().dictionary_encode()
            counts = np.bincount(numbers_in(coded.indices), many, len(coded.dictionary)).astype(np.int64)
            yield from zip(coded.dictionary.to_pylist(), counts.tolist(), strict=True)
            return
        keys = self.keys([name, person])
        many = keys["v1"].nunique() + keys.count(where=keys["v1"].isnull())  # a sum would be a decimal in DuckDB
        grouped = keys.group_by("v0").aggregate(many=many)
        for batch in self._texts([name], grouped, {"many": grouped["many"]}):
            yield from zip(batch.column(0).to_pylist(), batch.column("many").to_pylist(), strict=True)

    def alone(self, names: Sequence[str]) -> tuple[int, int]:
        """Return the number of records that differ from all others in these columns, and the number of all records."""
        if (texts := self.in_memory(names)) is not None:
            counts = numbers_in(combined(texts)["n"])
            return int((counts == 1).sum()), int(counts.sum())
        keys = self.keys(names)
        sizes = keys.group_by(list(keys.columns)).aggregate(n=keys.count())
        seen = self.engine.fetch(sizes.aggregate(alone=(sizes["n"] == 1).sum(), records=sizes["n"].sum()))
        return int(seen["alone"][0].as_py() or 0), int(seen["records"][0].as_py() or 0)

    def people_alone(self, names: Sequence[str], person: str) -> tuple[int, int]:
        """Return the number of people with a record that differs from those of all others, and of all people.

        Args:
            person: The column that says whose a record is, in every record.
        """
        keys = self.keys([*names, person])
        whose = keys[f"v{len(names)}"]
        sizes = keys.group_by(keys.columns[:-1]).aggregate(people=whose.nunique(), whose=whose.min())
        single = sizes.filter(sizes["people"] == 1)
        alone = self.engine.fetch(single.aggregate(n=single["whose"].nunique()))["n"][0].as_py()
        return int(alone or 0), int(self.engine.fetch(keys.aggregate(n=whose.nunique()))["n"][0].as_py())

    def people_of_values(self, name: str, person: str) -> dict[str, int]:
        """Return the number of people who have each text of a column; every record says whose it is."""
        keys = self.keys([name, person])
        counted = keys.group_by("v0").aggregate(n=keys["v1"].nunique())
        batches = [*self._texts([name], counted, {"n": counted["n"].cast("int64")})]
        return {text: n for each in batches for text, n in zip(*(column.to_pylist() for column in each), strict=True)}

    def counts_of_values(self, name: str) -> dict[str, int]:
        """Return the number of records of each value of a column, in order, by its only written text."""
        counted = self.combinations([name])
        texts = counted["v0"].to_pylist()
        domain = Domain.of(texts)
        counts = dict.fromkeys(domain.texts, 0)
        for text, records in zip(texts, counted["n"].to_pylist(), strict=True):
            counts[domain.texts[domain.places[text]]] += records
        return counts

    def records(self) -> int:
        """Return the current number of records."""
        return int(self.engine.fetch(self.source.aggregate(n=self.source.count()))["n"][0].as_py())

    def located(self, column: str, text: str) -> str:
        """Return the table's name and, for a file, the first place of a value in it: `t.csv: line 17`."""
        where = self.finder.whereabouts(self, self.columns.index(column), text) if self.finder else ""
        return f"{self.name}: {where}" if where else self.name

    def unlabelled(self, label: str, missing: int, records: int) -> str:
        """Return a sentence if a few of the records have no label; empty if the missing values may be meaningful.

        It omits the number, since its readers must not learn small counts.
        """
        if not 0 < missing <= _FEW_UNLABELLED * records:
            return ""
        few = f"a few records ({100 * _FEW_UNLABELLED:g} % at most) have no {shortened(label)}"
        return f"{self.located(label, '')}: {few}, and make a label value of their own"

    def first_row(self, place: int, text: str) -> int | None:
        """Return the number, from 1, of the first record with this text in that column."""
        before = 0
        for batch in self.batches([self.columns[place]]):
            row = batch.column(0).index(text).as_py()
            if row >= 0:
                return before + int(row) + 1
            before += batch.num_rows
        return None

    def _counted(self, names: Sequence[str], label: str) -> Iterator[pa.Table]:
        if (whole := self.in_memory([*names, label])) is not None:
            labels = whole[f"v{len(names)}"]
            yield from (combined(pa.table({"first": texts, "second": labels})) for texts in whole.columns[:-1])
            return
        columns = {name: (self._column(name), self._column(label)) for name in names}
        new = [name for name in columns if columns[name] not in self.kept]
        counted = dict(zip(new, self._counted_by_engine(new, label), strict=True)) if new else {}
        free = _MOST_KEPT_IN_ALL - sum(map(len, self.kept.values()))
        for name, counts in counted.items():
            if len(counts) <= min(_MOST_KEPT, free):
                self.kept[columns[name]] = counts
                free -= len(counts)
        yield from (counted[name] if name in counted else self.kept[columns[name]] for name in names)

    def _counted_by_engine(self, names: Sequence[str], label: str) -> Iterator[pa.Table]:
        keys = self.keys([*names, label])
        readings = [self.readings[place] for place in self.positions([*names, label])]
        sets = [(f"v{place}", f"v{len(names)}") for place in range(len(names))]
        counted = self.engine.fetch(
            counts_of_sets(self.engine, keys, sets, lambda name, key: readings[int(name[1:])].text(key))
        )
        places = numbers_in(counted["place"])
        for place in range(len(names)):
            mine = counted.take(number_array(np.flatnonzero(places == place)))
            texts = {
                "first": readings[place].canonical(_chunk(mine["first"])),
                "second": readings[-1].canonical(_chunk(mine["second"])),
            }
            yield pa.table({**texts, "n": mine["n"]})

    def _column(self, name: str) -> Column:
        place = self.columns.index(name)
        return place, self.readings[place]

    def _read(self, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        """Yield the texts of these columns as `v0, v1, ...`."""
        if isinstance(self.source, View) and all(reading == AS_TEXT for _, reading in columns):
            texts = (f"{TEXT_IN_DUCKDB.format(f'c{place}')} AS v{n}" for n, (place, _) in enumerate(columns))
            read = f"SELECT {', '.join(texts)} FROM {self.source.name}"  # noqa: S608 - our own names
        else:
            keys = [reading.key(self.source[f"c{place}"]) for place, reading in columns]
            shown = [reading.text(key) for (_, reading), key in zip(columns, keys, strict=True)]
            read = self.source.select(**{f"v{n}": text for n, text in enumerate(shown)})
        for batch in self.engine.stream(read, _RECORDS_PER_BATCH):
            both = zip(columns, batch.columns, strict=True)
            yield pa.record_batch([reading.canonical(each) for (_, reading), each in both], batch.schema.names)

    def _texts(
        self, names: Sequence[str], keys: Expression, others: Mapping[str, Expression]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the texts of these columns by their keys `v0, v1, ...`, followed by other columns."""
        readings = [self.readings[place] for place in self.positions(names)]
        shown = {f"v{n}": reading.text(keys[f"v{n}"]) for n, reading in enumerate(readings)}
        for batch in self.engine.stream(keys.select(**shown, **others), _RECORDS_PER_BATCH):
            columns = [reading.canonical(column) for reading, column in zip(readings, batch.columns, strict=False)]
            yield pa.record_batch([*columns, *batch.columns[len(columns) :]], batch.schema.names)

    def likely_delimiter(self, name: str) -> str | None:
        """Return a delimiter that splits the header into several columns, or yields a column of this name."""
        others = [mark for mark in DELIMITERS if mark != self.delimiter] if self.delimiter is not None else []
        for mark in others:
            cut = [part.strip(' "') for column in self.columns for part in column.split(mark)]
            if len(cut) > len(self.columns) and (len(self.columns) == 1 or name in cut):
                return mark
        return None


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
