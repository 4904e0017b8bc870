"""The conversion of an entry's content into evidence, for stored entries and others."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.attribute import AttributeEvidence, Masking
from aegis_advisor.evidence.content import Counts, EntryContent, MaskingContent, NoiseContent, PairContent
from aegis_advisor.evidence.pair import PairAssociation, PairCounts
from aegis_advisor.evidence.perturbation import Perturbation


def evidence_of(entry: EntryContent, places: Iterable[int] | None = None) -> tuple[AttributeEvidence, ...]:
    """Return the evidence on the attributes at `places` (all by default) of a validated entry, in that order."""
    label, control = entry.label, entry.disclosure_control
    label_histogram = np.asarray(label.histogram, dtype=np.int64)
    about_label = Perturbation(_scale(label.noise), label.rounded_to)
    # `records` means nothing if a masking counts all records. If their number is uncertain, it stays.
    records = int(label_histogram.sum()) if about_label.is_none else None
    chosen = entry.attributes if places is None else [entry.attributes[place] for place in places]
    return tuple(
        AttributeEvidence(
            name=attribute.name,
            values=len(attribute.domain),
            label_histogram=label_histogram,
            histogram=_counts(attribute.histogram),
            joint=_counts(attribute.joint),
            maskings=tuple(_masking(masking, records) for masking in attribute.maskings),
            label_perturbation=about_label,
            rounded_once=None if control is None else control.rounded_once,
        )
        for attribute in chosen
    )


def pairs_of(entry: EntryContent, places: Sequence[int] | None = None) -> dict[int, PairCounts]:
    """Return the pair counts of an entry by their places in it; with `places`, those of attributes at these places.

    Their attributes are positions in `places`, as in the evidence.
    """
    return {
        place: pair_counts(pair, attributes)
        for place, attributes, pair in _placed(entry, places)
        if pair.joint is not None
    }


def associations_of(entry: EntryContent, places: Sequence[int] | None = None) -> dict[int, PairAssociation]:
    """Return the associations of pairs with the label, with places and attributes as in `pairs_of`."""
    return {
        place: PairAssociation(
            attributes,
            (pair.maskings[0], pair.maskings[1]),
            float(known.chi_square),
            known.combinations,
            known.rounded_to,
            known.digits,
            _scale(known.noise),
        )
        for place, attributes, pair in _placed(entry, places)
        if (known := pair.with_label) is not None
    }


def _placed(entry: EntryContent, places: Sequence[int] | None) -> Iterator[tuple[int, tuple[int, int], PairContent]]:
    """Yield each pair of chosen attributes: its place, and the positions of its attributes among these."""
    chosen = range(len(entry.attributes)) if places is None else places
    position = {entry.attributes[place].name: index for index, place in enumerate(chosen)}
    for place, pair in enumerate(entry.pairs):
        first, second = pair.attributes
        if first in position and second in position:
            yield place, (position[first], position[second]), pair


def pair_counts(pair: PairContent, attributes: tuple[int, int]) -> PairCounts:
    """Return the counts of a pair with counts, given the positions of its attributes in the evidence."""
    known = pair.counted_with
    counted_with = None if known is None else (np.asarray(known[0], np.int64), np.asarray(known[1], np.int64))
    declared = Perturbation(_scale(pair.noise), pair.rounded_to, within=pair.within)
    joint = np.asarray(pair.joint, dtype=np.int64)
    return PairCounts(attributes, (pair.maskings[0], pair.maskings[1]), joint, declared, counted_with)


def _masking(masking: MaskingContent, records: int | None) -> Masking:
    counted = None if masking.records == records else masking.records
    return Masking(
        id=masking.id,
        groups=len(masking.domain),
        mapping=_counts(masking.mapping),
        joint=_counts(masking.joint),
        # It is a function of the value if its mapping is known, or if the provider declares it.
        deterministic=masking.mapping is not None or bool(masking.deterministic),
        perturbation=Perturbation(_scale(masking.noise), masking.rounded_to, counted),
        transition=None if masking.transition is None else np.asarray(masking.transition, dtype=np.float64),
    )


def _scale(noise: NoiseContent | None) -> float | None:
    return None if noise is None else float(noise.scale)


def _counts(published: Counts) -> IntArray | None:
    return None if published is None else np.asarray(published, dtype=np.int64)
