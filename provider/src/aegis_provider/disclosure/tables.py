"""The tables of an entry: their cells and small counts, and the limits by all tables of an attribute together."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aegis_advisor.arrays import BoolArray
from aegis_advisor.atoms import per_atom
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.evidence import AttributeEvidence
from aegis_provider.disclosure.model import Cell, Declared, Kind, LinkedTables, PublishedTable
from aegis_sdk.reading import some
from aegis_sdk.wire import IDENTITY, Attribute, EntryDocument, Label, Masking, Pair

Place: TypeAlias = Callable[..., tuple[str, ...]]
"""Names the place of the cell with these indices."""

KS = (0, 1, 2, 5, 10)
"""Cells known to within each of these numbers of records are always counted."""

_NOTHING = Declared()
_VALUES = 3
_RUN = 3


def rounding_of(entry: EntryDocument) -> Declared:
    """Return the declaration of an entry for all its tables without one of their own."""
    control = entry.disclosure_control
    return _NOTHING if control is None or control.rounding is None else Declared(rounded_to=control.rounded_to)


def label_table(label: Label, below: int, rounding: Declared = _NOTHING) -> PublishedTable:
    """Describe the label's histogram."""
    declared = _declared(label, rounding)
    return _table("label", "", label.histogram, lambda place: (label.domain[place],), declared, below)


def attribute_tables(
    attribute: Attribute, labels: list[str], below: int, rounding: Declared = _NOTHING
) -> Iterator[PublishedTable]:
    """Yield an attribute's tables in the entry's order: histogram, unmasked joint counts, those of its maskings."""
    domain = attribute.domain
    if attribute.histogram is not None:
        yield _table("histogram", "", attribute.histogram, lambda place: (domain[place],), rounding, below)
    if attribute.joint is not None:
        yield _table("joint", "", attribute.joint, _places(domain, labels), rounding, below)
    for masking in attribute.maskings:
        if masking.joint is not None:
            places = _places(masking.domain, labels)
            yield _table("masking", masking.id, masking.joint, places, _declared(masking, rounding), below)


def tables_with(entry: EntryDocument, attribute: Attribute, label: str, below: int) -> Iterator[PublishedTable]:
    """Yield the tables of an attribute's counts with a label other than the default one, in the entry's order."""
    for pair in entry.pairs:
        side = _beside_label(entry, pair)
        if pair.joint is None or side is None:
            continue
        if (pair.attributes[side], pair.attributes[1 - side]) != (attribute.name, label):
            continue
        masking, domains = pair.maskings[side], _domains(entry)
        places = _places(domains[attribute.name][masking], domains[label][IDENTITY])
        counts = np.asarray(pair.joint) if side == 0 else np.transpose(pair.joint)
        kind: Kind = "joint" if masking == IDENTITY else "masking"
        declared = _declared(pair, rounding_of(entry))
        yield _table(kind, "" if kind == "joint" else masking, counts, places, declared, below)


def pair_tables(entry: EntryDocument, chosen: Collection[str], below: int) -> Iterator[PublishedTable]:
    """Yield the pair counts of the entry that involve one of these attributes, but not those with a label."""
    domains = _domains(entry)
    for pair in entry.pairs:
        if pair.joint is None or not set(pair.attributes) & set(chosen) or _beside_label(entry, pair) is not None:
            continue
        masked = list(zip(pair.attributes, pair.maskings, strict=True))
        places = _places(*(domains[attribute][masking] for attribute, masking in masked))
        yield _table("pairs", " x ".join(map(": ".join, masked)), pair.joint, places, _declared(pair), below)


def _beside_label(entry: EntryDocument, pair: Pair) -> int | None:
    """Return the side beside a label other than the default one, which is as it is; `None` without such a label."""
    others = (entry.labels or ())[1:]
    sides = zip(pair.attributes, pair.maskings, strict=True)
    with_label = [name in others and masking == IDENTITY for name, masking in sides]
    return 1 - with_label.index(True) if any(with_label) else None


def _domains(entry: EntryDocument) -> dict[str, dict[str, list[str]]]:
    """Return the masked values of each column, by its maskings."""
    domains = {
        attribute.name: {IDENTITY: attribute.domain, **{each.id: each.domain for each in attribute.maskings}}
        for attribute in entry.attributes
    }
    return domains | {entry.label.name: {each.id: each.domain for each in entry.label.maskings}}


def _places(rows: list[str], columns: list[str]) -> Place:
    return lambda row, column: (rows[row], columns[column])


def _declared(table: Label | Masking | Pair, rounding: Declared = _NOTHING) -> Declared:
    """Return the declaration of a table, or `rounding`, that for all tables, if it has none."""
    declared = Declared(rounded_to=table.rounded_to)
    if table.noise is not None:
        declared = replace(declared, noise=table.noise.scale, epsilon=table.noise.epsilon)
    if isinstance(table, Masking):
        declared = replace(declared, records=table.records, drawn=table.transition is not None)
    return rounding if declared == _NOTHING else declared


def _table(kind: Kind, name: str, published: ArrayLike, place: Place, declared: Declared, below: int) -> PublishedTable:
    counts = np.asarray(published, dtype=np.int64)
    return PublishedTable(
        kind=kind,
        name=name,
        declared=declared,
        records=int(counts.sum()),
        cells=counts.size,
        occupied=int(np.count_nonzero(counts > 0)),
        smallest=_smallest_cell(counts, counts > 0, place),
        below=int(np.count_nonzero((counts > 0) & (counts < below))),
    )


def linked_tables(
    attribute: Attribute,
    labels: Sequence[str],
    evidence: AttributeEvidence,
    bounds: CellBounds,
    *,
    below: int,
    within: int,
) -> LinkedTables:
    """Return the limits of an attribute's cells by all its tables together.

    Args:
        bounds: (atoms, labels) the bounds of each cell by all tables together.
        below: Counts above 0 and smaller than this are small.
        within: Cells known to within this many records are counted too.
    """
    lower, upper = bounds.lower, bounds.upper
    exact = lower == upper
    counted = exact & (lower > 0)
    in_tables = _in_a_table(evidence, bounds)
    derived = counted & ~in_tables
    place = partial(_place, attribute, labels, bounds)
    possible = upper > 0
    single = np.count_nonzero(possible, axis=1) == 1
    alike = possible & single[:, np.newaxis] & (lower > 0)  # certainly all records of an atom, if it has any
    return LinkedTables(
        atoms=lower.shape[0],
        cells=lower.size,
        exact=int(np.count_nonzero(exact)),
        empty=int(np.count_nonzero(upper == 0)),
        by_whole_numbers=int(np.count_nonzero(bounds.by_whole_numbers)),
        smallest_by_whole_numbers=_smallest_cell(lower, bounds.by_whole_numbers, place),
        undecided=int(np.count_nonzero(bounds.undecided)),
        in_tables=int(np.count_nonzero(counted & in_tables)),
        smallest=_smallest_cell(lower, counted, place),
        below=int(np.count_nonzero(counted & (lower < below))),
        derived=_smallest_cell(lower, derived, place),
        derived_below=int(np.count_nonzero(derived & (lower < below))),
        within={k: int(np.count_nonzero(upper - lower <= 2 * k)) for k in sorted({*KS, within})},
        alike=int(np.count_nonzero(alike.any(axis=1))),
        largest=_cell(lower, alike & (lower == lower[alike].max(initial=0)), place),
        method=bounds.method,
        programs=bounds.programs,
        complete=bounds.complete,
    )


def _in_a_table(evidence: AttributeEvidence, bounds: CellBounds) -> BoolArray:
    """Return the cells (atoms, labels) that a table shows directly: those of a masked value with a single atom."""
    atoms = bounds.upper.shape[0]
    if evidence.joint is not None:
        return np.ones(bounds.upper.shape, dtype=bool)
    held = bounds.upper.any(axis=1)
    shown = np.zeros(atoms, dtype=bool)
    for masking in evidence.maskings:
        if masking.constrains and masking.mapping is not None:
            group_of = per_atom(masking.mapping, bounds.atom_of_value, atoms)
            shown |= np.bincount(group_of, held, masking.groups)[group_of] == 1
    return np.repeat(shown[:, np.newaxis], bounds.upper.shape[1], axis=1)


def _place(attribute: Attribute, labels: Sequence[str], bounds: CellBounds, atom: int, label: int) -> tuple[str, str]:
    """Return the values of an atom, in words, and the label value."""
    members = np.flatnonzero(bounds.atom_of_value == atom)
    domain, value = attribute.domain, labels[label]
    ordered = attribute.type != "string" or attribute.discretization is not None
    present = bool(domain[members[0]] and domain[members[-1]])  # a missing value is not part of the order
    consecutive = present and int(members[-1]) - int(members[0]) + 1 == members.size
    if members.size == 1:
        return domain[members[0]], value
    if ordered and consecutive and members.size >= _RUN:
        return f"{domain[members[0]]} to {domain[members[-1]]}", value
    return some([domain[member] for member in members], _VALUES), value


def _smallest_cell(counts: NDArray[np.int64], chosen: NDArray[np.bool_], place: Place) -> Cell | None:
    """Return the first of the smallest chosen counts, from arrays of one shape; `None` if none is chosen."""
    return _cell(counts, chosen & (counts == counts[chosen].min()), place) if chosen.any() else None


def _cell(counts: NDArray[np.int64], chosen: NDArray[np.bool_], place: Place) -> Cell | None:
    """Return the first chosen count, from arrays of one shape; `None` if none is chosen."""
    if not chosen.any():
        return None
    indices = tuple(map(int, np.argwhere(chosen)[0]))
    return Cell(int(counts[indices]), place(*indices))
