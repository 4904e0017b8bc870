"""The values that each cluster stands for, as the paper returns them beside the table."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from aegis_provider.independence.clustering import Basis
from aegis_provider.independence.masked_records import CLUSTER
from aegis_provider.independence.vectors import BoolArray, IntArray
from aegis_provider.release.blocks import RECORDS, block_schema
from aegis_provider.release.table_file import write_csv, write_parquet
from aegis_provider.table.values import Domain, ValueType


def write_cluster_values(
    path: Path, basis: Sequence[Basis], kept: BoolArray, clusters: IntArray, delimiter: str, *, parquet: bool
) -> None:
    """A row for each record that is kept: its cluster, and its values of the columns that the clusters are made of.

    `clusters`: (n,) from 1. Rows are sorted by cluster and then by value, so that their order says nothing of whose
    record each is. Raises `OSError`.
    """
    numbers = clusters[kept]
    order = np.lexsort([*(key[kept] for each in reversed(basis) for key in _keys(each)), numbers])
    columns = [pa.array(numbers[order]).cast(pa.string())]
    columns += [each.column.texts.take(pa.array(each.column.codes[kept][order])) for each in basis]
    names = [CLUSTER, *(each.column.name for each in basis)]
    blocks = _blocks(columns)
    if parquet:
        write_parquet(path, names, blocks, [_numbers(int(numbers.max())), *(each.domain for each in basis)])
    else:
        write_csv(path, names, blocks, delimiter)


def _keys(basis: Basis) -> tuple[IntArray, IntArray]:
    """What the records are sorted by, (n,) each, the one that counts more last: of texts of one value the first one."""
    texts = basis.column.texts.to_pylist()
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    return ranks[basis.column.codes], basis.places


def _blocks(columns: Sequence[pa.StringArray]) -> Iterator[pa.RecordBatch]:
    schema = block_schema(len(columns))
    for start in range(0, len(columns[0]), RECORDS):
        yield pa.record_batch([column.slice(start, RECORDS) for column in columns], schema=schema)


def _numbers(most: int) -> Domain:
    return Domain.of(map(str, range(1, most + 1)), ValueType.INTEGER)
