"""A table in which most masked values of an attribute have few records, and its entry as made by default."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from aegis_provider import document_of, load_plan, prepare_entry

PLAN = """label: y
attributes:
  code: {type: integer, maskings: {fine: {bucketize: {width: 2}}, tens: {bucketize: {width: 20}}}}
  place: {type: integer, maskings: {fine: {bucketize: {width: 1}}}}
configurations:
  fine: {code: fine, place: fine}
  tens: {code: tens, place: fine}
  alone: {code: fine, place: drop}
  raw: {code: identity, place: identity}
"""


def thin_table() -> pa.Table:
    """Return a table of 40 codes with 4 records each, and of one with 1,240 others, in 12 places.

    Each code is two neighbouring numbers. So a masking by codes shows no number that few records have.
    """
    rng = np.random.default_rng(5)
    code = np.concatenate([np.repeat(np.arange(40), 4), np.full(1_240, 40)])
    place = rng.integers(0, 12, code.size)
    often = rng.random(code.size) < 0.2 + 0.3 * (code == 40) + 0.3 * (place < 6)
    columns = {"code": 2 * code + np.arange(code.size) % 2, "place": place, "y": often.astype(int)}
    return pa.table({name: pa.array(column.astype(str)) for name, column in columns.items()})


def thin_entry(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return the entry of this table as `aegis summarize --pairs` makes it; codes are counted together in its pairs."""
    path = folder / "plan.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return document_of(prepare_entry(thin_table(), load_plan(path), name="thin", pairs=True).entry) | changes
