"""An entry whose references are split among jobs: wide views make their estimated cost high."""

from typing import Any

import numpy as np

VALUES, LABELS, WIDTHS = 600, 12, (2, 4, 8)


def shared_entry(attributes: int) -> dict[str, Any]:
    """An entry whose attributes have nested bucketizations of the same random table, so each takes a millisecond."""
    table = np.random.default_rng(7).integers(0, 5, (VALUES, LABELS))
    names = [f"value {number}" for number in range(attributes)]
    known = {"domain": _texts(VALUES), "histogram": table.sum(axis=1).tolist()}
    maskings = [_bucketized(table, width) for width in WIDTHS]
    return {
        "format": 1,
        "name": "shared",
        "records": int(table.sum()),
        "label": {"name": "label", "domain": _texts(LABELS), "histogram": table.sum(axis=0).tolist()},
        "attributes": [{"name": name, "type": "integer", **known, "maskings": maskings} for name in names],
        "configurations": [{"id": f"by-{width}", "maskings": dict.fromkeys(names, f"by-{width}")} for width in WIDTHS],
    }


def _bucketized(table: np.ndarray, width: int) -> dict[str, Any]:
    joint = np.add.reduceat(table, np.arange(0, VALUES, width))
    mapping = (np.arange(VALUES) // width).tolist()
    return {"id": f"by-{width}", "domain": _texts(len(joint)), "mapping": mapping, "joint": joint.tolist()}


def _texts(count: int) -> list[str]:
    return [str(number) for number in range(count)]
