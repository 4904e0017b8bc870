"""Records of a table in memory, for training models and for attacks."""

from aegis_provider.records.records import (
    MOST_RECORDS,
    Column,
    Records,
    as_numbers,
    drawn,
    numbers_of,
    read_records,
    rows_of,
)
from aegis_provider.records.sides import (
    SHARE,
    Sides,
    held_out_of,
    held_out_share,
    learnt,
    sides_of,
    validated_by_coin,
    validated_of,
)

__all__ = [
    "MOST_RECORDS",
    "SHARE",
    "Column",
    "Records",
    "Sides",
    "as_numbers",
    "drawn",
    "held_out_of",
    "held_out_share",
    "learnt",
    "numbers_of",
    "read_records",
    "rows_of",
    "sides_of",
    "validated_by_coin",
    "validated_of",
]
