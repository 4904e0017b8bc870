"""Entries with several labels and, of the same records, entries with each of them alone, counted with NumPy."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]

VALUES = {"health": 3, "smoker": 2, "charges": 4, "age": 6, "zip": 4}
"""The columns with their numbers of values; the first three are labels."""

LABELS = ("health", "smoker", "charges")

MAPPINGS = {
    ("age", "age-3"): [0, 0, 1, 1, 2, 2],
    ("age", "age-2"): [0, 0, 0, 0, 1, 1],
    ("age", "age-odd"): [0, 1, 0, 1, 0, 1],
    ("zip", "zip-2"): [0, 0, 1, 1],
    ("charges", "charges-2"): [0, 0, 1, 1],
}

CONFIGURATIONS = (
    {"age": "age-3", "zip": "identity", "charges": "identity"},
    {"age": "age-2", "zip": "zip-2", "charges": "identity"},
    {"age": "age-odd", "zip": "zip-2", "charges": "charges-2"},
    {"age": "identity", "zip": "drop", "charges": "identity"},
    {"age": "age-3", "zip": "zip-2", "charges": "drop"},
    {"age": "age-odd", "zip": "drop", "charges": "identity", "smoker": "drop"},
)


def some_records(seed: int, size: int = 400) -> dict[str, IntArray]:
    """Return random records by column, (size,) each; every column depends on those before it."""
    rng = np.random.default_rng(seed)
    columns: dict[str, IntArray] = {}
    score = rng.standard_normal(size)
    for name, values in reversed(VALUES.items()):
        column = np.argsort(np.argsort(0.7 * score + rng.standard_normal(size))) * values // size
        columns[name] = (column + rng.integers(0, 2, size) * (rng.random(size) < 0.2)) % values
        score = 0.6 * score + 0.4 * rng.permutation(values)[columns[name]]
    return columns


def entry_of(records: Mapping[str, IntArray], labels: Sequence[str], **changes: Any) -> dict[str, Any]:
    """Return the entry of these records with these labels, the default one first.

    It has the configurations that show the default label, masked or not. Counts that follow from finer ones are not in
    it.
    """
    label, *others = labels
    names = [name for name in VALUES if name != label]
    chosen = {number: dict.fromkeys(VALUES, "identity") | one for number, one in enumerate(CONFIGURATIONS)}
    masked = {one[label] for one in chosen.values()} - {"identity", "drop"}
    configurations = [
        {"id": f"c{number}", "maskings": {name: one[name] for name in (names if not masked else VALUES)}}
        for number, one in chosen.items()
        if one[label] != "drop"
    ]
    several = {"labels": list(labels)} if others else {}
    own = {"name": label, "domain": _domain(label), "histogram": _counted(records, (label, "identity"))}
    if masked:
        own["maskings"] = [
            {"id": masking, "domain": _domain(label, masking), "mapping": MAPPINGS[label, masking]}
            for masking in sorted(masked)
        ]
    return {
        **several,
        "format": 4 if others or masked else 1,
        "name": "some",
        "records": len(records[label]),
        "label": own,
        "attributes": [_attribute(records, name, label) for name in names],
        "pairs": list(_pairs(records, label, others, configurations)),
        "configurations": configurations,
        **changes,
    }


def _domain(name: str, masking: str = "identity") -> list[str]:
    size = max(MAPPINGS[name, masking]) + 1 if masking != "identity" else VALUES[name]
    return [f"{name} {value}" for value in range(size)]


def _counted(records: Mapping[str, IntArray], *views: tuple[str, str]) -> Any:
    """Return the counts of records by masked columns, as nested lists."""
    table = np.zeros([len(_domain(*view)) for view in views], dtype=np.int64)
    np.add.at(table, tuple(_masked(records, view) for view in views), 1)
    return table.tolist()


def _masked(records: Mapping[str, IntArray], view: tuple[str, str]) -> IntArray:
    return np.array(MAPPINGS.get(view, list(range(VALUES[view[0]]))))[records[view[0]]]


def _attribute(records: Mapping[str, IntArray], name: str, label: str) -> dict[str, Any]:
    """Return an attribute; its unmasked joint counts only if a configuration shows it as it is."""
    is_shown = any(
        one.get(name, "identity") == "identity" for one in CONFIGURATIONS if one.get(label, "identity") == "identity"
    )
    joint = {"joint": _counted(records, (name, "identity"), (label, "identity"))} if is_shown else {}
    maskings = [
        {
            "id": masking,
            "domain": _domain(name, masking),
            "mapping": mapping,
            "joint": _counted(records, (name, masking), (label, "identity")),
        }
        for (attribute, masking), mapping in MAPPINGS.items()
        if attribute == name
    ]
    histogram = _counted(records, (name, "identity"))
    return {
        "name": name,
        "type": "string",
        "domain": _domain(name),
        "histogram": histogram,
        **joint,
        "maskings": maskings,
    }


def _pairs(
    records: Mapping[str, IntArray], label: str, others: Sequence[str], configurations: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the pair of every two maskings that a configuration combines, with its associations with all labels."""
    used = [
        [view for view in one["maskings"].items() if view[0] != label and view[1] != "drop"] for one in configurations
    ]
    both = sorted({pair for views in used for pair in combinations(views, 2)})
    for one, other in both:
        pair: dict[str, Any] = {"attributes": [one[0], other[0]], "maskings": [one[1], other[1]]}
        finer = ((first, second) for first, second in both if (first, second) != (one, other))
        if not any(_is_finer(first, one) and _is_finer(second, other) for first, second in finer):
            pair["joint"] = _counted(records, one, other)
        pair["with_label"] = _association(records, one, other, label)
        told = {}
        for name in others:
            masked = dict((one, other))
            sides = [(label, "identity") if side[0] == name else side for side in (one, other)]
            if masked.get(name, "identity") == "identity":
                told[name] = _association(records, *sides, name)
        yield pair | ({"with_labels": told} if told else {})


def _is_finer(view: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether the second view is a function of the first."""
    values = VALUES[view[0]]
    fine, coarse = (MAPPINGS.get(each, list(range(values))) for each in (view, other))
    return view[0] == other[0] and len(set(zip(fine, coarse, strict=True))) == len(set(fine))


def _association(
    records: Mapping[str, IntArray], one: tuple[str, str], other: tuple[str, str], label: str
) -> dict[str, Any]:
    """Return the chi-square of a label and two masked columns together, and the number of their combinations."""
    table = np.array(_counted(records, one, other, (label, "identity")), dtype=np.float64).reshape(-1, VALUES[label])
    table = table[table.any(axis=1)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    squares = np.divide((table - expected) ** 2, expected, out=np.zeros_like(table), where=expected > 0)
    return {"chi_square": float(squares.sum()), "combinations": len(table)}
