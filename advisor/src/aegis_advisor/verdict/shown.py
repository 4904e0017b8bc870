"""Small counts that an entry shows directly.

The protection of counts by noise, whatever else is published of an attribute.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import DROP, AttributeEvidence, Masking, Perturbation
from aegis_advisor.verdict.model import LIKELY, Finding, Path, PublishedCounts, Reason, is_exact, is_small


def find_shown(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the tables that show small counts, and the numbers of records that differ by a small one.

    A table of a random masking, or of one applied elsewhere, counts too: its counts are records of a release.
    """
    small = published.small
    for path, counts in _exact_tables(published):
        yield from _shown(path, int(np.count_nonzero(is_small(counts, small))))
    for path, left_out in _left_out(published):
        yield from _shown(path, int(np.count_nonzero(is_small(left_out, small))))
    if published.rounded_once is None:
        yield from _suppressed(published)
        for place, cells in enumerate(published.releases.cells):
            yield from _shown(("configurations", place, "suppressed_cells"), int(0 < (cells or 0) <= small))


def _shown(path: Path, cells: int) -> Iterator[Finding]:
    if cells:
        yield Finding(Reason.SHOWN, path, cells)


def _exact_tables(published: PublishedCounts) -> Iterator[tuple[Path, IntArray]]:
    first, exact = published.evidence[0], published.rounded_once is None
    if exact and is_exact(first.label_perturbation):
        yield ("label", "histogram"), first.label_histogram
    for place, attribute in enumerate(published.evidence):
        owner: Path = ("attributes", place)
        own = (("histogram", attribute.histogram), ("joint", attribute.joint)) if exact else ()
        yield from (((*owner, name), counts) for name, counts in own if counts is not None)
        for index, masking in enumerate(attribute.maskings):
            known = is_exact(masking.perturbation) and (exact or not masking.perturbation.is_none)
            if masking.joint is not None and known:
                yield (*owner, "maskings", index, "joint"), masking.joint
    for place, pair in published.pairs.items():
        if is_exact(pair.perturbation):
            yield ("pairs", place, "joint"), pair.joint


def _left_out(published: PublishedCounts) -> Iterator[tuple[Path, IntArray]]:
    """Yield the number of records that each masking certainly leaves out, where the numbers are exact.

    All of them, those of each label value, and those in each cell of a masking that leaves none out.
    """
    exact = published.rounded_once is None
    for place, attribute in enumerate(published.evidence):
        whole = [one for one in attribute.maskings if exact and one.perturbation.is_none]
        for index, masking in enumerate(attribute.maskings):
            counted = masking.perturbation.records
            if counted is None or not is_exact(masking.perturbation) or not attribute.knows_label:
                continue
            path: Path = ("attributes", place, "maskings", index, "records")
            yield path, np.array([attribute.records - counted])
            if masking.joint is not None:
                yield path, attribute.label_histogram - masking.joint.sum(axis=0)
                yield from ((path, cells) for one in whole if (cells := _more(one, masking)) is not None)


def _more(whole: Masking, part: Masking) -> IntArray | None:
    """(groups, labels) the records that one masking counts and another leaves out; None if their groups overlap."""
    if whole.joint is None or part.joint is None or whole.mapping is None or part.mapping is None:
        return None
    if (merged := coarsening(part.mapping, whole.mapping, part.groups)) is not None:
        return whole.joint - _summed(part.joint, merged, whole.groups)
    if (merged := coarsening(whole.mapping, part.mapping, whole.groups)) is not None:
        return _summed(whole.joint, merged, part.groups) - part.joint
    return None


def _summed(counts: IntArray, group_of: IntArray, groups: int) -> IntArray:
    sums = np.zeros((groups, counts.shape[1]), dtype=np.int64)
    np.add.at(sums, group_of, counts)
    return sums


def _suppressed(published: PublishedCounts) -> Iterator[Finding]:
    """Yield configurations that suppress a small number of records, or a small number more than a coarser one.

    A finer configuration with the same promise suppresses all records that a coarser one does, so the difference of the
    two numbers counts records.
    """
    releases = published.releases
    given = [place for place, records in enumerate(releases.suppressed) if records]
    records = np.array([releases.suppressed[place] for place in given], dtype=np.int64)
    codes = releases.codes[given]
    coarser = [
        _coarser(attribute, options) for attribute, options in zip(published.evidence, releases.options, strict=True)
    ]
    for index, place in enumerate(given):
        fewer = np.flatnonzero(is_small(records[index] - records, published.small))
        known = 0 < records[index] <= published.small or _any_nests(codes, index, fewer, coarser)
        yield from _shown(("configurations", place, "suppressed"), int(known))


def _any_nests(codes: IntArray, finer: int, others: IntArray, coarser: list[BoolArray]) -> bool:
    """Whether one of the other configurations masks every attribute as this one does, or more coarsely."""
    left = others
    for column, nests in enumerate(coarser):
        left = left[nests[codes[finer, column], codes[left, column]]]
    return bool(left.size)


def _coarser(evidence: AttributeEvidence, options: Sequence[str]) -> BoolArray:
    """Return (options, options) whether the second option is a function of the first."""
    mappings = [_mapping(evidence, option) for option in options]
    nests = np.eye(len(mappings), dtype=bool)
    for row, finer in enumerate(mappings):
        for column, other in enumerate(mappings):
            if finer is not None and other is not None:
                nests[row, column] = coarsening(finer, other, int(finer.max()) + 1) is not None
    return nests


def _mapping(evidence: AttributeEvidence, option: str) -> IntArray | None:
    return np.zeros(evidence.values, dtype=np.int64) if option == DROP else evidence.mapping_of(option)


ENOUGH = math.log(LIKELY / (1 - LIKELY))
"""The largest epsilon for which the probability of each small count stays below `LIKELY`: nearly 2.2."""


def find_little_noise(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the attributes whose tables have too little noise to rule out that a reader knows a small count.

    A record more in a cell is one more in the label's histogram, in each table of every attribute and in each pair. It
    changes the probability of what is published by a factor of at most `exp(epsilon)`, the sum of 1 / scale of all
    these tables. A record more with one less in another cell of the attribute changes nothing but its own tables and
    pairs, each by two records. So a reader to whom all tables of the attribute are equally probable gives a count v
    at most `exp(epsilon)` times the probability of v + 1, with the smaller of these two: at most
    `1 / (1 + exp(-epsilon))`. That of v - 1 may be 0, since a listed value has a record. A person more is up to
    `rows_per_person` records more, with so many times the epsilon.
    """
    label = published.evidence[0].label_perturbation
    every = [
        label,
        *(one for place in range(len(published.evidence)) for one in _tables(published, place, pairs=False)),
    ]
    every += [pair.perturbation for pair in published.pairs.values()]
    of_all = _epsilon(every) if all(one.is_noisy for one in every) else math.inf
    for place, attribute in enumerate(published.evidence):
        if published.rows_per_person * min(of_all, 2 * _epsilon(_tables(published, place))) > ENOUGH:
            yield Finding(Reason.UNDECIDED, ("attributes", place), attribute.values * attribute.labels)


def spent_epsilon(published: PublishedCounts) -> float:
    """Return the largest epsilon that the tables of an attribute spend together; 0 without noise."""
    label = published.evidence[0].label_perturbation
    spent = (_epsilon(_tables(published, place)) for place in range(len(published.evidence)))
    return max(of_tables + _epsilon([label]) if of_tables else 0.0 for of_tables in spent)


def _epsilon(tables: Sequence[Perturbation]) -> float:
    return sum(1 / one.noise_scale for one in tables if one.is_noisy and one.noise_scale is not None)


def _tables(published: PublishedCounts, place: int, *, pairs: bool = True) -> list[Perturbation]:
    """Return the declarations of an attribute's tables and, if `pairs`, of its pairs."""
    own = [one.perturbation for one in published.evidence[place].maskings if one.joint is not None]
    with_others = [pair.perturbation for pair in published.pairs.values() if pairs and place in pair.attributes]
    return [*own, *with_others]
