"""Everything in an attribute's evidence that does not add up, in plain words.

Which checks there are, and why no more: model, section 5. Views that agree pairwise may still admit no
table; such evidence is accepted, and its reconstruction says that it did not converge.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from app.advisor.arrays import BoolArray, IntArray, fold
from app.advisor.atoms import common_refinement, per_atom
from app.advisor.evidence.attribute import AttributeEvidence, Masking

LARGEST_COUNT = 2**53 - 1
FAULTS_PER_TABLE = 100

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not add up.

    Attributes:
        path: where, relative to the attribute in the wire document, e.g. ("maskings", 2, "joint", 3);
            () is the label's histogram, which every attribute shares.
        detail: what, with the sums and by how much they differ.
    """

    path: Path
    detail: str


def find_faults(evidence: AttributeEvidence) -> tuple[Fault, ...]:
    """Find everything that does not add up; an empty answer is evidence that can be reconstructed from.

    Arrays may hold any integers and have any shape. At most 100 faults are named per table.
    """
    label = list(_count_faults((), evidence.label_histogram, (evidence.label_histogram.size,)))
    if label or _total(evidence.label_histogram) > LARGEST_COUNT:
        return (*label, Fault((), "the label's histogram adds up to more records than can be counted"))[:1]
    histogram = list(_histogram_faults(evidence))
    joint = list(_joint_faults(evidence, histogram_is_sound=not histogram))
    sound = evidence.value_counts if not histogram and not joint else None
    maskings = [list(_masking_faults(evidence, index, sound)) for index in range(len(evidence.maskings))]
    comparable = [
        index for index, masking in enumerate(evidence.maskings) if masking.constrains and not maskings[index]
    ]
    agreement: Iterator[Fault] = iter(())
    if evidence.joint is None:
        agreement = _agreement_faults(evidence, comparable, sound)
    elif not joint:
        agreement = _unmasked_faults(evidence, evidence.joint, comparable)
    return (*histogram, *joint, *(fault for faults in maskings for fault in faults), *agreement)


def _histogram_faults(evidence: AttributeEvidence) -> Iterator[Fault]:
    if evidence.histogram is None:
        return
    path = ("histogram",)
    malformed = list(_count_faults(path, evidence.histogram, (evidence.values,)))
    yield from malformed or _total_faults(path, evidence.histogram, evidence.records)


def _joint_faults(evidence: AttributeEvidence, *, histogram_is_sound: bool) -> Iterator[Fault]:
    if evidence.joint is None:
        return
    table = list(_table_faults(("joint",), evidence.joint, evidence.values, evidence))
    yield from table
    if evidence.histogram is not None and histogram_is_sound and not table:
        yield from _row_faults(("joint",), evidence.joint, evidence.histogram, "the histogram counts")


def _masking_faults(evidence: AttributeEvidence, index: int, histogram: IntArray | None) -> Iterator[Fault]:
    """Faults of one masking by itself; `histogram` (values,) is None where it is unknown or unsound."""
    masking, path = evidence.maskings[index], ("maskings", index)
    if masking.mapping is None and masking.joint is None:
        yield Fault(path, "neither a mapping nor joint counts: nothing can be said of this masking")
    mapping = list(_mapping_faults(path, masking, evidence.values))
    yield from mapping
    if masking.joint is None:
        return
    table = list(_table_faults((*path, "joint"), masking.joint, masking.groups, evidence))
    yield from table
    if masking.mapping is not None and not mapping and not table:
        yield from _preimage_faults((*path, "joint"), masking.joint, masking.mapping, histogram)


def _mapping_faults(path: Path, masking: Masking, values: int) -> Iterator[Fault]:
    mapping = masking.mapping
    if mapping is None:
        return
    if not masking.deterministic:
        yield Fault((*path, "deterministic"), "a masking with a mapping is deterministic")
    if mapping.shape != (values,):
        yield Fault((*path, "mapping"), f"has shape {mapping.shape}, but the domain has {values} values")
        return
    for place in _places((mapping < 0) | (mapping >= masking.groups)):
        detail = f"masked value {mapping[place]} is out of range: there are {masking.groups} masked values"
        yield Fault((*path, "mapping", *place), detail)


def _table_faults(path: Path, table: IntArray, rows: int, evidence: AttributeEvidence) -> Iterator[Fault]:
    """Faults of joint counts (rows, labels) against the label's histogram."""
    malformed = list(_count_faults(path, table, (rows, evidence.labels)))
    yield from malformed
    if malformed:
        return
    total = list(_total_faults(path, table, evidence.records))
    yield from total
    if _total(table) > np.iinfo(np.int64).max:  # no sum of it need fit, and the total says enough
        return
    columns = table.sum(axis=0)
    for (label,) in _places(columns != evidence.label_histogram):
        expected = int(evidence.label_histogram[label])
        detail = _differ(f"column {label} adds up to", int(columns[label]), "the label's histogram counts", expected)
        yield Fault(path, detail)


def _preimage_faults(path: Path, table: IntArray, mapping: IntArray, histogram: IntArray | None) -> Iterator[Fault]:
    """Rows of a masked table that no value, or not as many records, can stand behind."""
    reached = np.bincount(mapping, minlength=table.shape[0]) > 0
    rows = table.sum(axis=1)
    for place in _places(~reached & (rows > 0)):
        detail = f"no value is mapped to masked value {place[0]}, yet it counts {rows[place]} records"
        yield Fault((*path, *place), detail)
    if histogram is not None:
        # Its total is a count, so that these sums are exact in doubles, and several times faster than a sparse product.
        folded = np.bincount(mapping, histogram, minlength=table.shape[0]).astype(np.int64)
        expected = np.where(reached, folded, rows)
        yield from _row_faults(path, table, expected, "the histogram of its values counts")


def _agreement_faults(
    evidence: AttributeEvidence, comparable: list[int], histogram: IntArray | None
) -> Iterator[Fault]:
    """Pairs of views that disagree on their common coarsening.

    Two groups are linked when they share a value (that has records, where the histogram is known). Groups
    of one view that are linked, directly or through others, hold the same records as those of the other.
    """
    views = {
        index: (mapping, joint)
        for index in comparable
        if (mapping := evidence.maskings[index].mapping) is not None
        and (joint := evidence.maskings[index].joint) is not None
    }
    present = np.ones(evidence.values, dtype=bool) if histogram is None else histogram > 0
    refined = common_refinement([mapping[present] for mapping, _ in views.values()], int(present.sum()))
    atoms = int(refined.max(initial=-1)) + 1
    cells = {index: per_atom(mapping[present], refined, atoms) for index, (mapping, _) in views.items()}
    rows = {index: joint.shape[0] for index, (_, joint) in views.items()}
    for pair, parts in _comparisons(cells, rows):
        yield from _coarsening_faults(evidence, pair, parts)


def _comparisons(
    cells: Mapping[int, IntArray], rows: Mapping[int, int]
) -> Iterator[tuple[tuple[int, int], tuple[IntArray, IntArray]]]:
    """The pairs of views to compare, with the part of the common coarsening that each of their groups belongs to.

    Of views that nest in a chain only neighbours are compared: where they agree, so do all. `cells` are the groups
    (atoms,) of each view, `rows` how many it has.
    """
    order = sorted(cells, key=lambda view: -rows[view])
    nesting = {
        (fine, coarse): outer
        for fine, coarse in combinations(order, 2)
        if (outer := _containing(cells[fine], cells[coarse], rows[fine])) is not None
    }
    for place, fine in enumerate(order):
        for step, coarse in enumerate(order[place + 1 :]):
            between = order[place + 1 : place + 1 + step]
            if (fine, coarse) not in nesting:
                parts = _linked_groups(cells[fine], cells[coarse], rows[fine], rows[coarse])
            elif any((fine, middle) in nesting and (middle, coarse) in nesting for middle in between):
                continue
            else:
                parts = nesting[fine, coarse], np.arange(rows[coarse])
            yield ((fine, coarse), parts) if fine < coarse else ((coarse, fine), parts[::-1])


def _linked_groups(first: IntArray, second: IntArray, rows: int, others: int) -> tuple[IntArray, IntArray]:
    """The part of the common coarsening that each group of two views, (rows,) and (others,), belongs to."""
    links = coo_array((np.ones(first.size), (first, rows + second)), shape=(rows + others, rows + others))
    part = connected_components(links.tocsr(), directed=False)[1].astype(np.int64)
    return part[:rows], part[rows:]


def _containing(inner: IntArray, outer: IntArray, groups: int) -> IntArray | None:
    """The outer group (groups,) that has each inner one, where views, both (atoms,), nest; else None.

    Nesting views are the usual ones, and need no search for what is linked. Groups without atoms count nothing.
    """
    found = np.zeros(groups, dtype=np.int64)
    found[inner] = outer
    return found if np.array_equal(found[inner], outer) else None


def _coarsening_faults(
    evidence: AttributeEvidence, pair: tuple[int, int], parts: tuple[IntArray, IntArray]
) -> Iterator[Fault]:
    tables = [evidence.maskings[index].joint for index in pair]
    if tables[0] is None or tables[1] is None:
        return
    size = int(max(part.max(initial=0) for part in parts)) + 1
    if size == 1:  # everything is linked: both are the label's histogram, which each was compared with
        return
    ours, theirs = _united(tables[1], parts[1], size), _united(tables[0], parts[0], size)
    for part, label in _places(ours != theirs):
        groups, others = (_listing(parts[side] == part) for side in (1, 0))
        said = f"masked values {groups} count in column {label}"
        other = f"masking {evidence.maskings[pair[0]].id!r} counts in {others}, which hold the same values,"
        detail = _differ(said, int(ours[part, label]), other, int(theirs[part, label]))
        yield Fault(("maskings", pair[1], "joint"), detail)


def _united(table: IntArray, part: IntArray, size: int) -> IntArray:
    """The counts (size, labels) of the parts that the groups of a table belong to."""
    return table if np.array_equal(part, np.arange(size)) else fold(table, part, size)


def _unmasked_faults(evidence: AttributeEvidence, joint: IntArray, comparable: list[int]) -> Iterator[Fault]:
    """Cells of views that are not the fold of the unmasked counts."""
    for index in comparable:
        masking = evidence.maskings[index]
        if masking.mapping is None or masking.joint is None:
            continue
        folded = fold(joint, masking.mapping, masking.groups)
        for place in _places(folded != masking.joint):
            expected = int(folded[place])
            detail = _differ("is", int(masking.joint[place]), "the unmasked counts add up to", expected)
            yield Fault(("maskings", index, "joint", *place), detail)


def _count_faults(path: Path, counts: IntArray, shape: tuple[int, ...]) -> Iterator[Fault]:
    if counts.shape != shape:
        yield Fault(path, f"has shape {counts.shape}, not {shape}")
    elif counts.size and (counts.min() < 0 or counts.max() > LARGEST_COUNT):
        for place in _places((counts < 0) | (counts > LARGEST_COUNT)):
            yield Fault((*path, *place), f"{counts[place]} is not a count from 0 to {LARGEST_COUNT}")


def _total_faults(path: Path, counts: IntArray, records: int) -> Iterator[Fault]:
    if (total := _total(counts)) != records:
        yield Fault(path, _differ("adds up to", total, "there are", records))


def _row_faults(path: Path, table: IntArray, expected: IntArray, says: str) -> Iterator[Fault]:
    rows = table.sum(axis=1)
    for place in _places(rows != expected):
        yield Fault((*path, *place), _differ("adds up to", int(rows[place]), says, int(expected[place])))


def _total(counts: IntArray) -> int:
    """The sum of counts up to 2^53 - 1, also where it is beyond 64 bits."""
    high, low = counts >> 32, counts & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


def _differ(ours: str, here: int, theirs: str, there: int) -> str:
    return f"{ours} {here}, {theirs} {there} ({abs(here - there)} too {'many' if here > there else 'few'})"


def _listing(chosen: BoolArray, most: int = 10) -> str:
    found = np.flatnonzero(chosen)
    return ", ".join(map(str, found[:most])) + (", ..." if found.size > most else "")


def _places(wrong: npt.NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The first places where an array is wrong."""
    if not wrong.any():
        return []
    return [tuple(map(int, place)) for place in np.argwhere(wrong)[:FAULTS_PER_TABLE]]
