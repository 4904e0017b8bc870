"""An entry whose references take a few seconds: the views of its attributes cross and leave most cells empty."""

from typing import Any

import numpy as np

ATTRIBUTES, SIDE, LABELS = 4, 20, 8
VALUES = SIDE * SIDE
ROW, COLUMN = np.divmod(np.arange(VALUES), SIDE)
#: The values are places of a square: its rows, its columns, its diagonals, and blocks of 2 x 2.
VIEWS = {"row": ROW, "column": COLUMN, "diagonal": (ROW + COLUMN) // 3, "block": ROW // 2 * (SIDE // 2) + COLUMN // 2}


def heavy_entry() -> dict[str, Any]:
    """An entry whose attributes all have four views of the same random table."""
    table = np.random.default_rng(7).poisson(0.2, (VALUES, LABELS))
    names = [f"value {number}" for number in range(ATTRIBUTES)]
    return {
        "format": 1,
        "name": "heavy",
        "records": int(table.sum()),
        "label": {"name": "label", "domain": _texts(LABELS), "histogram": table.sum(axis=0).tolist()},
        "attributes": [_attribute(name, table) for name in names],
        "configurations": [{"id": view, "maskings": dict.fromkeys(names, view)} for view in VIEWS],
    }


def _attribute(name: str, table: np.ndarray) -> dict[str, Any]:
    known = {"domain": _texts(VALUES), "histogram": table.sum(axis=1).tolist()}
    return {"name": name, "type": "integer", **known, "maskings": [_folded(table, view) for view in VIEWS]}


def _folded(table: np.ndarray, view: str) -> dict[str, Any]:
    mapping = VIEWS[view]
    joint = np.zeros((mapping.max() + 1, LABELS), dtype=np.int64)
    np.add.at(joint, mapping, table)
    return {
        "id": view,
        "domain": _texts(len(joint)),
        "mapping": mapping.tolist(),
        "joint": joint.tolist(),
    }


def _texts(count: int) -> list[str]:
    return [str(number) for number in range(count)]
