"""Shuffles the records of tables of any size, since their order can identify people.
Records are dealt to random parts, on disk if there are several, and each part is then shuffled. All orders are equally
likely, as in the merge of Rao and Sandelius [@rao1961; @sandelius1962].
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.table.arrays import number_array

RECORDS_IN_MEMORY: Final = 1 << 18
"""Approximate number of records shuffled at once."""


def shuffled(
    blocks: Iterable[pa.RecordBatch], records: int, schema: pa.Schema, folder: Path
) -> Iterator[pa.RecordBatch]:
    """Yield the same records in an order drawn from the system's secure random source.

    Args:
        blocks: The records.
        records: Their approximate number.
        schema: The schema of the blocks.
        folder: A directory for temporary files, on a disk with room for the records.
    """
    parts = max(1, -(-records // RECORDS_IN_MEMORY))
    if parts == 1:
        yield from _reordered(pa.Table.from_batches(list(blocks), schema))
        return
    with TemporaryDirectory(prefix=".aegis-", dir=folder) as place:
        paths = [Path(place) / str(part) for part in range(parts)]
        _deal(blocks, schema, paths)
        for path in paths:
            with pa.ipc.open_stream(path) as stream:
                yield from _reordered(stream.read_all())
            path.unlink()


def _deal(blocks: Iterable[pa.RecordBatch], schema: pa.Schema, paths: list[Path]) -> None:
    """Write each record to one of the files, chosen at random."""
    with ExitStack() as files:
        writers = [files.enter_context(pa.ipc.new_stream(path, schema)) for path in paths]
        for block in blocks:
            part = _words(block.num_rows) % np.uint64(len(paths))
            for number, writer in enumerate(writers):
                mine = np.flatnonzero(part == number)
                if len(mine):
                    writer.write_batch(block.take(number_array(mine)))


def _reordered(table: pa.Table) -> Iterator[pa.RecordBatch]:
    order = np.argsort(_words(table.num_rows), kind="stable")
    yield from table.take(number_array(order)).to_batches()


def _words(many: int) -> NDArray[np.uint64]:
    """(many,) Unpredictable words; collisions and the bias towards a part are negligible."""
    return np.frombuffer(secrets.token_bytes(8 * many), dtype=np.uint64)
