"""An entry whose references take a few seconds: attributes with wide views that overlap without nesting."""

from typing import Any

import numpy as np

ATTRIBUTES, VALUES, LABELS, WIDTHS = 16, 3000, 12, (7, 11, 13)


def heavy_entry() -> dict[str, Any]:
    """Three bucketizations, folded from one random table that all attributes have."""
    table = np.random.default_rng(7).integers(0, 5, (VALUES, LABELS))
    names = [f"value {number}" for number in range(ATTRIBUTES)]
    return {
        "format": 1,
        "name": "heavy",
        "records": int(table.sum()),
        "label": {"name": "label", "domain": _texts(LABELS), "histogram": table.sum(axis=0).tolist()},
        "attributes": [_attribute(name, table) for name in names],
        "configurations": [{"id": f"by-{width}", "maskings": dict.fromkeys(names, f"by-{width}")} for width in WIDTHS],
    }


def _attribute(name: str, table: np.ndarray) -> dict[str, Any]:
    known = {"domain": _texts(VALUES), "histogram": table.sum(axis=1).tolist()}
    return {"name": name, "type": "integer", **known, "maskings": [_bucketized(table, width) for width in WIDTHS]}


def _bucketized(table: np.ndarray, width: int) -> dict[str, Any]:
    mapping = np.arange(VALUES) // width
    joint = np.zeros((mapping[-1] + 1, LABELS), dtype=np.int64)
    np.add.at(joint, mapping, table)
    return {
        "id": f"by-{width}",
        "domain": _texts(len(joint)),
        "mapping": mapping.tolist(),
        "joint": joint.tolist(),
    }


def _texts(count: int) -> list[str]:
    return [str(number) for number in range(count)]
