"""Effect of hiding on the information in the hidden attributes and in those they are hidden from, in bits."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from aegis_advisor.measures import mutual_information
from aegis_provider.counting.counts import Counts, tally
from aegis_provider.independence.model import Association, Hidden
from aegis_provider.progress import Progress
from aegis_provider.table import Source, Table, open_table

_MOST_CELLS: Final = 10_000_000
_MOST_VALUES: Final = 1_000
"""A column with more values identifies records rather than describing them."""


def associations(
    table: Source,
    hidden: Hidden,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> tuple[Association, ...]:
    """Return the mutual information of attributes before and after hiding, from the original and the masked table.

    The first associations are between all hidden attributes, taken together, and all attributes that they are hidden
    from: with the values of these, and with their clusters. The associations of each attribute of both sides with every
    other column follow. After hiding, the clusters stand for the attributes that they were made of.

    Args:
        table: The table that was masked.
        hidden: The result of hiding.
        delimiter: The delimiter of the table, if it is CSV; the masked table has the same.
        memory_limit: The memory limit for reading.
        progress: Called with the number of attributes measured.

    Raises:
        TableError: One of the tables cannot be read.
    """
    with (
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as before,
        open_table(hidden.output, delimiter=before.delimiter or ",", memory_limit=memory_limit) as after,
    ):
        return (*_of_all_hidden(before, after, hidden), *_with_others(before, after, hidden, progress))


def _of_all_hidden(before: Table, after: Table, hidden: Hidden) -> Iterator[Association]:
    """Yield the associations between all hidden attributes, together, and all attributes that they are hidden from."""
    now = _of_vectors(after, hidden.hidden, (hidden.cluster,))
    yield Association(hidden.hidden, hidden.from_, _of_vectors(before, hidden.hidden, hidden.from_), now)
    rows, columns = np.nonzero(hidden.unmasked)
    clustered = _information(rows, columns, hidden.unmasked[rows, columns])
    yield Association(hidden.hidden, hidden.from_, clustered, now, in_clusters=True)


def _of_vectors(table: Table, first: Sequence[str], second: Sequence[str]) -> float | None:
    """Return the information between the vectors of values of some columns and those of others."""
    counted = table.combinations([*first, *second])
    codes = [_codes(counted.column(place).combine_chunks()) for place in range(len(first) + len(second))]
    rows, columns = (
        np.unique(np.stack(mine, axis=1), axis=0, return_inverse=True)[1].ravel()
        for mine in (codes[: len(first)], codes[len(first) :])
    )
    return _information(rows, columns, counted.column("n").to_numpy())


def _codes(column: pa.DictionaryArray) -> Counts:
    """Return the place of each value in the order of all values.

    The table's own codes come in the order in which its threads happen to read, and a sum's last digit depends on
    the order.
    """
    ranks = np.argsort(np.argsort(column.dictionary.to_numpy(zero_copy_only=False)))
    return np.asarray(ranks[column.indices.to_numpy()])


def _with_others(before: Table, after: Table, hidden: Hidden, progress: Progress) -> Iterator[Association]:
    """Yield the associations of each single attribute; if several became one column, that column stands for each."""
    pairs = [(name, name) for name in hidden.hidden] + [(name, hidden.cluster) for name in hidden.from_]
    for done, (name, now) in enumerate(pairs):
        progress(done, len(pairs))
        both = zip(_of_each(before, hidden.others, name), _of_each(after, hidden.others, now), strict=True)
        for other, information in zip(hidden.others, both, strict=True):
            yield Association((name,), (other,), *information)


def _of_each(table: Table, columns: Sequence[str], name: str) -> Iterator[float | None]:
    """Yield the information between each of the columns and the column with this name."""
    for each in tally(table, columns, name) if columns else ():
        rows, columns_ = (np.unique(texts, return_inverse=True)[1] for texts in (each.texts, each.labels))
        few = max(rows.max(), columns_.max()) < _MOST_VALUES
        yield _information(rows, columns_, each.counts) if few else None


def _information(rows: Counts, columns: Counts, counts: Counts) -> float | None:
    """Return the information in a table of joint counts, given the places and counts of its nonempty cells."""
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    if shape[0] * shape[1] > _MOST_CELLS:
        return None
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (rows, columns), counts)
    if _is_product(table):
        return 0.0
    return mutual_information(table.astype(np.float64))


def _is_product(table: Counts) -> bool:
    """Return whether the table is exactly the product of its margins, `n_ab n = n_a n_b`, in 64-bit integers."""
    total = int(table.sum())
    return total < 1 << 31 and np.array_equal(table * total, np.outer(table.sum(axis=1), table.sum(axis=0)))
