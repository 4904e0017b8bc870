"""Walks visit all tables that agree with what is known, equally often: compared with complete enumeration."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from aegis_advisor.arrays import IntArray
from research.leakage import entries
from research.leakage.observation import Observation
from research.leakage.posterior import Known, Walks
from research.leakage.tables import Tables, deviations
from research.leakage.target import Target

RECORDS = 5


def _target() -> Target:
    """Two attributes of three values, in groups of two and one, with two labels."""
    joints = [np.array([[1, 0], [1, 1], [0, 2]]), np.array([[2, 0], [0, 0], [0, 3]])]
    return Target.of(_entry(joints, [0, 0, 1]), joints)


def _target_without_groups() -> Target:
    """The same, but of two values, so that the joint counts tell the histograms."""
    joints = [np.array([[2, 1], [0, 2]]), np.array([[2, 0], [0, 3]])]
    return Target.of(_entry(joints, [0, 1]), joints)


def _entry(joints: list[IntArray], mapping: list[int]) -> dict[str, object]:
    attributes = [
        {
            "name": f"a{place}",
            "type": "string",
            "domain": [str(value) for value in range(len(mapping))],
            "histogram": joint.sum(axis=1).tolist(),
            "maskings": [
                {
                    "id": "2",
                    "domain": ["0", "1"],
                    "mapping": mapping,
                    "joint": [joint[np.array(mapping) == group].sum(axis=0).tolist() for group in (0, 1)],
                }
            ],
        }
        for place, joint in enumerate(joints)
    ]
    return {
        "format": 1,
        "name": "tiny",
        "records": RECORDS,
        "label": {"name": "class", "domain": ["0", "1"], "histogram": joints[0].sum(axis=0).tolist()},
        "attributes": attributes,
        "configurations": [
            {"id": f"c{place}", "maskings": {"a0": one, "a1": other}}
            for place, (one, other) in enumerate(product(("2", "drop"), repeat=2))
        ],
    }


def _all_counts() -> Iterator[tuple[IntArray, IntArray]]:
    """The joint counts of both attributes, in all ways that agree on the label histogram."""
    tables = [np.array(cells).reshape(2, 2) for cells in product(range(RECORDS + 1), repeat=4) if sum(cells) == RECORDS]
    for one, other in product(tables, repeat=2):
        if (one.sum(axis=0) == other.sum(axis=0)).all():
            yield one, other


def _key(one: IntArray, other: IntArray) -> tuple[int, ...]:
    return (*one.ravel().tolist(), *other.ravel().tolist())


@pytest.mark.long
@pytest.mark.parametrize(("knows", "steps"), [("nothing", 6000), ("values", 1200), ("order too", 1200)])
def test_walks_visit_every_possible_table_equally_often(knows: str, steps: int) -> None:
    target, rng = _target_without_groups(), np.random.default_rng(5)
    known = None
    if knows != "nothing":
        known = Known(target, Observation.of(target), with_order=knows == "order too")
    possible = {_key(*each) for each in _all_counts() if known is None or _agrees(target, known, *each)}
    assert _key(*(one.counts for one in target.attributes)) in possible
    walks = Walks(target, known, rng, walks=512)
    seen = Counter(_key(*state) for state in _states(walks, steps))
    assert set(seen) == possible
    expected = sum(seen.values()) / len(possible)
    # States of a walk depend on each other a little: hence the second term.
    assert max(abs(count - expected) for count in seen.values()) < 5 * np.sqrt(expected) + 0.1 * expected


def _agrees(target: Target, known: Known, one: IntArray, other: IntArray) -> bool:
    """Whether every answer would be the same."""
    scores = [
        deviations(attribute, counts[np.newaxis], counts.sum(axis=1)[np.newaxis])
        for attribute, counts in zip(target.attributes, (one, other), strict=True)
    ]
    return bool(known.agrees(scores, range(2))[0])


def _states(walks: Walks, steps: int) -> Iterator[tuple[IntArray, IntArray]]:
    for step in range(steps):
        walks.step()
        if step >= steps // 2 and step % 15 == 0:
            yield from zip(*walks.tables.counts, strict=True)


def test_histograms_are_uniform_given_the_joint_counts() -> None:
    target = _target()
    walks = Walks(target, None, np.random.default_rng(6), walks=256)
    seen: Counter[tuple[int, int]] = Counter()
    for step in range(1500):
        walks.step()
        if step % 15 == 0:
            histogram = walks.tables.histograms[0]
            seen.update(zip(histogram[:, 0].tolist(), histogram[:, 1].tolist(), strict=True))
    for total in range(1, RECORDS + 1):
        counts = np.array([seen[first, total - first] for first in range(total + 1)])
        assert counts.min() > 0.85 * counts.mean()
        assert counts.max() < 1.15 * counts.mean()


def test_every_state_is_a_table_of_the_records() -> None:
    target = entries.drawn(3)
    walks = Walks(target, None, np.random.default_rng(7), walks=16)
    records = int(target.attributes[0].counts.sum())
    for _ in range(200):
        walks.step()
    tables: Tables = walks.tables
    for attribute, counts, histogram in zip(target.attributes, tables.counts, tables.histograms, strict=True):
        assert (counts >= 0).all()
        assert (histogram >= 0).all()
        assert (counts.sum(axis=(1, 2)) == records).all()
        assert (counts.sum(axis=1) == tables.labels()).all()
        for group in range(counts.shape[1]):
            values = attribute.group_of_value == group
            assert (histogram[:, values].sum(axis=1) == counts[:, group].sum(axis=1)).all()
