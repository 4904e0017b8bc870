"""An entry with pair counts, counted from fixed records."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

RECORDS = 300
#: The mappings of each attribute's maskings; every pair of attributes is counted in some way.
MAPPINGS = {
    "age": {"age-4": [0, 0, 1, 1, 2, 2, 3, 3], "age-2": [0, 0, 0, 0, 1, 1, 1, 1]},
    "zip": {"zip-3": [0, 0, 1, 1, 2, 2], "zip-odd": [0, 1, 0, 1, 0, 1]},
    "sex": {},
}
VALUES = {"age": 8, "zip": 6, "sex": 2}
PAIRED = [
    (("age", "zip"), ("age-4", "zip-3")),
    (("zip", "age"), ("zip-3", "age-2")),
    (("age", "zip"), ("age-4", "zip-odd")),
    (("sex", "age"), ("identity", "age-4")),
    (("zip", "sex"), ("identity", "identity")),
]


def records() -> dict[str, IntArray]:
    """Return the records by column, (records,) each; the attributes depend on each other, and the label on them."""
    rng = np.random.default_rng(7)
    age = rng.integers(0, VALUES["age"], RECORDS)
    place = (age + rng.integers(0, 4, RECORDS)) % VALUES["zip"]
    sex = (rng.random(RECORDS) < 0.3 + 0.05 * age).astype(np.int64)
    label = (rng.random(RECORDS) < 0.1 + 0.08 * age + 0.2 * sex).astype(np.int64)
    return {"age": age, "zip": place, "sex": sex, "label": label}


def counted(first: IntArray, second: IntArray) -> list[list[int]]:
    """Return the joint counts of two columns whose values are numbered from 0 without gaps."""
    table = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(table, (first, second), 1)
    counts: list[list[int]] = table.tolist()
    return counts


def masked(column: str, masking: str) -> IntArray:
    """Return the masked values of the records, (records,)."""
    values = records()[column]
    return values if masking == "identity" else np.array(MAPPINGS[column][masking])[values]


def pair(attributes: tuple[str, str], maskings: tuple[str, str]) -> dict[str, Any]:
    """Return the pair counts of two masked attributes."""
    first, second = (masked(name, masking) for name, masking in zip(attributes, maskings, strict=True))
    return {"attributes": list(attributes), "maskings": list(maskings), "joint": counted(first, second)}


def with_label(attributes: tuple[str, str], maskings: tuple[str, str]) -> dict[str, Any]:
    """Return what two masked attributes say about the label together."""
    first, second = (masked(name, masking) for name, masking in zip(attributes, maskings, strict=True))
    names, combination = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    table = np.array(counted(combination.reshape(-1), records()["label"]), dtype=np.float64)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / RECORDS
    return {"chi_square": float(((table - expected) ** 2 / expected).sum()), "combinations": names.shape[1]}


def associated_entry(**changes: Any) -> dict[str, Any]:
    """Return the entry of `paired_entry` with what every two maskings used together say about the label."""
    entry = paired_entry()
    for one in entry["pairs"]:
        one["with_label"] = with_label(one["attributes"], one["maskings"])
    given = {frozenset(zip(*which, strict=True)) for which in PAIRED}
    for one in entry["configurations"]:
        for both in combinations(
            [(name, masking) for name, masking in one["maskings"].items() if masking != "drop"], 2
        ):
            if frozenset(both) not in given:
                given.add(frozenset(both))
                attributes, maskings = zip(*both, strict=True)
                told = with_label(attributes, maskings)
                entry["pairs"].append({"attributes": list(attributes), "maskings": list(maskings), "with_label": told})
    return entry | changes


def paired_entry(**changes: Any) -> dict[str, Any]:
    """Return an entry of three attributes with pair counts, which the caller may change."""
    columns = records()
    choices = [("age-4", "zip-3"), ("age-2", "zip-3"), ("age-4", "zip-odd"), ("age-2", "drop")]
    entry = {
        "format": 1,
        "name": "paired",
        "records": RECORDS,
        "label": {"name": "label", "domain": ["no", "yes"], "histogram": np.bincount(columns["label"]).tolist()},
        "attributes": [_attribute(name, columns) for name in VALUES],
        "pairs": [pair(*which) for which in PAIRED],
        "configurations": [
            {"id": f"c{place}", "maskings": {"age": age, "zip": where, "sex": "identity"}}
            for place, (age, where) in enumerate(choices)
        ],
    }
    return entry | changes


def _attribute(name: str, columns: dict[str, IntArray]) -> dict[str, Any]:
    maskings = [
        {
            "id": masking,
            "domain": [str(group) for group in range(max(mapping) + 1)],
            "mapping": mapping,
            "joint": counted(masked(name, masking), columns["label"]),
        }
        for masking, mapping in MAPPINGS[name].items()
    ]
    attribute = {
        "name": name,
        "type": "string",
        "domain": [str(value) for value in range(VALUES[name])],
        "histogram": np.bincount(columns[name]).tolist(),
        "maskings": maskings,
    }
    return attribute if maskings else attribute | {"joint": counted(columns[name], columns["label"])}
