"""The tables of an entry, each by itself: how many cells, how small they are, and where."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.disclosure.model import Cell, Declared, Kind, PublishedTable
from aegis_sdk.wire import IDENTITY, Attribute, EntryDocument, Label, Masking, Noise, PairCounts

Place: TypeAlias = Callable[..., tuple[str, ...]]
"""In words, where the cell with these indices is."""

_NOTHING = Declared()


def label_table(label: Label, below: int) -> PublishedTable:
    """The label's histogram."""
    declared = _declared(label.noise, label.rounded_to)
    return _table("label", "", label.histogram, lambda place: (label.domain[place],), declared, below)


def attribute_tables(attribute: Attribute, labels: list[str], below: int) -> Iterator[PublishedTable]:
    """The tables of an attribute in the order of the entry: histogram, unmasked joint counts, those of its maskings."""
    domain = attribute.domain
    if attribute.histogram is not None:
        yield _table("histogram", "", attribute.histogram, lambda place: (domain[place],), _NOTHING, below)
    if attribute.joint is not None:
        yield _table("joint", "", attribute.joint, _places(domain, labels), _NOTHING, below)
    for each in attribute.maskings:
        if each.joint is not None:
            yield _table("masking", each.id, each.joint, _places(each.domain, labels), _of_masking(each), below)


def pair_tables(entry: EntryDocument, chosen: Collection[str], below: int) -> Iterator[PublishedTable]:
    """The pair counts of the entry that are of one of these attributes."""
    domains = {
        attribute.name: {IDENTITY: attribute.domain, **{each.id: each.domain for each in attribute.maskings}}
        for attribute in entry.attributes
    }
    for pair in entry.pairs:
        if not set(pair.attributes) & set(chosen):
            continue
        masked = list(zip(pair.attributes, pair.maskings, strict=True))
        places = _places(*(domains[attribute][masking] for attribute, masking in masked))
        yield _table("pairs", _name(pair), pair.joint, places, _NOTHING, below)


def _name(pair: PairCounts) -> str:
    return " x ".join(
        f"{attribute}: {masking}" for attribute, masking in zip(pair.attributes, pair.maskings, strict=True)
    )


def _places(rows: list[str], columns: list[str]) -> Place:
    return lambda row, column: (rows[row], columns[column])


def _of_masking(masking: Masking) -> Declared:
    drawn = masking.transition is not None
    return replace(_declared(masking.noise, masking.rounded_to), records=masking.records, drawn=drawn)


def _declared(noise: Noise | None, rounded_to: int | None) -> Declared:
    if noise is None:
        return Declared(rounded_to=rounded_to)
    return Declared(noise.scale, noise.epsilon, rounded_to)


def _table(
    kind: Kind, name: str, published: list[int] | list[list[int]], place: Place, declared: Declared, below: int
) -> PublishedTable:
    counts = np.asarray(published, dtype=np.int64)
    return PublishedTable(
        kind=kind,
        name=name,
        declared=declared,
        records=int(counts.sum()),
        cells=counts.size,
        occupied=int(np.count_nonzero(counts > 0)),
        smallest=smallest_cell(counts, counts > 0, place),
        below=int(np.count_nonzero((counts > 0) & (counts < below))),
    )


def smallest_cell(counts: NDArray[np.int64], chosen: NDArray[np.bool_], place: Place) -> Cell | None:
    """The first of the smallest counts that are chosen, arrays of one shape; `None` if none is."""
    if not chosen.any():
        return None
    least = counts[chosen].min()
    found = tuple(map(int, np.argwhere(chosen & (counts == least))[0]))
    return Cell(int(least), place(*found))
