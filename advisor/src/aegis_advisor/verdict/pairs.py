"""Small counts that follow from several exact tables of the same two attributes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.atoms import common_refinement, per_atom
from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.verdict.certain import Bound, find_certain
from aegis_advisor.verdict.model import Finding, PublishedCounts, is_exact


def find_certain_pairs(published: PublishedCounts, bound: Bound) -> Iterator[Finding]:
    """Yield the small counts that several exact pair tables of the same two attributes determine jointly."""
    tables: dict[tuple[int, int], list[tuple[int, PairCounts]]] = {}
    for place, pair in published.pairs.items():
        if is_exact(pair.perturbation):
            tables.setdefault(pair.attributes, []).append((place, pair))
    for attributes, several in tables.items():
        if len(several) > 1:
            evidence = _combinations(
                [published.evidence[attribute] for attribute in attributes], [pair for _, pair in several]
            )
            findings = find_certain(0, evidence, bound)
            yield from (replace(finding, path=("pairs", several[0][0], "joint")) for finding in findings)


def _combinations(attributes: Sequence[AttributeEvidence], pairs: Sequence[PairCounts]) -> AttributeEvidence:
    """Return pair counts as evidence on one attribute, whose values are combinations, without a label."""
    sides = [[one.mapping_of(pair.maskings[side]) for pair in pairs] for side, one in enumerate(attributes)]
    known = [[mapping for mapping in side if mapping is not None] for side in sides]
    atoms = [common_refinement(maps, one.values) for maps, one in zip(known, attributes, strict=True)]
    sizes = [int(atom.max()) + 1 for atom in atoms]
    maskings = [
        _masking(str(number), pair, per_atom(rows, atoms[0], sizes[0]), per_atom(columns, atoms[1], sizes[1]))
        for number, (pair, rows, columns) in enumerate(zip(pairs, *sides, strict=True))
        if rows is not None and columns is not None
    ]
    records = np.array([pairs[0].joint.sum()])
    return AttributeEvidence("pairs", sizes[0] * sizes[1], records, None, None, tuple(maskings))


def _masking(name: str, pair: PairCounts, rows: IntArray, columns: IntArray) -> Masking:
    groups = (rows[:, np.newaxis] * pair.joint.shape[1] + columns).ravel()
    return Masking(name, pair.joint.size, groups, pair.joint.reshape(-1, 1), deterministic=True)
