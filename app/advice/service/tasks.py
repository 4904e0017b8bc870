"""The task of a label in a version: which attributes and configurations a question about it is of.

Another label than the default one is an attribute of the entry. In its task it gives its place to the default label,
and its joint counts are pair counts (`aegis_advisor.evidence.task`). Here only their places are read, not the counts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import (
    IDENTITY,
    UNMASKED,
    CountedPair,
    EntryContent,
    LabelContent,
    label_maskings,
    lacking,
    pairs_with,
    whole_counts,
)
from aegis_advisor.measures import MEASURES
from app.advice.model import AdviceQuestion, ReferenceKind
from app.entries.model.configurations import ConfigurationTable
from app.entries.model.documents import is_counted, stored_entry
from app.entries.model.entries import AttributeOutline, MaskingOutline
from app.platform.errors import Fault, InvalidDocumentError, some

#: More than the attributes of any entry.
_ATTRIBUTES = 20_000

#: So many columns are tried as labels that are not listed, those in most pairs: each looks through all pairs.
_MOST_TRIED = 50


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What decides which questions about a label a version can answer.

    Attributes:
        outline: the attributes, in the entry's order; another label's place has the default label.
        table: the configurations that compete (`competing`).
        counted: the pairs of columns whose counts the version has.
        first: the number of the first attribute's reference. The default label's references have the places of their
            attributes as numbers, and those of the label at place `p` follow from `(p + 1) * 20,000` on.
    """

    outline: tuple[AttributeOutline, ...]
    table: ConfigurationTable
    first: int = 0
    counted: frozenset[frozenset[str]] = frozenset()


def counted_pairs(schema: bytes) -> frozenset[frozenset[str]]:
    """The pairs of columns whose counts a version has, given its schema as stored."""
    return _counted_pairs(_places(schema))


def _counted_pairs(entry: EntryContent) -> frozenset[frozenset[str]]:
    with_default = (frozenset({entry.label.name, attribute.name}) for attribute in entry.attributes)
    return frozenset(with_default) | {frozenset(pair.attributes) for pair in entry.pairs if pair.joint is not None}


def task_of(schema: bytes, outline: tuple[AttributeOutline, ...], table: ConfigurationTable, label: str) -> Task:
    """The task of another label than the default one.

    Args:
        schema: the version's schema as stored.
        outline: the version's attributes in the default label's task.
        table: all configurations of the version.
        label: the label.

    Raises:
        InvalidDocumentError: the version lacks what a question about this label needs; says which labels can be asked.
    """
    entry = _places(schema)
    fault = next(_faults(entry, outline, table, label), None)
    if fault is not None:
        known = [*(entry.labels or [entry.label.name]), *_estimated(entry, outline, table)]
        faults = (Fault("/label", f"{fault} It can be asked about {some(known)}."),)
        raise InvalidDocumentError("This entry cannot answer the question.", faults)
    place = _place(outline, label)
    known_pairs = pairs_with(entry, label)
    labels = outline[place].values
    attributes = [
        _outline(entry, at, one, len(entry.attributes[place].domain), labels, known_pairs.get(one.name, {}))
        for at, one in enumerate(outline)
    ]
    attributes[place] = _of_default(entry, place, outline[place])
    return Task(tuple(attributes), competing(entry, table, place), first_number(place), _counted_pairs(entry))


def competing(entry: EntryContent, table: ConfigurationTable, place: int) -> ConfigurationTable:
    """The configurations that compete in the task of the label at a place.

    They show the label as it is, or masked so that the counts of all that they share with the masked label are known.
    """
    asked, used = entry.attributes[place], set(np.unique(table.codes[:, place]).tolist())
    names = [attribute.name for attribute in entry.attributes]
    options = dict(zip(names, table.options, strict=True))
    maskings, counted = [masking.id for masking in label_maskings(asked)], []
    for masking in maskings:
        is_used = table.options[place].index(masking) in used
        lack = set(lacking(entry, asked.name, options, masking)) if is_used else set()
        counted.append([np.array([(name, one) not in lack for one in options[name]]) for name in names])
    return table.showing(place, [masking.id for masking in entry.label.maskings], maskings, counted)


@dataclass(frozen=True, slots=True)
class Askable:
    """What questions about a version can be about, besides the labels that it lists.

    Attributes:
        estimated: the columns that it does not list as labels, but whose pair counts answer questions about them.
        targets: by column, the maskings of it that configurations in its task show.
    """

    estimated: tuple[str, ...] = ()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def askable(
    schema: bytes, outline: tuple[AttributeOutline, ...], table: ConfigurationTable, most_columns: int
) -> Askable:
    """What questions about a version can be about; no column is tried if there are more than `most_columns`."""
    entry = _places(schema)
    estimated = tuple(_estimated(entry, outline, table)) if len(outline) <= most_columns else ()
    targets = {}
    for name in (*(entry.labels or [entry.label.name]), *estimated):
        label, place = label_in(entry, name), _place(outline, name)
        codes = (table if place < 0 else competing(entry, table, place)).label_codes
        if codes is not None:
            targets[name] = tuple(label.maskings[code - 1].id for code in np.unique(codes).tolist() if code)
    return Askable(estimated, targets)


def _places(schema: bytes) -> EntryContent:
    """The stored entry, in which `True` stands for the counts of a pair."""
    entry = stored_entry(schema)
    return replace(entry, pairs=[replace(pair, joint=True if is_counted(pair) else None) for pair in entry.pairs])


def _estimated(entry: EntryContent, outline: tuple[AttributeOutline, ...], table: ConfigurationTable) -> Iterator[str]:
    counted = Counter(
        name
        for pair in entry.pairs
        for name, masking in zip(pair.attributes, pair.maskings, strict=True)
        if pair.joint is not None and masking == IDENTITY and name not in (entry.labels or ())
    )
    likely = {name for name, _ in counted.most_common(_MOST_TRIED)}
    for name in (one.name for one in outline if one.name in likely):
        if next(_faults(entry, outline, table, name), None) is None:
            yield name


def label_in(entry: EntryContent, label: str | None) -> LabelContent:
    """A label of an entry, None for the default one, with its maskings that are functions."""
    if label in (None, entry.label.name):
        return entry.label
    asked = next(attribute for attribute in entry.attributes if attribute.name == label)
    return LabelContent(
        name=asked.name,
        domain=asked.domain,
        scores=asked.scores,
        maskings=label_maskings(asked),
        concept=asked.concept,
    )


def class_of(label: LabelContent, target: str) -> NDArray[np.int64]:
    """(labels,) the masked label of each label by a masking of the label, or by `identity`."""
    mapping = label.class_of(target)
    return np.arange(len(label.domain)) if mapping is None else mapping


def reaching(label: LabelContent, table: ConfigurationTable, target: str) -> NDArray[np.bool_]:
    """(configurations,) whether each shows the label at least as finely as a masking of it."""
    if table.label_codes is None:
        return np.ones(len(table.codes), dtype=bool)
    wanted, shown = class_of(label, target), [IDENTITY, *(masking.id for masking in label.maskings)]
    mappings = [class_of(label, masking) for masking in shown]
    finer = [coarsening(one, wanted, int(one.max()) + 1) is not None for one in mappings]
    return np.array(finer)[table.label_codes]


def refuse_label(question: AdviceQuestion, schema: bytes, table: ConfigurationTable) -> None:
    """Refuse a question that a version cannot answer because of how its configurations show the label.

    Args:
        schema: the version's schema as stored.
        table: the configurations that compete for the question's label.

    Raises:
        InvalidDocumentError: no configuration reaches the target, or the question needs the label as it is.
    """
    faults = tuple(_label_faults(question, label_in(stored_entry(schema), question.label), table))
    if faults:
        raise InvalidDocumentError("This entry cannot answer the question.", faults)


def _label_faults(question: AdviceQuestion, label: LabelContent, table: ConfigurationTable) -> Iterator[Fault]:
    kept = table.meeting(question.required, question.policy, question.kinds)
    known = [IDENTITY, *(masking.id for masking in label.maskings)]
    if question.target is None:
        if table.label_codes is None or not table.label_codes[kept].any() or question.ranks_declared:
            return
        detail = "needs the label as it is, but configurations mask it: name what to predict as `target`, or choose"
        if question.reference is ReferenceKind.OWN:
            yield Fault("/reference", f"The reference 'own' {detail} 'pooled'.")
        if MEASURES[question.measure].sees_interactions:
            yield Fault("/measure", f"{question.measure!r} {detail} another measure.")
    elif question.ranks_declared:
        yield Fault("/target", "Declared transfer utilities are about the label as it is; leave this out.")
    elif question.target not in known:
        yield Fault("/target", f"The label {label.name!r} has no masking {question.target!r}; it has {some(known)}.")
    elif not (kept & reaching(label, table, question.target)).any():
        reached = [name for name in known if (kept & reaching(label, table, name)).any()]
        detail = f"No configuration that meets all requirements shows {label.name!r} as finely as {question.target!r}"
        yield Fault("/target", f"{detail}; ask about {some(reached)}.")


def unanswered(question: AdviceQuestion, schema: bytes, table: ConfigurationTable, configuration: str) -> list[str]:
    """A sentence if a configuration does not compete for the label or the target of a question.

    Args:
        question: one that this version can answer.
        schema: the version's schema as stored.
        table: all configurations of the version, with their ids.
        configuration: the id of one of them.
    """
    entry = _places(schema)
    place = next((at for at, one in enumerate(entry.attributes) if one.name == question.label), None)
    task = table if place is None else competing(entry, table, place)
    label = label_in(entry, None if place is None else question.label)
    if configuration not in task.ids:
        return [f"{configuration!r} does not show the label {label.name!r}, or not with counts."]
    if question.target is None or reaching(label, task, question.target)[task.ids.index(configuration)]:
        return []
    return [f"{configuration!r} does not show {label.name!r} as finely as {question.target!r}."]


def first_number(label: int) -> int:
    """The number of the first attribute's reference in the task of the label at this place."""
    return (label + 1) * _ATTRIBUTES


def label_place(number: int) -> tuple[int | None, int]:
    """The place of the label of the reference with this number, None for the default one, and its attribute's place."""
    label, attribute = divmod(number, _ATTRIBUTES)
    return (label - 1 if label else None), attribute


def _place(outline: Sequence[AttributeOutline], label: str) -> int:
    return next((place for place, attribute in enumerate(outline) if attribute.name == label), -1)


def _faults(
    entry: EntryContent, outline: Sequence[AttributeOutline], table: ConfigurationTable, label: str
) -> Iterator[str]:
    """Why a version cannot answer questions about a label, in sentences."""
    place = _place(outline, label)
    if place < 0:
        yield f"The entry has no column {label!r}."
        return
    if outline[place].values < 2:  # noqa: PLR2004 -- then there is nothing to predict
        yield f"All records have the same value of {label!r}."
        return
    task = competing(entry, table, place)
    if not len(task.codes):
        yield f"No configuration shows {label!r}, as it is or masked."
        return
    as_it_is = table.showing(place, [masking.id for masking in entry.label.maskings])
    whole = {masking.id for masking in whole_counts(entry.attributes[place])}
    has_default = any(masking.counted for masking in outline[place].maskings if masking.id in whole)
    if not outline[place].joint and not has_default:
        yield f"The entry has no counts of {label!r} with {entry.label.name!r}."
    used = [np.unique(column) for column in as_it_is.codes.T]
    shared = {
        one.name: [options[code] for code in codes]
        for one, options, codes in zip(outline, as_it_is.options, used, strict=True)
    }
    lack = [f"{name!r} ({masking})" for name, masking in lacking(entry, label, shared)]
    if lack:
        yield f"The entry has no counts of {label!r} with {some(lack)}."


def _outline(
    entry: EntryContent,
    place: int,
    known: AttributeOutline,
    classes: int,
    labels: int,
    pairs: Mapping[str, CountedPair],
) -> AttributeOutline:
    """An attribute in the task of a label with this many classes, `labels` of them with records."""
    declares = {name: _declares(entry, pair) for name, pair in pairs.items()}
    content = entry.attributes[place]
    maskings = tuple(
        replace(
            one,
            occupied=one.occupied if one.id in pairs else 0,
            counted=one.id in pairs,
            perturbed=declares.get(one.id, False),
        )
        for one in known.maskings
    )
    is_joint = IDENTITY in pairs and not declares[IDENTITY]
    if IDENTITY in pairs and not is_joint and not any(whole_counts(content)):
        maskings += (MaskingOutline(UNMASKED, known.values, True, True, True, perturbed=True),)
    return AttributeOutline(known.name, len(content.domain) * classes, known.values, labels, is_joint, maskings)


def _declares(entry: EntryContent, known: CountedPair) -> bool:
    pair = entry.pairs[known.place]
    return pair.noise is not None or pair.rounded_to is not None


def _of_default(entry: EntryContent, place: int, label: AttributeOutline) -> AttributeOutline:
    """The default label as an attribute in the task of the label at a place, which had this outline."""
    whole = {masking.id for masking in whole_counts(entry.attributes[place])} if not label.joint else set()
    maskings = (
        MaskingOutline(one.id, label.labels, True, True, True, one.perturbed)
        for one in label.maskings
        if one.id in whole and one.counted
    )
    own = [MaskingOutline(one.id, len(one.domain), True, label.joint, True) for one in entry.label.maskings]
    return AttributeOutline(
        entry.label.name, label.cells, label.labels, label.values, label.joint, (*own, *islice(maskings, 1))
    )
