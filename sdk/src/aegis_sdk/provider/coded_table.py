"""The records of a table as small integers, in batches, so that any number of pairs is counted in one reading."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_sdk.provider.counting import CountedAttribute, CountedTable
from aegis_sdk.provider.errors import TableError
from aegis_sdk.provider.partition import Partition, Places
from aegis_sdk.provider.table import Table, as_text

_RECORDS_PER_BATCH = 1 << 15

# Every lookup holds buffers of its own, and all of a step are open at once.
_LOOKUPS_PER_STEP = 60


@dataclass(frozen=True)
class CodedTable:
    """A temporary table with a column of codes for each of `attributes` (places in the plan)."""

    table: Table
    name: str
    attributes: tuple[int, ...]
    records: int

    @classmethod
    def of(cls, counted: CountedTable, partitions: Mapping[int, Partition]) -> "CodedTable":
        """
        Reads the table once, and keeps of each record the groups that its values of these attributes are in.

        What exceeds the memory allowed goes to disk. Raises `TableError` where the records are not those counted.
        """
        table, attributes = counted.table, tuple(partitions)
        places = table.positions([counted.attributes[each].attribute.name for each in attributes])
        texts = ", ".join(f"{as_text(place)} AS t{each}" for each, place in zip(attributes, places, strict=True))
        name = f"(SELECT {texts} FROM {table.source})"  # noqa: S608 - places and our own source, no names
        for start in range(0, len(attributes), _LOOKUPS_PER_STEP):
            now = attributes[start : start + _LOOKUPS_PER_STEP]
            for each in now:
                _store_codes(table, counted.attributes[each], partitions[each], f"m{each}")
            name = _coded(table, name, (attributes[:start], now, attributes[start + _LOOKUPS_PER_STEP :]))
        [(records,)] = table.execute(f"SELECT count(*) FROM {name}").fetchall()  # noqa: S608 - see above
        if records != counted.records:
            raise TableError(f"{table.path}: changed while it was read; summarize again")
        return cls(table, name, attributes, records)

    def batches(self) -> Iterator[dict[int, Places]]:
        """The codes of some thousand records at a time, by attribute; the order of the records is any."""
        for start in range(0, self.records, _RECORDS_PER_BATCH):
            within = f"rowid >= {start} AND rowid < {start + _RECORDS_PER_BATCH}"
            found = self.table.execute(f"SELECT * FROM {self.name} WHERE {within}").fetchnumpy()  # noqa: S608 - see above
            yield {each: found[f"k{each}"].astype(np.intp) for each in self.attributes}


def _store_codes(table: Table, attribute: CountedAttribute, partition: Partition, name: str) -> None:
    places = attribute.domain.places
    codes = partition.groups[list(places.values())].tolist()
    table.store_lookup(name, list(places), codes, _narrowest(partition.size))


def _narrowest(codes: int) -> str:
    """The SQL type that codes below this number need."""
    bits = (codes - 1).bit_length()
    return "UTINYINT" if bits <= 8 else "USMALLINT" if bits <= 16 else "UINTEGER"  # noqa: PLR2004 - their widths


def _coded(table: Table, source: str, attributes: tuple[Sequence[int], Sequence[int], Sequence[int]]) -> str:
    """A table of the source's codes, those of the texts that are looked up now, and the texts of later."""
    before, now, later = attributes
    columns = [f"k{each}" for each in before] + [f"m{each}.value AS k{each}" for each in now]
    columns += [f"t{each}" for each in later]
    joins = " ".join(f"JOIN m{each} ON m{each}.text = t{each}" for each in now)
    name = f"coded{len(before)}"
    table.execute(f"CREATE TEMP TABLE {name} AS SELECT {', '.join(columns)} FROM {source} {joins}")  # noqa: S608 - see above
    for used in [f"m{each}" for each in now] + [source] * bool(before):
        table.execute(f"DROP TABLE {used}")
    return name
