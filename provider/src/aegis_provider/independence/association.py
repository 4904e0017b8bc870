"""What hiding attributes does to what they, and those that they are hidden from, tell: mutual information in bits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from aegis_advisor.measures import mutual_information
from aegis_provider.counting.counts import Counts, tally
from aegis_provider.independence.hidden_table import Hidden
from aegis_provider.progress import Progress
from aegis_provider.table import Source, Table, open_table

_MOST_CELLS: Final = 10_000_000
_MOST_VALUES: Final = 1_000
"""A column of more values tells the records apart rather than anything about them."""


@dataclass(frozen=True)
class Association:
    """The mutual information of `first` and `second`, in bits, `before` in the table and `after` in what was published.

    `None`: not measured, since a column has too many values. `in_clusters`: of `second` only the cluster is looked at,
    before as after, so that what is lost is lost by masked values.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    before: float | None
    after: float | None
    in_clusters: bool = False


def associations(
    table: Source,
    output: Path,
    hidden: Hidden,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> tuple[Association, ...]:
    """Of the hidden attributes with what they are hidden from, together; then of each of both with every other column.

    The former twice: with the values that they are hidden from, and with the clusters of these. After, the clusters
    stand for what they were made of. Needs aegis-advisor. Raises `TableError`.
    """
    with (
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as before,
        open_table(output, delimiter=before.delimiter or ",", memory_limit=memory_limit) as after,
    ):
        return (*_together(before, after, hidden), *_with_others(before, after, hidden, progress))


def _together(before: Table, after: Table, hidden: Hidden) -> Iterator[Association]:
    now = _of_vectors(after, hidden.hidden, (hidden.cluster,))
    yield Association(hidden.hidden, hidden.from_, _of_vectors(before, hidden.hidden, hidden.from_), now)
    rows, columns = np.nonzero(hidden.unmasked)
    clustered = _information(rows, columns, hidden.unmasked[rows, columns])
    yield Association(hidden.hidden, hidden.from_, clustered, now, in_clusters=True)


def _of_vectors(table: Table, first: Sequence[str], second: Sequence[str]) -> float | None:
    """Of the vectors of values of some columns with those of others."""
    counted = table.combinations([*first, *second])
    codes = [counted.column(place).combine_chunks().indices.to_numpy() for place in range(len(first) + len(second))]
    rows, columns = (
        np.unique(np.stack(mine, axis=1), axis=0, return_inverse=True)[1].ravel()
        for mine in (codes[: len(first)], codes[len(first) :])
    )
    return _information(rows, columns, counted.column("n").to_numpy())


def _with_others(before: Table, after: Table, hidden: Hidden, progress: Progress) -> Iterator[Association]:
    """Of each attribute by itself; of several that became one column, that column stands for each."""
    pairs = [(name, name) for name in hidden.hidden] + [(name, hidden.cluster) for name in hidden.from_]
    for done, (name, now) in enumerate(pairs):
        progress(done, len(pairs))
        informed = zip(_of_each(before, hidden.others, name), _of_each(after, hidden.others, now), strict=True)
        for other, found in zip(hidden.others, informed, strict=True):
            yield Association((name,), (other,), *found)


def _of_each(table: Table, columns: Sequence[str], name: str) -> Iterator[float | None]:
    """Of each of the columns with the one of that name."""
    for each in tally(table, columns, name) if columns else ():
        rows, columns_ = (np.unique(texts, return_inverse=True)[1] for texts in (each.texts, each.labels))
        few = max(rows.max(), columns_.max()) < _MOST_VALUES
        yield _information(rows, columns_, each.counts) if few else None


def _information(rows: Counts, columns: Counts, counts: Counts) -> float | None:
    """Of a table given by its cells that are not empty: the place of each, and its count."""
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    if shape[0] * shape[1] > _MOST_CELLS:
        return None
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (rows, columns), counts)
    if _is_product(table):
        return 0.0
    return mutual_information(table.astype(np.float64))


def _is_product(table: Counts) -> bool:
    """Whether it is exactly that of its margins, `n_ab n = n_a n_b`, in whole numbers that fit into 64 bits."""
    total = int(table.sum())
    return total < 1 << 31 and np.array_equal(table * total, np.outer(table.sum(axis=1), table.sum(axis=0)))
