"""What privacy is measured on: every combination of values that the table holds, once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.partition import Places
from aegis_provider.table.values import Domain


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """Every combination of values of some columns that occurs, and how many records have it.

    `codes`: (combinations, columns) the place of each value in its column's domain; `counts`: (combinations,). A
    combination may stand more than once, where the table writes one value in two ways.
    """

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    codes: Places
    counts: Counts

    @classmethod
    def of(cls, counted: CountedTable, columns: Sequence[str]) -> "DistinctRecords":
        """Reads these columns of a counted table once more; each is an attribute of the plan, or the label.

        Raises `TableError` as `CountedTable.of` does.
        """
        known = {each.attribute.name: each.domain for each in counted.attributes}
        domains = tuple(known.get(name, counted.label) for name in columns)
        found = counted.table.combinations(columns)
        codes = [_codes(found.column(n), domain) for n, domain in enumerate(domains)]
        return cls(tuple(columns), domains, np.stack(codes, axis=1), found.column("n").to_numpy())


def _codes(texts: pa.ChunkedArray, domain: Domain) -> Places:
    coded = texts.combine_chunks()
    places = np.array([domain.places[text] for text in coded.dictionary.to_pylist()], dtype=np.intp)
    found: Places = places[coded.indices.to_numpy()]
    return found
