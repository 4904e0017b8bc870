"""The texts of a small table in memory, so that a command reads it only once."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from aegis_provider.table.arrays import number_array, numbers_in
from aegis_provider.table.reading import Reading

SMALL: Final = 16 << 20
"""The largest file or frame, in bytes, whose texts stay in memory."""

_MOST: Final = 64 << 20

_LARGEST_KEY: Final = 2**62

Column: TypeAlias = tuple[int, Reading]
"""The place of a column in the table, and its reading."""


@dataclass(eq=False)
class InMemory:
    """The texts of the requested columns, all of one version of the table.

    Attributes:
        version: Returns a value that changes with the table, which is then read again; `None` if the table is gone.
    """

    version: Callable[[], Hashable]
    _read: dict[Column, pa.ChunkedArray] = field(default_factory=dict)
    _version: Hashable = None
    _is_large: bool = False

    def texts(
        self, columns: Sequence[Column], read: Callable[[Sequence[Column]], Iterator[pa.RecordBatch]]
    ) -> pa.Table | None:
        """Return the texts of columns as `v0, v1, ...`; `None` if they are too large to store, or the table is gone.

        Args:
            read: Reads columns; called if some are missing, or if the version has changed.
        """
        version = None if self._is_large else self.version()
        if version is None:
            return None
        if version != self._version:
            self._read, self._version = {}, version
        missing = [fromkey for fromkey in dict.fromkeys(columns) if fromkey not in self._read]
        if missing:
            size = sum(texts.nbytes for texts in self._read.values())
            texts = _whole(read(missing), len(missing), _MOST - size)
            self._is_large = texts is None
            self._read = {} if texts is None else self._read | dict(zip(missing, texts, strict=True))
        if self._is_large or self.version() != version:
            return None
        return pa.table({f"v{place}": self._read[column] for place, column in enumerate(columns)})


def memory_of(paths: Sequence[Path]) -> InMemory | None:
    """Return the memory for a table in these files; `None` if they are not small, or gone."""

    def version() -> Hashable:
        try:
            seen = [path.stat() for path in paths]
        except OSError:
            return None
        return tuple((file.st_mtime_ns, file.st_ctime_ns, file.st_size, file.st_ino) for file in seen)

    try:
        is_small = sum(path.stat().st_size for path in paths) <= SMALL
    except OSError:
        return None
    return InMemory(version) if is_small else None


def combined(texts: pa.Table) -> pa.Table:
    """Return every combination of these texts that occurs, with the number of its records as `n`."""
    keys, size = np.zeros(len(texts), dtype=np.intp), 1
    for column in texts.columns:
        coded = column.combine_chunks().dictionary_encode()
        if size * len(coded.dictionary) > _LARGEST_KEY:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys, size = keys * len(coded.dictionary) + numbers_in(coded.indices), size * max(1, len(coded.dictionary))
    _, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    return texts.take(number_array(firsts)).append_column("n", number_array(counts))


def _whole(batches: Iterable[pa.RecordBatch], columns: int, most: int) -> list[pa.ChunkedArray] | None:
    """Return the columns of all batches, or `None` if they are larger than that many bytes."""
    taken = []
    for batch in batches:
        most -= batch.nbytes
        if most < 0:
            return None
        taken.append(batch)
    schema = pa.schema([(f"v{place}", pa.string()) for place in range(columns)])
    return list(pa.Table.from_batches(taken, schema).columns)
