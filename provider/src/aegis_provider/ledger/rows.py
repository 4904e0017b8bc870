"""The rows that a ledger keeps of a masked table: whose each is, by a keyed hash, its class and its sensitive values.

`high`, `low`: the 16 bytes of the hash; `record`: four bytes that tell the records of a person apart; `class`: the
number of its class, or -1 if it was left out; `q0, q1, ...`: the places of its quasi-identifiers' masked values;
`s0, s1, ...`: those of its sensitive values, labels among them.
"""

import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import class_of_each
from aegis_provider.release.blocks import Release, blocks_of
from aegis_provider.release.promise import Promise, Suppression, codes_of
from aegis_provider.table import Table
from aegis_provider.table.values import MISSING

LEFT_OUT: Final = -1
WHOSE: Final = ("high", "low", "record", "place")
"""The columns that say which record a row is, `place` in the table that leaves."""

_BETWEEN: Final = "\x1f"
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Mixes the hashes of a person and of a record into one number; any odd one does."""


@dataclass(frozen=True)
class Shown:
    """What the rows of a release say of its columns, in the metadata of their file.

    Attributes:
        sensitive: The names of the columns `s0, s1, ...`, and whether the values of each have an order.
        known: Those of `q0, q1, ...`; empty in rows that were kept without them.
        labels: The sensitive columns that are labels.
    """

    sensitive: Sequence[tuple[str, bool]]
    known: Sequence[str] = ()
    labels: Sequence[str] = ()

    @classmethod
    def of(cls, rows: Path | pa.Table) -> Self:
        """Return what these rows or the file with them say."""
        schema: Any = pq.read_schema(rows) if isinstance(rows, Path) else rows.schema
        said = {name.decode(): json.loads(value) for name, value in schema.metadata.items() if name in _SAID}
        kinds = [(str(name), bool(ordered)) for name, ordered in said.pop("sensitive")]
        return cls(kinds, **said)

    def described(self, rows: pa.Table) -> pa.Table:
        """Return rows that say this."""
        return rows.replace_schema_metadata({name: json.dumps(getattr(self, name.decode())) for name in _SAID})


_SAID: Final = (b"sensitive", b"known", b"labels")


@dataclass(frozen=True, eq=False)
class Keys:
    """Whose each record of a table is. `high`, `low`: (records,) the hash; `record`: (records,) see above."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    record: NDArray[np.uint32]

    @classmethod
    def of(cls, table: Table, person: str | None, columns: Sequence[str], key: bytes) -> "Keys":
        """Read the table once.

        Args:
            person: The column that says whose a record is. Equal records, of one person if it is known, are numbered.
            columns: The columns by which a record is known.
        """
        names = [*columns, *([] if person is None else [person])]
        blocks = blocks_of(table.batches(names))
        parts = [_hashed(block, len(columns), key) for block in blocks]
        records, people, known = (np.concatenate(each) for each in zip(*parts, strict=True))
        alone = records + np.stack([_turns(records[:, 0]), np.zeros(len(records), dtype=np.uint64)], axis=1)
        whose = np.where(known[:, None], people, alone)
        own = records[:, 0] + _turns(people[:, 0] * _ODD + records[:, 0])  # one of two equal ones may leave
        record = np.where(known, own & np.uint64(2**32 - 1), 0).astype(np.uint32)
        return cls(whose[:, 0], whose[:, 1], record)

    @property
    def people(self) -> int:
        """How many people these are."""
        return len(np.unique(np.stack([self.high, self.low]), axis=1).T)


def _hashed(block: pa.RecordBatch, columns: int, key: bytes) -> tuple[NDArray[np.uint64], ...]:
    """Return (records, 2) hashes of the records and of their people, and (records,) whether they have one."""
    texts = pc.binary_join_element_wise(*block.columns[:columns], _BETWEEN)
    records = _hashes(texts.to_pylist(), key)
    if block.num_columns == columns:
        return records, records, np.zeros(len(records), dtype=np.bool_)
    coded = pc.dictionary_encode(block.column(columns))
    known = pc.not_equal(block.column(columns), MISSING).to_numpy(zero_copy_only=False)
    return records, _hashes(coded.dictionary.to_pylist(), key)[coded.indices.to_numpy()], known


def _hashes(texts: Sequence[str], key: bytes) -> NDArray[np.uint64]:
    """(texts, 2) HMAC-SHA-256 of each text, cut to 16 bytes."""
    digests = b"".join(hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:16] for text in texts)
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2)


def _turns(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(records,) Return how many equal keys come before each, which tells equal records apart."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    is_first = np.append(True, ranked[1:] != ranked[:-1])
    firsts = np.flatnonzero(is_first)
    turns = np.empty(len(keys), dtype=np.uint64)
    turns[order] = np.arange(len(order)) - firsts[np.cumsum(is_first) - 1]
    return turns


def rows_of(
    counted: CountedTable, plan: Plan, configuration: Configuration, keys: Keys, *, suppressed: bool = True
) -> pa.Table:
    """Return the rows of the release of a configuration: their classes by the quasi-identifiers, and each label.

    Args:
        keys: Whose each record of the counted table is.
        suppressed: Whether the records that break its promise are left out.

    Raises:
        TableError: The table changed meanwhile.
    """
    promise = Promise.of(Release.of(counted, plan, configuration), plan, configuration)
    left_out = suppressed and configuration.suppresses
    suppression = promise.suppression(promise.judged.blocks()) if left_out else None
    names = promise.columns
    release = promise.release if suppression is None else suppression.release
    domains = tuple(release.domains[name] for name in names)
    parts = list(_coded(promise, suppression, names))
    codes = np.concatenate([codes for codes, _ in parts])
    known, sensitive = ([name for name in of if name in names] for of in (plan.quasi_identifiers, plan.sensitive))
    records = DistinctRecords(names, domains, codes, np.ones(len(codes), dtype=np.int64))
    classes = np.where(np.concatenate([out for _, out in parts]), LEFT_OUT, class_of_each(records, {}, known)[0])
    coded = {f"{of}{n}": name for of, own in (("q", known), ("s", sensitive)) for n, name in enumerate(own)}
    columns = {
        "high": keys.high,
        "low": keys.low,
        "record": keys.record,
        "class": classes.astype(np.int32),
        **{column: codes[:, names.index(name)].astype(np.int32) for column, name in coded.items()},
    }
    labels = [name for name in sensitive if name in plan.labels]
    kinds = [(name, domains[names.index(name)].ordered) for name in sensitive]
    return Shown(kinds, known, labels).described(pa.table({name: pa.array(each) for name, each in columns.items()}))


def _coded(
    promise: Promise, suppression: Suppression | None, names: Sequence[str]
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.bool_]]]:
    """Yield the codes of these columns for the records of each block, and which are left out."""
    release = promise.release if suppression is None else suppression.release
    mine = promise.release.only(names)
    order, domains = [mine.names.index(name) for name in names], [release.domains[name] for name in names]
    if suppression is None:
        for block in mine.blocks():
            yield codes_of(block, order, domains).astype(np.int32), np.zeros(block.num_rows, dtype=np.bool_)
        return
    judged = replace(suppression, release=release.only(names))
    for block in judged.release.by_person().blocks():
        starred, left_out = judged.marked(block)
        yield codes_of(starred, order, domains).astype(np.int32), left_out.to_numpy(zero_copy_only=False)


def without(rows: pa.Table, people: Sequence[str], key: bytes) -> pa.Table:
    """Return the rows that are not of these people."""
    erased = {tuple(each) for each in _hashes(people, key).tolist()}
    pairs = zip(rows["high"].to_pylist(), rows["low"].to_pylist(), strict=True)
    return rows.filter(pa.array([pair not in erased for pair in pairs]))
