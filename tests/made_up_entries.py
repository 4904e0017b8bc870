"""Entries of any size: made up, seeded, and as valid as real ones."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

MEASURES: Final = ("mutual_information", "chi_square", "g1", "g2", "g3", "theils_u", "cramers_v")
"""The measures of which there are most questions in a benchmark: those that look at each attribute alone.

Each costs milliseconds and needs no pair counts, which these entries do not have: what is measured is the service
around the advice, not a slow question. `bench.speed.joint` measures `joint`.
"""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The size of an entry.

    `groups` has the number of masked values (bins of equal width) of each masking of an attribute. If `ordered`, bins
    are runs of the domain. Otherwise the values that share a bin are drawn, so references have to be iterated.
    """

    attributes: int = 8
    values: int = 100
    labels: int = 4
    groups: tuple[int, ...] = (4, 7, 10, 13)
    configurations: int = 100
    records: int = 100_000
    ordered: bool = True


def entry(shape: Shape, name: str) -> dict[str, Any]:
    """Make an entry of that shape. An equal shape and name give an equal entry."""
    rng = np.random.default_rng(17)
    label_histogram = rng.multinomial(shape.records, rng.dirichlet(np.full(shape.labels, 5.0)))
    names = [f"attribute-{number}" for number in range(shape.attributes)]
    return {
        "format": 1,
        "name": name,
        "records": shape.records,
        "label": {"name": "class", "domain": _texts(shape.labels), "histogram": label_histogram.tolist()},
        "attributes": [_attribute(one, shape, _joint(rng, shape, label_histogram)) for one in names],
        "configuration_table": {
            "ids": [f"c{number}" for number in range(shape.configurations)],
            "maskings": {one: _choices(rng, shape) for one in names},
        },
    }


def _joint(rng: np.random.Generator, shape: Shape, label_histogram: Counts) -> Counts:
    """Draw unmasked counts (values, labels) of common and rare values, some more informative about the label."""
    popularity = rng.gamma(2.0, size=(shape.values, 1))
    weights = popularity * rng.gamma(4.0, size=(shape.values, shape.labels))
    shares = weights / weights.sum(axis=0)
    columns = [rng.multinomial(records, share) for records, share in zip(label_histogram, shares.T, strict=True)]
    return np.stack(columns, axis=1)


def _attribute(name: str, shape: Shape, joint: Counts) -> dict[str, Any]:
    return {
        "name": name,
        "type": "integer",
        "domain": _texts(shape.values),
        "histogram": joint.sum(axis=1).tolist(),
        "maskings": [_masking(groups, joint, ordered=shape.ordered) for groups in shape.groups],
    }


def _masking(groups: int, joint: Counts, *, ordered: bool) -> dict[str, Any]:
    """Return bins of equal width. Those of two maskings nest if one number of groups divides the other."""
    values = len(joint)
    mapping = np.arange(values) * groups // values
    starts = np.searchsorted(mapping, np.arange(groups))
    if not ordered:
        order = np.random.default_rng(groups).permutation(values)
        mapping, joint = mapping[np.argsort(order)], joint[order]
    return {
        "id": _masking_id(groups),
        "domain": [f"from {start}" for start in starts.tolist()],
        "mapping": mapping.tolist(),
        "joint": np.add.reduceat(joint, starts, axis=0).tolist(),
    }


def _choices(rng: np.random.Generator, shape: Shape) -> list[str]:
    """Draw the masking of one attribute in each configuration."""
    options = np.array([*map(_masking_id, shape.groups), "drop"])
    chosen: list[str] = rng.choice(options, shape.configurations).tolist()
    return chosen


def _masking_id(groups: int) -> str:
    return f"{groups}-bins"


def _texts(size: int) -> list[str]:
    return list(map(str, range(size)))
