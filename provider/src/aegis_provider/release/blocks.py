"""The records of a table, some thousand at a time, whatever the engine that reads them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from aegis_provider.counting.partition import Places

RECORDS = 1 << 16

Texts: TypeAlias = pa.StringArray
"""A column of a block, or a domain."""


def block_schema(columns: int) -> pa.Schema:
    """Of a block of that many columns: `v0, v1, ...`, all texts."""
    return pa.schema([(f"v{place}", pa.string()) for place in range(columns)])


def blocks_of(batches: Iterable[pa.RecordBatch], records: int = RECORDS) -> Iterator[pa.RecordBatch]:
    """The same records in the same order, that many at a time, fewer in the last block only.

    Engines cut batches as their threads happen to run; what is drawn block by block must not depend on it.
    """
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        if held >= records:
            whole = pa.concat_batches(waiting)
            rest = held % records
            for start in range(0, held - rest, records):
                yield whole.slice(start, records)
            waiting, held = [whole.slice(held - rest)], rest
    if held:
        yield pa.concat_batches(waiting)


def places_of(texts: Texts, places: Mapping[str, int]) -> Places:
    """(records,) the place of each text in its domain. Raises `KeyError` for a text that the domain lacks."""
    coded = texts.dictionary_encode()
    known = np.array([places[text] for text in coded.dictionary.to_pylist()], dtype=np.intp)
    found: Places = known[coded.indices.to_numpy()]
    return found
