"""The verdict on counts with other labels than the default one, which pairs hold.

Where they were rounded once, they declare no error. A reader knows of each label what its task tells: so each is judged
as the counts of an entry with this label alone, besides those of the default one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import compress
from typing import TypeVar

from aegis_advisor.evidence import IDENTITY, EntryContent, blocks_of, evidence_of, with_label_masked
from aegis_advisor.evidence.task import pairs_with
from aegis_advisor.verdict.model import LabelCounts, Path, PublishedCounts, Releases

_Pair = TypeVar("_Pair")


def label_counts(entry: EntryContent) -> tuple[LabelCounts, ...]:
    """Return the counts of each other label of an entry whose counts were rounded once; others are judged as pairs.

    Pairs of other attributes are left out: the counts of the default label are judged with them. Counts with a masked
    label are those of an entry with that label, to which all finer counts fold.
    """
    masked = (_counts_of_masked(entry, masking.id) for masking in entry.label.maskings)
    return *(_counts_of(entry, label) for label in _rounded_labels(entry)), *(one for one in masked if one is not None)


def _counts_of_masked(entry: EntryContent, masking: str) -> LabelCounts | None:
    """The counts with a masked label of the attributes that have some of their own; None if none has."""
    own: dict[str, dict[str, int]] = {}
    for place, (name, _) in blocks_of(entry).items():
        chosen = dict(zip(entry.pairs[place].attributes, entry.pairs[place].maskings, strict=True))
        if chosen[entry.label.name] == masking:
            own.setdefault(name, {})[chosen[name]] = place
    class_of = entry.label.class_of(masking)
    if not own or class_of is None:
        return None
    at = [place for place, attribute in enumerate(entry.attributes) if attribute.name in own]
    evidence = [with_label_masked(one, class_of) for one in evidence_of(entry, at)]
    places: dict[Path, Path] = {}
    for index, place in enumerate(at):
        attribute = entry.attributes[place]
        places["attributes", index] = places["attributes", index, "joint"] = "attributes", place
        for number, one in enumerate(attribute.maskings):
            pair = own[attribute.name].get(one.id)
            table: Path = ("attributes", place, "maskings", number, "joint")
            places["attributes", index, "maskings", number, "joint"] = (
                table if pair is None else ("pairs", pair, "joint")
            )
    known = entry.quasi_identifiers
    shared = replace(
        entry,
        attributes=[entry.attributes[place] for place in at],
        quasi_identifiers=None if known is None else [name for name in known if name in own],
    )
    releases = Releases.of(shared, masking)
    published = PublishedCounts(evidence, {}, releases, entry.rows_per_person or 1)
    return LabelCounts(entry.label.name, published, places)


def counted_apart(entry: EntryContent, pairs: Mapping[int, _Pair]) -> dict[int, _Pair]:
    """Return the pairs, by their places in the entry, without those that `label_counts` holds."""
    labels = _rounded_labels(entry)
    sides = {place: zip(pair.attributes, pair.maskings, strict=True) for place, pair in enumerate(entry.pairs)}
    with_label = {
        place
        for place, both in sides.items()
        if entry.pairs[place].rounded_to is None
        and any(name in labels and masking == IDENTITY for name, masking in both)
    }
    return {place: pair for place, pair in pairs.items() if place not in with_label}


def _rounded_labels(entry: EntryContent) -> list[str]:
    control = entry.disclosure_control
    is_once = control is not None and control.rounded_once is not None
    return list(entry.labels or ())[1:] if is_once else []


def _counts_of(entry: EntryContent, label: str) -> LabelCounts:
    task = _as_it_is(entry.about(label))
    table = None if task.configuration_table is None else replace(task.configuration_table, privacy=None)
    listed = [replace(each, privacy=each.privacy_by_label.get(label)) for each in task.configurations or ()]
    task = replace(task, configurations=None if table is not None else listed, configuration_table=table)
    places = dict([*_places(entry, label), *_places_of_privacy(entry, label)])
    published = PublishedCounts(evidence_of(task), {}, Releases.of(task), entry.rows_per_person or 1)
    return LabelCounts(label, published, places)


def _as_it_is(task: EntryContent) -> EntryContent:
    """The task of a label with the configurations that show it as it is."""
    name, table = task.label.name, task.configuration_table
    if table is not None:
        shown = [masking == IDENTITY for masking in table.maskings[name]]
        columns = {attribute: list(compress(column, shown)) for attribute, column in table.maskings.items()}
        table = replace(table, ids=list(compress(table.ids, shown)), maskings=columns)
    listed = [each for each in task.configurations or () if each.maskings[name] == IDENTITY]
    label = replace(task.label, maskings=())
    return replace(task, label=label, configurations=listed if table is None else None, configuration_table=table)


def _places(entry: EntryContent, label: str) -> Iterator[tuple[Path, Path]]:
    """Yield the places of counts in the task of a label, and where the document has them: in pairs."""
    known = pairs_with(entry, label)
    for place, attribute in enumerate(entry.attributes):
        if attribute.name == label:  # the default label is in its place
            yield ("label", "histogram"), ("attributes", place, "histogram")
            continue
        pairs: dict[str, Path] = {
            masking: ("pairs", each.place, "joint") for masking, each in known.get(attribute.name, {}).items()
        }
        whole = next(iter(pairs.values()), ("attributes", place))
        yield ("attributes", place), whole
        yield ("attributes", place, "histogram"), ("attributes", place, "histogram")
        yield ("attributes", place, "joint"), pairs.get(IDENTITY, whole)
        for index, masking in enumerate(attribute.maskings):
            yield ("attributes", place, "maskings", index, "joint"), pairs.get(masking.id, whole)


def _places_of_privacy(entry: EntryContent, label: str) -> Iterator[tuple[Path, Path]]:
    listed = list(enumerate(entry.configurations or ()))
    shown = [(place, each) for place, each in listed if each.maskings.get(label) == IDENTITY]
    for place, (at, each) in enumerate(shown):
        for name in each.privacy_by_label.get(label, {}):
            yield ("configurations", place, "privacy", name), ("configurations", at, "privacy_by_label", label, name)
