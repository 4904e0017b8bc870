"""How far reconstructed joint counts are from the true ones, as more and more masked tables become known."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.reconstruction import Reference, reconstruct

Order = tuple[str, ...]
"""The ids of an attribute's views, in the order in which they become known."""


def total_variation(table: FloatArray | IntArray, truth: FloatArray | IntArray) -> float:
    """Half the sum of |P - Q| over the cells of two tables (values, labels), each over its total: 0 to 1."""
    return float(np.abs(table / table.sum() - truth / truth.sum()).sum() / 2)


def full_table(reference: Reference, histogram: IntArray | None) -> FloatArray:
    """The reference with a row for each value (values, labels); `histogram` (values,) is None in variant II.

    The values of an atom share its records by their histogram where it is known, evenly where it is not.
    """
    atoms = reference.joint.shape[0]
    weight = np.ones(reference.atom_of_value.size) if histogram is None else histogram.astype(np.float64)
    total = np.bincount(reference.atom_of_value, weight, minlength=atoms)[reference.atom_of_value]
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    table: FloatArray = reference.joint[reference.atom_of_value] * share[:, np.newaxis]
    return table


def views(evidence: AttributeEvidence) -> list[Masking]:
    """The masked tables that say something of the attribute: counted, of known mapping, with two masked values or more.

    From the coarsest to the finest, by the masked values that have records.
    """
    found = [masking for masking in evidence.maskings if masking.constrains and masking.flags.occupied > 1]
    return sorted(found, key=lambda view: view.flags.occupied)


def coarse_to_fine(evidence: AttributeEvidence) -> Order:
    """All views, the coarsest first."""
    return tuple(view.id for view in views(evidence))


def random_orders(evidence: AttributeEvidence, number: int, seed: int) -> list[Order]:
    """So many random orders of all views; the same for the same attribute and seed."""
    rng = np.random.default_rng((seed, *evidence.name.encode()))
    ids = np.array(coarse_to_fine(evidence), dtype=np.str_)
    return [tuple(rng.permutation(ids).tolist()) for _ in range(number)]


def told(evidence: AttributeEvidence, known: Sequence[str], *, histogram: bool) -> AttributeEvidence:
    """The evidence of one who knows these views only, and the histogram or not."""
    maskings = tuple(evidence.masking(view) for view in known)
    return replace(evidence, maskings=maskings, histogram=evidence.histogram if histogram else None)


def distances(evidence: AttributeEvidence, truth: IntArray, orders: Sequence[Order], *, histogram: bool) -> FloatArray:
    """(orders, views + 1) the distance to the true counts (values, labels) with the first 0, 1, ... views known.

    With none, value and label are independent: by their histograms, or with equally frequent values in variant II.
    """
    found: dict[frozenset[str], float] = {}

    def distance(known: Order) -> float:
        if (key := frozenset(known)) not in found:
            part = told(evidence, sorted(known), histogram=histogram)
            found[key] = total_variation(full_table(reconstruct(part), part.histogram), truth)
        return found[key]

    return np.array([[distance(order[:size]) for size in range(len(order) + 1)] for order in orders])
