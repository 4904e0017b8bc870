"""Columns of a table in memory: the texts that occur, and of each record which of them it has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aegis_provider.independence.vectors import IntArray
from aegis_provider.progress import Progress
from aegis_provider.table import Table


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n records. `texts`: those that occur, each once, `""` if missing; `codes`: (n,) the place of each.

    Two texts of one number, "1.0" and "1.00", are two values here: what is published is texts.
    """

    name: str
    texts: pa.StringArray
    codes: IntArray

    def part(self, start: int, records: int) -> pa.StringArray:
        """The texts of that many records from `start` on; fewer at the end."""
        return self.texts.take(pa.array(self.codes[start : start + records]))


def read_columns(
    table: Table, names: Sequence[str], progress: Progress = lambda _done, _records: None
) -> tuple[Column, ...]:
    """These columns of all records, in the table's order. `progress` is told of the records that are read.

    Raises `TableError` as `Table.batches` does.
    """
    read: list[list[pa.Array]] = [[] for _ in names]
    done = 0
    records = table.records()
    for batch in table.batches(names):
        for mine, texts in zip(read, batch.columns, strict=True):
            mine.append(texts.dictionary_encode())
        done += batch.num_rows
        progress(done, records)
    return tuple(_column(name, chunks) for name, chunks in zip(names, read, strict=True))


def _column(name: str, chunks: Sequence[pa.DictionaryArray]) -> Column:
    if not chunks:
        return Column(name, pa.array([], pa.string()), np.zeros(0, dtype=np.int64))
    whole = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    return Column(name, whole.dictionary, whole.indices.to_numpy().astype(np.int64))
