"""What all tables of an attribute say together: bounds of every cell, and which cells follow exactly."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from aegis_advisor.arrays import BoolArray
from aegis_advisor.atoms import per_atom
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.evidence import AttributeEvidence
from aegis_provider.disclosure.model import Cell, Together
from aegis_provider.disclosure.published import smallest_cell
from aegis_sdk.reading import some
from aegis_sdk.wire import Attribute

KS = (0, 1, 2, 5, 10)
"""How far off, in records, cells may be known that are counted in any case."""

_VALUES = 3
_RUN = 3


def together_of(
    attribute: Attribute,
    labels: Sequence[str],
    evidence: AttributeEvidence,
    bounds: CellBounds,
    *,
    below: int,
    within: int,
) -> Together:
    """What the bounds of its cells (atoms, labels) say of an attribute."""
    lower, upper = bounds.lower, bounds.upper
    exact = lower == upper
    counted = exact & (lower > 0)
    shown = _in_a_table(evidence, bounds)
    derived = counted & ~shown
    place = partial(_place, attribute, labels, bounds)
    alike = _alike(bounds)
    return Together(
        atoms=lower.shape[0],
        cells=lower.size,
        exact=int(np.count_nonzero(exact)),
        empty=int(np.count_nonzero(upper == 0)),
        in_tables=int(np.count_nonzero(counted & shown)),
        smallest=smallest_cell(lower, counted, place),
        below=int(np.count_nonzero(counted & (lower < below))),
        derived=smallest_cell(lower, derived, place),
        derived_below=int(np.count_nonzero(derived & (lower < below))),
        within={k: int(np.count_nonzero(upper - lower <= 2 * k)) for k in sorted({*KS, within})},
        alike=int(np.count_nonzero(alike.any(axis=1))),
        largest=_largest(bounds, alike, place),
        method=bounds.method,
        programs=bounds.programs,
        complete=bounds.complete,
    )


def _in_a_table(evidence: AttributeEvidence, bounds: CellBounds) -> BoolArray:
    """Which cells (atoms, labels) stand in a table as they are: those of a masked value that one atom alone has."""
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


def _alike(bounds: CellBounds) -> BoolArray:
    """Of atoms that have records for certain, all of one label value, the cell (atoms, labels) that these are in."""
    possible = bounds.upper > 0
    alone = np.count_nonzero(possible, axis=1) == 1
    found: BoolArray = possible & alone[:, np.newaxis] & (bounds.lower > 0)
    return found


def _largest(bounds: CellBounds, alike: BoolArray, place: Callable[..., tuple[str, ...]]) -> Cell | None:
    if not alike.any():
        return None
    most = np.where(alike, bounds.lower, -1)
    atom, label = (int(index) for index in np.unravel_index(np.argmax(most), most.shape))
    return Cell(int(bounds.lower[atom, label]), place(atom, label))


def _place(attribute: Attribute, labels: Sequence[str], bounds: CellBounds, atom: int, label: int) -> tuple[str, str]:
    """The values of an atom, in words, and the label value."""
    members = np.flatnonzero(bounds.atom_of_value == atom)
    domain, value = attribute.domain, labels[label]
    ordered = attribute.type != "string" or attribute.discretization is not None
    told = bool(domain[members[0]] and domain[members[-1]])  # a missing value has no place in the order
    consecutive = told and int(members[-1]) - int(members[0]) + 1 == members.size
    if members.size == 1:
        return domain[members[0]], value
    if ordered and consecutive and members.size >= _RUN:
        return f"{domain[members[0]]} to {domain[members[-1]]}", value
    return some([domain[member] for member in members], _VALUES), value
