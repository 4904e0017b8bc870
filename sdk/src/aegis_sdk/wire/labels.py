"""Several labels of an entry: their names, and whether what is published about each is complete."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Final

from aegis_sdk.wire.attribute import DROP, IDENTITY, Attribute, Label
from aegis_sdk.wire.configuration import Configuration, ConfigurationTable, stricter
from aegis_sdk.wire.documents import Fault, Location, within
from aegis_sdk.wire.pairs import Pair
from aegis_sdk.wire.values import repeats

LABELS: Final = 20
"""The most labels of an entry."""


def names_faults(labels: Sequence[str], default: str, attributes: Collection[str]) -> Iterator[Fault]:
    """The faults of a list of labels: the default one comes first, and each other one is an attribute."""
    if not 1 < len(labels) <= LABELS:
        yield (), f"Has {len(labels)} items; give 2 to {LABELS}, or leave it out for one label"
        return
    yield from repeats(list(labels))
    if labels[0] != default:
        yield (0,), f"The first is the default label, {default!r}"
    unknown = (index for index, name in enumerate(labels) if index and name not in {default, *attributes})
    yield from (((index,), "The entry has no such attribute") for index in unknown)


def by_label_faults(
    labels: Sequence[str], pairs: Sequence[Pair], traces: Collection[str], listed: Sequence[Configuration]
) -> Iterator[Fault]:
    """The faults of members by label: names of other columns and dropped labels, and promises that a label breaks."""
    named: list[tuple[Location, Collection[str], Sequence[str]]] = [(("joint_traces",), traces, labels[1:])]
    associated = ((index, pair.with_labels) for index, pair in enumerate(pairs) if pair.with_labels)
    named += [(("pairs", index, "with_labels"), names, labels[1:]) for index, names in associated]
    for index, configuration in enumerate(listed):
        at: Location = ("configurations", index, "privacy_by_label")
        if configuration.privacy_by_label:
            shared = [name for name in labels if configuration.maskings.get(name) != DROP]
            named.append((at, configuration.privacy_by_label, shared))
            yield from within(at, _beyond_a_label(configuration))
    for location, names, known in named:
        detail = (
            f"Give a label that it shows: {', '.join(known)}" if known else "The entry has no other labels (`labels`)"
        )
        yield from (((*location, name), detail) for name in names if name not in known)


def _beyond_a_label(configuration: Configuration) -> Iterator[Fault]:
    """The faults of numbers by label that are worse than what the configuration promises over all labels."""
    for name, privacy in configuration.privacy_by_label.items():
        for criterion, promised in (configuration.privacy or {}).items():
            kept = privacy.get(criterion, promised)
            if kept != promised == stricter(criterion, promised, kept):
                yield (name, criterion), f"Is worse than `privacy`, {promised:g}, which is the worst over the labels"


def members_of_labels(
    labels: Sequence[str] | None,
    label: Label,
    attributes: Sequence[Attribute],
    pairs: Sequence[Pair],
    traces: Collection[str],
) -> Iterator[Location]:
    """The places of members, outside configurations, that only entries about several or masked labels have."""
    if labels is not None:
        yield ("labels",)
    else:
        yield from ([("joint_traces",)] if traces else [])
        yield from (("pairs", place, "with_labels") for place, pair in enumerate(pairs) if pair.with_labels)
    for member, given in (("scores", label.scores), ("maskings", label.maskings)):
        if given:
            yield ("label", member)
    yield from (("attributes", place, "scores") for place, one in enumerate(attributes) if one.scores is not None)


def label_counts_faults(
    labels: Sequence[str],
    attributes: Sequence[Attribute],
    pairs: Sequence[Pair],
    listed: Sequence[Configuration],
    table: ConfigurationTable | None,
) -> Iterator[Fault]:
    """The faults of labels that all configurations drop, and of labels without joint counts with a shared masking."""
    known = {attribute.name: attribute for attribute in attributes}
    counted = _counted(pairs) if labels else {}
    for index, label in enumerate(labels[1:], start=1):
        if _used(None, listed, table).get(label) == {DROP}:
            yield ("labels", index), "Every configuration drops it"
        used = _used(label, listed, table)
        if used and not _shows_all(known[label]):
            yield ("labels", index), f"Has no joint counts with {labels[0]!r}: give the `joint` of its attribute"
        for name in sorted(known.keys() & used.keys() - {label}):
            lacking = used[name] - {DROP} - _following(known[name], counted.get((name, label), set()))
            for masking in sorted(lacking):
                yield ("pairs",), f"Has no joint counts of {name!r} ({masking}) with the label {label!r}"


def _counted(pairs: Sequence[Pair]) -> Mapping[tuple[str, str], set[str]]:
    """The maskings of an attribute that are counted with another attribute as it is, by both names."""
    counted: dict[tuple[str, str], set[str]] = {}
    for pair in pairs:
        for side in (0, 1) if pair.joint is not None else ():
            if pair.maskings[1 - side] == IDENTITY:
                names = pair.attributes[side], pair.attributes[1 - side]
                counted.setdefault(names, set()).add(pair.maskings[side])
    return counted


def _used(
    label: str | None, listed: Sequence[Configuration], table: ConfigurationTable | None
) -> Mapping[str, set[str]]:
    """The maskings by attribute in the configurations that show this label as it is; with None, in all."""
    used: dict[str, set[str]] = {}
    for maskings in (each.maskings for each in listed if label is None or each.maskings.get(label) == IDENTITY):
        for name, masking in maskings.items():
            used.setdefault(name, set()).add(masking)
    if table is not None:
        shown = None if label is None else [masking == IDENTITY for masking in table.maskings.get(label, ())]
        for name, column in table.maskings.items():
            chosen = set(column) if shown is None or all(shown) else set(compress(column, shown))
            if chosen:
                used.setdefault(name, set()).update(chosen)
    return used


def _shows_all(label: Attribute) -> bool:
    """Whether the counts of all values of a label with the default label are given."""
    counted = {one.id for one in label.maskings if one.joint is not None}
    return label.joint is not None or IDENTITY in _following(label, counted)  # the service's counts are arrays


def _following(attribute: Attribute, counted: set[str]) -> set[str]:
    """The maskings whose counts are among these, or follow from them: as functions of a finer one, or of nothing."""
    places = [0] * len(attribute.domain), list(range(len(attribute.domain)))
    mappings = {one.id: list(one.mapping) for one in attribute.maskings if one.mapping is not None}
    mappings[IDENTITY] = places[1]
    finer = [places[0], *(mappings[name] for name in counted & mappings.keys())]
    following = {name for name, mapping in mappings.items() if any(_follows(mapping, one) for one in finer)}
    return counted | following | {one.id for one in attribute.maskings if len(one.domain) == 1}


def _follows(mapping: Sequence[int], finer: Sequence[int]) -> bool:
    """Whether a mapping is a function of another one."""
    return len(set(zip(finer, mapping, strict=False))) == len(set(finer))
