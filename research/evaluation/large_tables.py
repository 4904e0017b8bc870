"""Tables of any size, made up on disk, and the inputs that the cost comparison takes from them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_provider import Attribute, Configuration, Masking, Plan
from aegis_provider.masking import EdgeBuckets
from aegis_provider.plan.model import DROP
from aegis_provider.table.values import ValueType

WIDTHS = (5, 7, 10, 20)
"""The widths of the intervals of each attribute's maskings, for 100 values; those of 7 nest in no other."""

LARGEST = 120
"""Larger than any value, for 100 of them."""

LABELS = 3
MEMORY = "1GB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a made-up table, with about so many values an attribute, and its number of configurations."""

    attributes: int = 8
    configurations: int = 100
    records: int = 100_000
    values: int = 100

    def scaled(self, number: int) -> int:
        """Return a number that is stated for 100 values for as many as these."""
        return number * self.values // 100


@contextmanager
def made(size: Size) -> Iterator[Path]:
    """Write a Parquet file of that size to a temporary directory, which is removed. Equal sizes give equal files.

    The values of each attribute depend on a label of three classes. DuckDB writes it piece by piece.
    """
    with tempfile.TemporaryDirectory(prefix="aegis-cost-") as directory, duckdb.connect() as connection:
        path = Path(directory) / "table.parquet"
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        columns = ", ".join(f"{_value(place, size)} AS {_name(place)}" for place in range(size.attributes))
        classes = f"SELECT i, (hash(i) % {LABELS})::INTEGER AS y FROM range({size.records}) AS numbers(i)"
        connection.execute(f"COPY (SELECT {columns}, 'class ' || y AS label FROM ({classes})) TO '{path}'")
        yield path


def plan(size: Size) -> Plan:
    """Mask every attribute by intervals of four widths; configurations choose among them and `drop` at random."""
    attributes = tuple(
        Attribute(_name(place), ValueType.INTEGER, tuple(_masking(width, size) for width in WIDTHS))
        for place in range(size.attributes)
    )
    options = np.array([*map(_masking_id, WIDTHS), DROP])
    chosen = np.random.default_rng(0).choice(options, (size.configurations, size.attributes)).tolist()
    names = [attribute.name for attribute in attributes]
    configurations = tuple(
        Configuration(f"c{place}", dict(zip(names, maskings, strict=True)), {}) for place, maskings in enumerate(chosen)
    )
    return Plan("made up", "label", attributes, configurations, {})


def records_of(path: Path, entry: dict[str, Any]) -> tuple[IntArray, IntArray]:
    """Return values (records, attributes) and classes (records,) as indices in the domains of the table's entry."""
    with duckdb.connect() as connection:
        columns = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchnumpy()
    domains = [np.array(attribute["domain"], dtype=np.int64) for attribute in entry["attributes"]]
    names = [attribute["name"] for attribute in entry["attributes"]]
    codes = [np.searchsorted(domain, columns[name]) for name, domain in zip(names, domains, strict=True)]
    classes = np.searchsorted(entry["label"]["domain"], columns["label"].astype(np.str_))
    return np.stack(codes, axis=1), classes


def _name(place: int) -> str:
    return f"a{place}"


def _value(place: int, size: Size) -> str:
    """Return SQL of a whole number from 0: two drawn numbers plus a multiple of the class that differs by attribute."""
    first, second, step = size.scaled(60), size.scaled(30), size.scaled(place % 4 + 1)
    return f"(hash(i, {place}) % {first} + hash(i, {place}, 1) % {second} + {step} * y)::INTEGER"


def _masking(width: int, size: Size) -> Masking:
    edges = (*(Decimal(edge) for edge in range(0, size.scaled(LARGEST), size.scaled(width))), Decimal("Infinity"))
    return Masking(_masking_id(width), EdgeBuckets(edges), "made up")


def _masking_id(width: int) -> str:
    return f"w{width}"
