"""The provider's table, wherever it is. Every value is text; a missing one is `""`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import TableError, nearest, shortened
from aegis_provider.table.engine import Engine, Expression, counts_of_sets
from aegis_provider.table.reading import Reading, reading_of

_RECORDS_PER_BATCH = 1 << 16
_DELIMITERS = {
    ";": ("semicolons", "';'"),
    ",": ("commas", "','"),
    "\t": ("tabs", "tab"),
    "|": ("vertical bars", "'|'"),
    ":": ("colons", "':'"),
}
"""What tables are separated by: the word for it, and how the option names it."""

# More at once would hold more groups in memory than any of them needs.
_ATTRIBUTES_PER_READING = 60


class Finder(Protocol):
    """Knows where a value stands in its file."""

    def whereabouts(self, table: "Table", place: int, text: str) -> str:
        """`line 17`, `row 16`, or nothing; perhaps with the file before it."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """A table, open for queries.

    Attributes:
        name: what it is called in messages.
        columns: their names.
        engine: that holds it.
        source: an Ibis table whose columns are called `c0, c1, ...`, in the order of `columns`, so that those that
            differ in case stay apart.
        readings: of each column.
        finder: of what is read from files or memory.
        delimiter: of CSV files, else `None`.
    """

    name: str
    columns: tuple[str, ...]
    engine: Engine
    source: Expression
    readings: tuple[Reading, ...]
    finder: Finder | None = None
    delimiter: str | None = None

    @classmethod
    def of(cls, engine: Engine, source: Expression, columns: Sequence[str] | None = None) -> "Table":
        """The table of an Ibis expression, whose columns may be known by other names."""
        names = tuple(columns or source.columns)
        readings = tuple(map(reading_of, source.schema().types))
        places = {f"c{place}": name for place, name in enumerate(source.columns)}
        # A selection of some thousand columns takes Ibis seconds, even where each keeps its name.
        if any(place != name for place, name in places.items()):
            source = source.select(**{place: source[name] for place, name in places.items()})
        return cls(engine.name, names, engine, source, readings)

    def read_as(self, readings: Mapping[str, Reading]) -> "Table":
        """The same table, some columns of which are read in other ways."""
        pairs = zip(self.columns, self.readings, strict=True)
        return replace(self, readings=tuple(readings.get(name, reading) for name, reading in pairs))

    def positions(self, names: Sequence[str]) -> list[int]:
        """The places of these columns.

        Raises:
            TableError: the table lacks one.
        """
        for name in names:
            if name not in self.columns:
                raise TableError(self._lacking(name, names))
        return [self.columns.index(name) for name in names]

    def reading(self, name: str) -> Reading:
        """How a column is read."""
        return self.readings[self.columns.index(name)]

    def keys(self, names: Sequence[str], untouched: Sequence[str] = ()) -> Expression:
        """A table of the keys of these columns, `v0, v1, ...`, and of the `untouched` ones as they are, `w0, w1, ...`.

        Raises:
            TableError: as `positions` does.
        """
        keys = {f"v{n}": self.readings[p].key(self.source[f"c{p}"]) for n, p in enumerate(self.positions(names))}
        kept = {f"w{n}": self.source[f"c{place}"] for n, place in enumerate(self.positions(untouched))}
        return self.source.select(**keys, **kept)

    def counts_with(self, names: Sequence[str], label: str) -> Iterator[pa.Table]:
        """Of each of these columns every text with every text of the label: `first`, `second` (the label's) and `n`.

        One reading for 60 columns. A pair may stand more than once.

        Raises:
            TableError: as `positions` and `Engine` do.
        """
        self.positions([*names, label])
        for start in range(0, len(names), _ATTRIBUTES_PER_READING):
            yield from self._counted(names[start : start + _ATTRIBUTES_PER_READING], label)

    def batches(self, names: Sequence[str], untouched: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
        """The texts of these columns, some thousand records at a time, in the table's order; columns called `v0, v1,
        ...`.

        After them come the `untouched` ones, `w0, w1, ...`, whose values have the types that the engine gives them.
        The order of a database is the one in which it gives its records.

        Raises:
            TableError: as `positions` and `Engine` do.
        """
        keys = self.keys(names, untouched)
        kept = {f"w{n}": keys[f"w{n}"] for n in range(len(untouched))}
        yield from self._texts(names, keys.select(**self._shown(keys, names), **kept))

    def combinations(self, names: Sequence[str]) -> pa.Table:
        """Every combination of the texts of these columns that occurs, and its number of records: `v0, v1, ..., n`.

        The texts are dictionaries with integer codes.

        Raises:
            TableError: as `positions` and `Engine` do.
        """
        keys = self.keys(names)
        grouped = keys.group_by(list(keys.columns)).aggregate(n=keys.count())
        batches = self._texts(names, grouped.select(**self._shown(grouped, names), n=grouped["n"].cast("int64")))
        coded = [pa.table([*_coded(each), each.column("n")], each.schema.names) for each in batches]
        return pa.concat_tables(coded).unify_dictionaries().combine_chunks()

    def records(self) -> int:
        """How many records there are now.

        Raises:
            TableError: as `Engine` does.
        """
        return int(self.engine.fetch(self.source.aggregate(n=self.source.count()))["n"][0].as_py())

    def located(self, column: str, text: str) -> str:
        """The table and, where it is a file, the place in it at which a value stands first: `t.csv: line 17`."""
        where = self.finder.whereabouts(self, self.columns.index(column), text) if self.finder else ""
        return f"{self.name}: {where}" if where else self.name

    def first_row(self, place: int, text: str) -> int | None:
        """The number, from 1, of the first record that has this text in that column."""
        before = 0
        for batch in self.batches([self.columns[place]]):
            row = batch.column(0).index(text).as_py()
            if row >= 0:
                return before + int(row) + 1
            before += batch.num_rows
        return None

    def _counted(self, names: Sequence[str], label: str) -> Iterator[pa.Table]:
        keys = self.keys([*names, label])
        readings = self._readings([*names, label])
        sets = [(f"v{place}", f"v{len(names)}") for place in range(len(names))]
        counted = self.engine.fetch(
            counts_of_sets(self.engine, keys, sets, lambda name, key: readings[int(name[1:])].text(key))
        )
        for place in range(len(names)):
            mine = counted.filter(pc.equal(counted["place"], place)).combine_chunks()
            texts = {
                "first": readings[place].canonical(_chunk(mine["first"])),
                "second": readings[-1].canonical(_chunk(mine["second"])),
            }
            yield pa.table({**texts, "n": mine["n"]})

    def _readings(self, names: Sequence[str]) -> list[Reading]:
        return [self.readings[place] for place in self.positions(names)]

    def _shown(self, keys: Expression, names: Sequence[str]) -> dict[str, Expression]:
        return {f"v{n}": reading.text(keys[f"v{n}"]) for n, reading in enumerate(self._readings(names))}

    def _texts(self, names: Sequence[str], texts: Expression) -> Iterator[pa.RecordBatch]:
        readings = self._readings(names)
        for batch in self.engine.stream(texts, _RECORDS_PER_BATCH):
            columns = [reading.canonical(each) for reading, each in zip(readings, batch.columns, strict=False)]
            yield pa.record_batch([*columns, *batch.columns[len(columns) :]], batch.schema.names)

    def _lacking(self, name: str, names: Sequence[str]) -> str:
        """What to say of a column that is not there, one of `names`: the header may have been cut in wrong places."""
        if mark := self._likely_delimiter(name):
            word, option = _DELIMITERS[mark]
            return f"{self.name}: looks separated by {word}; add --delimiter {option}"
        if (
            self.delimiter is not None
            and len(self.columns) == 1
            and self.columns[0] not in names
            and len(set(names)) > 1
        ):
            found = f"one column found ({shortened(self.columns[0])}) with delimiter {self.delimiter!r}"
            return f"{self.name}: {found}; name the right one with --delimiter"
        return f"{self.name}: no column {shortened(name)}; {nearest(name, list(self.columns))}"

    def _likely_delimiter(self, name: str) -> str | None:
        """What cuts the header into several columns, where one was read, or into one of this name."""
        others = [mark for mark in _DELIMITERS if mark != self.delimiter] if self.delimiter is not None else []
        for mark in others:
            cut = [part.strip(' "') for column in self.columns for part in column.split(mark)]
            if len(cut) > len(self.columns) and (len(self.columns) == 1 or name in cut):
                return mark
        return None


def _chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _coded(batch: pa.RecordBatch) -> list[pa.Array]:
    return [each.dictionary_encode() for each in batch.columns[:-1]]
