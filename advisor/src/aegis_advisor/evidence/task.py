"""The task of a label: the content of an entry as if it were made with that label alone.

The joint counts of an attribute with another label than the default one are a pair of both, with the label as it is. In
the label's task they are the attribute's joint counts, and the default label is an attribute at the label's place. Its
maskings are those of a label, and pairs of a masking and the masked label are blocks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from aegis_advisor.arrays import IntArray, fold
from aegis_advisor.atoms import coarsening
from aegis_advisor.errors import NoTaskError
from aegis_advisor.evidence.attribute import DROP, IDENTITY
from aegis_advisor.evidence.content import (
    AttributeContent,
    ConfigurationContent,
    EntryContent,
    LabelContent,
    MaskingContent,
    NoiseContent,
    PairContent,
    TableContent,
)
from aegis_advisor.evidence.perturbation import Perturbation

UNMASKED = "unmasked"
"""The id of a masking that changes nothing, for unmasked counts that declare an error."""


@dataclass(frozen=True, slots=True)
class CountedPair:
    """A pair that has, or determines, the counts of a masked attribute with a label.

    Attributes:
        place: its place among the entry's pairs.
        side: the side of the attribute.
        masking: the masking of the attribute that it counts.
    """

    place: int
    side: int
    masking: str


def pairs_with(entry: EntryContent, label: str, shown: str = IDENTITY) -> Mapping[str, Mapping[str, CountedPair]]:
    """The pairs that tell the counts of each masked attribute with a label, by attribute and masking id.

    A masking without a pair of its own takes that of a finer masking, of which it is a function.

    Args:
        entry: the entry, with or without its counts.
        label: the label.
        shown: one of its `label_maskings`, which counts with a finer one tell, too; by default, it is as it is.
    """
    finer = {(label, masking) for masking in (IDENTITY, *_finer(entry, label, shown))}
    known: dict[str, dict[str, CountedPair]] = {}
    for place, pair in enumerate(entry.pairs):
        for side in (0, 1) if pair.joint is not None else ():
            if (pair.attributes[1 - side], pair.maskings[1 - side]) in finer:
                masking = pair.maskings[side]
                known.setdefault(pair.attributes[side], {})[masking] = CountedPair(place, side, masking)
    return {
        attribute.name: _with_coarser(attribute, known[attribute.name])
        for attribute in entry.attributes
        if attribute.name in known
    }


def _finer(entry: EntryContent, label: str, shown: str) -> Iterator[str]:
    """The maskings of a label of which a masking of it is a function; none if that is the identity."""
    if shown == IDENTITY:
        return
    asked = next(one for one in entry.attributes if one.name == label)
    wanted = np.asarray(asked.masking(shown).mapping)
    for masking in label_maskings(asked):
        if coarsening(np.asarray(masking.mapping), wanted, len(masking.domain)) is not None:
            yield masking.id


def _with_coarser(attribute: AttributeContent, known: Mapping[str, CountedPair]) -> Mapping[str, CountedPair]:
    finer = {name: mapping for name in known if (mapping := _mapping(attribute, name)) is not None}
    every = dict(known)
    for masking in attribute.maskings if finer else ():
        mapping = _mapping(attribute, masking.id)
        if mapping is None or masking.id in known:
            continue
        folds = (name for name, one in finer.items() if coarsening(one, mapping, int(one.max()) + 1) is not None)
        if (name := next(folds, None)) is not None:
            every[masking.id] = known[name]
    return every


def lacking(
    entry: EntryContent, label: str, shared: Mapping[str, Collection[str]], shown: str = IDENTITY
) -> Iterator[tuple[str, str]]:
    """Yield the attributes and maskings shared beside a label whose counts with it are not known.

    Args:
        entry: the entry, with or without its counts.
        label: the label.
        shared: by attribute, the maskings in configurations that show the label so.
        shown: one of its `label_maskings`; by default, it is as it is.
    """
    known = pairs_with(entry, label, shown)
    for attribute in entry.attributes:
        for masking in sorted(shared.get(attribute.name, ())) if attribute.name != label else ():
            is_counted = masking == DROP or masking in known.get(attribute.name, {})
            if not is_counted and not _is_constant(attribute, masking):
                yield attribute.name, masking


def about(entry: EntryContent, label: str) -> EntryContent:
    """Return the content of an entry as if made with this label alone.

    Configurations that drop the label are left out, and so are generated ones: their declared utilities are about the
    default label.

    Raises:
        NoTaskError: the entry has no such column, or no counts of it.
    """
    if label == entry.label.name:
        return entry
    place = next((at for at, attribute in enumerate(entry.attributes) if attribute.name == label), None)
    if place is None:
        raise NoTaskError(label)
    asked, known = entry.attributes[place], pairs_with(entry, label)
    new_label = replace(_label(asked), maskings=label_maskings(asked))
    attributes = [
        _counted(entry, attribute, new_label, known.get(attribute.name, {})) for attribute in entry.attributes
    ]
    attributes[place] = _as_attribute(entry.label, asked)
    listed, table = entry.configurations, entry.configuration_table
    return replace(
        entry,
        label=new_label,
        labels=None if entry.labels is None else [label],
        attributes=attributes,
        pairs=[*_other_pairs(entry, label), *_default_pairs(entry, label), *_blocks(entry, new_label, known)],
        joint_trace=entry.joint_traces.get(label),
        joint_traces={},
        holdout=None,
        configurations=None if listed is None else list(_showing(listed, new_label, entry.label.name)),
        configuration_table=None if table is None else _rows_showing(table, new_label, entry.label.name),
    )


def label_maskings(asked: AttributeContent) -> list[MaskingContent]:
    """The maskings of an attribute that can be those of a label: functions of its value with two classes or more."""
    return [
        replace(masking, joint=None, noise=None, rounded_to=None, records=None)
        for masking in asked.maskings
        if masking.mapping is not None and 1 < np.unique(masking.mapping).size == len(masking.domain)
    ]


def whole_counts(attribute: AttributeContent) -> Iterator[MaskingContent]:
    """The maskings that tell all values of an attribute apart, and so stand for it where noise is in all counts."""
    for masking in attribute.maskings:
        if masking.mapping is not None and np.unique(masking.mapping).size == len(attribute.domain):
            yield masking


def _label(asked: AttributeContent) -> LabelContent:
    """An attribute as a label; its counts are the histogram, or sums of its counts with the default label."""
    label = LabelContent(name=asked.name, domain=asked.domain, histogram=asked.histogram, scores=asked.scores)
    if asked.histogram is not None:
        return label
    if asked.joint is not None:
        return replace(label, histogram=np.asarray(asked.joint).sum(axis=1))
    for masking in whole_counts(asked):
        if masking.joint is not None and masking.records is None:
            joint = np.asarray(masking.joint)[np.asarray(masking.mapping)]
            noise, rounded_to = _of_sums(masking.noise, masking.rounded_to, joint.shape[1])
            return replace(label, histogram=np.maximum(joint.sum(axis=1), 0), noise=noise, rounded_to=rounded_to)
    raise NoTaskError(asked.name)


def _as_attribute(default: LabelContent, asked: AttributeContent) -> AttributeContent:
    """The default label as an attribute, counted with another label."""
    whole = [
        replace(
            masking,
            function=None,
            domain=default.domain,
            mapping=np.arange(len(default.domain)),
            joint=np.asarray(masking.joint)[np.asarray(masking.mapping)].T,
        )
        for masking in whole_counts(asked)
        if asked.joint is None and masking.joint is not None
    ]
    joint = None if asked.joint is None else np.ascontiguousarray(np.asarray(asked.joint).T)
    maskings = [_of_default(masking, joint) for masking in default.maskings]
    is_exact = default.noise is None and default.rounded_to is None
    return AttributeContent(
        name=default.name,
        type="string",
        domain=default.domain,
        histogram=default.histogram if is_exact else None,
        joint=joint,
        maskings=[*maskings, *whole[:1]],
        scores=default.scores,
    )


def _of_default(masking: MaskingContent, joint: IntArray | None) -> MaskingContent:
    """A masking of the default label as one of an attribute, with sums of its counts (values, labels)."""
    classes = np.asarray(masking.mapping)
    return masking if joint is None else replace(masking, joint=fold(joint, classes, len(masking.domain)))


def _counted(
    entry: EntryContent, attribute: AttributeContent, label: LabelContent, known: Mapping[str, CountedPair]
) -> AttributeContent:
    """An attribute with its counts with a label in place of those with the default one."""
    maskings = [_masking(entry, attribute, one, label, known) for one in attribute.maskings]
    joint = None
    if IDENTITY in known:
        unmasked = _tables(entry, attribute, IDENTITY, known[IDENTITY])
        if unmasked.noise is None and unmasked.rounded_to is None:
            joint = unmasked.joint
        elif not any(whole_counts(attribute)):  # inexact counts stand for a masking that changes nothing
            maskings.append(unmasked)
    return replace(attribute, joint=joint, maskings=maskings)


def _masking(
    entry: EntryContent,
    attribute: AttributeContent,
    masking: MaskingContent,
    label: LabelContent,
    known: Mapping[str, CountedPair],
) -> MaskingContent:
    if masking.id in known:
        return _tables(entry, attribute, masking.id, known[masking.id])
    joint = None
    if _is_constant(attribute, masking.id):  # all records have this one
        joint = np.zeros((len(masking.domain), len(label.domain)), dtype=np.int64)
        joint[np.asarray(masking.mapping)[0] if masking.mapping is not None else 0] = label.histogram
    told = (None, None) if joint is None else (label.noise, label.rounded_to)
    return replace(masking, joint=joint, noise=told[0], rounded_to=told[1], records=None)


def _tables(entry: EntryContent, attribute: AttributeContent, masking: str, known: CountedPair) -> MaskingContent:
    """The counts of a masking, or of `identity`, with the label of a pair: as given, or folded."""
    pair = entry.pairs[known.place]
    counts = _divided(entry, pair) if pair.counted_with is not None else np.asarray(pair.joint, dtype=np.int64)
    joint, added = counts if known.side == 0 else counts.T, 1
    wanted = next((one for one in attribute.maskings if one.id == masking), None)
    if known.masking != masking and wanted is not None:
        finer, mapping = _mapping(attribute, known.masking), _mapping(attribute, masking)
        outer = None if finer is None or mapping is None else coarsening(finer, mapping, len(joint))
        if outer is not None:
            joint, added = fold(np.ascontiguousarray(joint), outer, len(wanted.domain)), int(np.bincount(outer).max())
    base = None if pair.rounded_to is None else pair.rounded_to * (pair.within or 1)
    noise, rounded_to = _of_sums(pair.noise, base, added)
    if wanted is None:
        whole = np.arange(len(attribute.domain))
        wanted = MaskingContent(id=UNMASKED, domain=attribute.domain, mapping=whole)
    return replace(wanted, joint=joint, noise=noise, rounded_to=rounded_to, records=None)


def _divided(entry: EntryContent, pair: PairContent) -> IntArray:
    """The counts of a pair, those of values that are counted together divided by their numbers of records."""
    shares = []
    for name, masking, places in zip(pair.attributes, pair.maskings, pair.counted_with, strict=True):
        records = _records(next(one for one in entry.attributes if one.name == name), masking, len(places))
        shares.append(records / np.bincount(places, records, len(places))[np.asarray(places)])
    counts = np.asarray(pair.joint)[np.ix_(*map(np.asarray, pair.counted_with))]
    divided: IntArray = np.rint(counts * shares[0][:, np.newaxis] * shares[1]).astype(np.int64)
    return divided


def _records(attribute: AttributeContent, masking: str, values: int) -> IntArray:
    """The published records (values,) of each masked value, plus 1 so that no share is 0 / 0; 1 each without any."""
    counts: IntArray | None = None
    if masking != IDENTITY and (joint := attribute.masking(masking).joint) is not None:
        counts = np.asarray(joint).sum(axis=1)
    elif masking == IDENTITY and attribute.histogram is not None:
        counts = np.asarray(attribute.histogram)
    return np.ones(values, dtype=np.int64) if counts is None else np.maximum(counts, 0) + 1


def _of_sums(noise: NoiseContent | None, base: int | None, terms: int) -> tuple[NoiseContent | None, int | None]:
    """The noise and the rounding base of sums of counts (`Perturbation.of_sums`)."""
    declared = Perturbation(None if noise is None else noise.scale, base).of_sums(terms)
    scale = declared.noise_scale
    return None if scale is None else NoiseContent(scale), declared.rounded_to


def _other_pairs(entry: EntryContent, label: str) -> Iterator[PairContent]:
    """The pairs of attributes besides the label, with its associations."""
    for pair in entry.pairs:
        told = pair.with_labels.get(label)
        if label not in pair.attributes and (pair.joint is not None or told is not None):
            yield replace(pair, with_label=told, with_labels={})


def _blocks(
    entry: EntryContent, label: LabelContent, known: Mapping[str, Mapping[str, CountedPair]]
) -> Iterator[PairContent]:
    """The pairs of a masking and the masked label, unless the counts of the masking with the label are known."""
    shown = {(label.name, masking.id) for masking in label.maskings}
    functions = {
        (attribute.name, masking)
        for attribute in entry.attributes
        for masking in (IDENTITY, *(one.id for one in attribute.maskings if one.mapping is not None))
        if masking not in known.get(attribute.name, {})
    }
    for pair in entry.pairs:
        both = set(zip(pair.attributes, pair.maskings, strict=True))
        if pair.joint is not None and pair.counted_with is None and both & shown and both - shown <= functions:
            base = None if pair.rounded_to is None else pair.rounded_to * (pair.within or 1)
            yield replace(pair, rounded_to=base, within=None, with_label=None, with_labels={})


def _default_pairs(entry: EntryContent, label: str) -> Iterator[PairContent]:
    """The pairs of attributes with the default label, which are their joint counts."""
    told = {}
    for pair in entry.pairs:
        if label in pair.attributes and label in pair.with_labels:
            side = 1 - list(pair.attributes).index(label)
            told[pair.attributes[side], pair.maskings[side]] = pair.with_labels[label]
    for attribute in entry.attributes:
        if attribute.name == label:
            continue
        unmasked = MaskingContent(id=IDENTITY, domain=attribute.domain, joint=attribute.joint)
        for masking in (unmasked, *attribute.maskings):
            association = told.get((attribute.name, masking.id))
            joint = masking.joint if masking.records is None else None
            if joint is not None or association is not None:
                yield PairContent(
                    attributes=(attribute.name, entry.label.name),
                    maskings=(masking.id, IDENTITY),
                    noise=masking.noise,
                    rounded_to=masking.rounded_to,
                    joint=joint,
                    with_label=association,
                )


def _showing(
    listed: Iterable[ConfigurationContent], label: LabelContent, default: str
) -> Iterator[ConfigurationContent]:
    shown = {IDENTITY, *(masking.id for masking in label.maskings)}
    for each in listed:
        if each.maskings.get(label.name) in shown:
            yield replace(each, maskings={default: IDENTITY, **each.maskings}, transfer=None)


def _rows_showing(table: TableContent, label: LabelContent, default: str) -> TableContent:
    names = {IDENTITY, *(masking.id for masking in label.maskings)}
    shown = [masking in names for masking in table.maskings[label.name]]
    ids = list(compress(table.ids, shown))
    columns = {name: list(compress(column, shown)) for name, column in table.maskings.items()}
    privacy = {name: list(compress(column, shown)) for name, column in (table.privacy or {}).items()}
    return replace(table, ids=ids, maskings={default: [IDENTITY] * len(ids)} | columns, privacy=privacy)


def _mapping(attribute: AttributeContent, masking: str) -> IntArray | None:
    """The mapping (values,) of a masking or the identity; None if it is not known."""
    if masking == IDENTITY:
        return np.arange(len(attribute.domain))
    mapping: Sequence[int] | None = attribute.masking(masking).mapping
    return None if mapping is None else np.asarray(mapping, dtype=np.int64)


def _is_constant(attribute: AttributeContent, masking: str) -> bool:
    """Whether all records have the same masked value."""
    if masking == IDENTITY:
        return len(attribute.domain) == 1
    one = attribute.masking(masking)
    return len(one.domain) == 1 or (one.mapping is not None and np.unique(one.mapping).size == 1)
