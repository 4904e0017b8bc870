"""Every combination of values that a release has, once: from its blocks, or from the file that they became."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from aegis_provider.counting.distinct_records import DistinctRecords
from aegis_provider.counting.partition import Places
from aegis_provider.errors import OutputError, UnmaskableValueError
from aegis_provider.release.blocks import places_of
from aegis_provider.table import Table
from aegis_provider.table.values import Domain, Key, key_of

# Combinations that are counted in several blocks wait until they are many; then those that are the same become one.
_WAITING = 1 << 20


def codes_of(block: pa.RecordBatch, places: Sequence[int], domains: Sequence[Domain]) -> Places:
    """(records, columns) the places of the texts of these columns of a block in their domains."""
    columns = [places_of(block.column(n), domain.places) for n, domain in zip(places, domains, strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((block.num_rows, 0), dtype=np.intp)


def records_of(
    blocks: Iterable[pa.RecordBatch], names: Sequence[str], domains: Mapping[str, Domain], columns: Sequence[str]
) -> DistinctRecords:
    """The combinations of values of some columns (one or more) in blocks of the columns `names`.

    Held are the combinations, and some more for a while, never the records.
    """
    mine = [domains[name] for name in columns]
    places = [names.index(name) for name in columns]
    keys = [f"c{n}" for n in range(len(columns))]
    found: list[pa.Table] = []
    limit = _WAITING
    for block in blocks:
        codes = codes_of(block, places, mine)
        ones = np.ones(len(codes), dtype=np.int64)
        found.append(_summed(pa.table([*codes.T, ones], names=[*keys, "n"]), keys))
        if sum(map(len, found)) > limit:
            found = [_summed(pa.concat_tables(found), keys)]
            limit = max(_WAITING, 2 * len(found[0]))
    whole = _summed(pa.concat_tables(found), keys)
    codes = np.stack([whole.column(key).to_numpy() for key in keys], axis=1)
    return DistinctRecords(tuple(columns), tuple(mine), codes, whole.column("n").to_numpy())


def _summed(table: pa.Table, keys: list[str]) -> pa.Table:
    return table.group_by(keys, use_threads=False).aggregate([("n", "sum")]).rename_columns([*keys, "n"])


def records_in(written: Table, domains: Mapping[str, Domain], columns: Sequence[str]) -> DistinctRecords:
    """The combinations of values of some columns (one or more) in a table that was written.

    Raises `OutputError` for a value that its column was not to have, and `TableError` for an unreadable table.
    """
    mine = [domains[name] for name in columns]
    found = written.combinations(columns)
    codes = [_read_back(found.column(n), domain) for n, domain in enumerate(mine)]
    return DistinctRecords(tuple(columns), tuple(mine), np.stack(codes, axis=1), found.column("n").to_numpy())


def _read_back(texts: pa.ChunkedArray, domain: Domain) -> Places:
    coded = texts.combine_chunks().dictionary_encode()
    keys = {key: place for place, key in enumerate(domain.keys)}
    return places_of(coded, {text: _place(text, domain, keys) for text in coded.dictionary.to_pylist()})


def _place(text: str, domain: Domain, keys: Mapping[Key, int]) -> int:
    """A typed column of Parquet writes its values in its own way, as 5.0 for 5."""
    if text in domain.places:
        return domain.places[text]
    try:
        return keys[key_of(text, domain.value_type)]
    except (KeyError, UnmaskableValueError):
        raise OutputError(f"the masked table holds {text!r}, which it was not to hold; was it changed?") from None
