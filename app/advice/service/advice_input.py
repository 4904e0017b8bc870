"""The input of an answer: packed for loading and sending to a child process, and unpacked there."""

import pickle
from collections import OrderedDict
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.evidence import (
    AttributeEvidence,
    LabelContent,
    PairAssociation,
    PairCounts,
    PublishedTrace,
    associations_of,
    evidence_of,
    pairs_of,
    with_label_masked,
)
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Memory
from aegis_advisor.reconstruction import Reference, reconstruct
from app.advice.model import Advice, AdviceQuestion, PackedReference
from app.advice.service.questions import needs_pairs
from app.advice.service.tasks import class_of, competing
from app.entries.model.configurations import LABEL, ConfigurationTable, unpack_configurations
from app.entries.model.documents import stored_attributes, stored_entry
from app.entries.model.entries import AttributeOutline, CountTable, PackedConfigurations
from app.platform.database.arrays import pack, unpack

#: The largest size in bytes and the number of cached inputs.
LARGEST_KEPT, MOST_KEPT = 2_000_000, 8


@dataclass(frozen=True, slots=True)
class AdviceInput:
    """The input for computing an advice, restricted to the attributes at `places`.

    Attributes:
        outline: the attributes of the question's label.
        of_default: those of the default label; empty if that is the question's.
    """

    version_id: int
    digest: str
    question: AdviceQuestion
    outline: tuple[AttributeOutline, ...]
    places: tuple[int, ...]
    schema: bytes
    count_tables: tuple[CountTable, ...]
    configurations: PackedConfigurations
    references: tuple[PackedReference, ...] = ()
    of_default: tuple[AttributeOutline, ...] = ()

    @property
    def listed(self) -> tuple[AttributeOutline, ...]:
        """The attributes of the version, as its configurations list them."""
        return self.of_default or self.outline

    @property
    def label_place(self) -> int | None:
        """The place of the label among these attributes; None for the default label."""
        names = [attribute.name for attribute in self.listed]
        return None if self.question.label is None else names.index(self.question.label)


class RecentInputs:
    """A cache of the inputs of the last few answers: versions and their references never change."""

    def __init__(self) -> None:
        # With the digest, because another version may get the id after a backup is restored.
        self._kept: OrderedDict[tuple[int, str, str | None, tuple[str, ...] | None], AdviceInput] = OrderedDict()

    def find(self, advice: Advice) -> AdviceInput | None:
        """The cached input for an advice on the same attributes of a version, if any."""
        question = advice.question
        key = advice.version_id, advice.digest, question.label, question.attributes
        if key not in self._kept or MEASURES[question.measure].is_joint:  # pair counts are large and not cached
            return None
        self._kept.move_to_end(key)
        return replace(self._kept[key], question=question)

    def keep(self, given: AdviceInput) -> None:
        """Cache an input for later questions, unless it is large or lacks references."""
        if given.question.ranks_declared:
            return
        sizes = [len(table.counts.data) for table in given.count_tables]
        sizes += [len(array.data) for one in given.references for array in one.arrays.values()]
        sizes += [len(given.schema), len(given.configurations.ids), len(given.configurations.codes.data)]
        if sum(sizes) > LARGEST_KEPT or MEASURES[given.question.measure].is_joint:
            return
        self._kept[given.version_id, given.digest, given.question.label, given.question.attributes] = given
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The unpacked evidence on the selected attributes, and results computed from it.

    Attributes:
        published: the trace of the unmasked table, if the question selects all of its attributes.
        is_listed: whether the entry lists the question's label.
        label: the question's label with its maskings.
        table: the configurations that compete in its task.
    """

    records: int
    evidence: tuple[AttributeEvidence, ...]
    references: tuple[Reference, ...]
    pairs: tuple[PairCounts, ...]
    associations: tuple[PairAssociation, ...]
    published: PublishedTrace | None
    memory: Memory
    is_listed: bool
    label: LabelContent
    table: ConfigurationTable

    @classmethod
    def of(cls, given: AdviceInput, table: ConfigurationTable) -> Self:
        """Unpack the input of an answer, given all configurations of the version."""
        together, tables, label = needs_pairs(given.question, given.outline), given.count_tables, given.question.label
        is_listed = True
        if together or label is not None or LABEL in given.configurations.declared:
            entry = stored_entry(given.schema, tables)
            is_listed = label is None or label in (entry.labels or ())
            if label is not None and given.label_place is not None:
                table, entry = competing(entry, table, given.label_place), entry.about(label)
            evidence = evidence_of(entry, given.places)
        else:
            entry = stored_attributes(given.schema, given.places, tables)
            evidence = evidence_of(entry)
        return cls(
            entry.records,
            evidence,
            tuple(map(unpack_reference, given.references)),
            tuple(pairs_of(entry, given.places).values()) if together else (),
            tuple(associations_of(entry, given.places).values()) if together else (),
            entry.joint_trace if len(given.places) == len(given.outline) else None,
            Memory(),
            is_listed,
            entry.label,
            table,
        )

    def toward(self, target: str) -> Self:
        """The same for predicting a masked label: nothing that is known of the label as it is stays the reference."""
        evidence = tuple(with_label_masked(one, class_of(self.label, target)) for one in self.evidence)
        return replace(
            self, evidence=evidence, references=tuple(map(reconstruct, evidence)), published=None, memory=Memory()
        )


_Unpacked = tuple[Known, ConfigurationTable]

_RECENT: OrderedDict[bytes, _Unpacked] = OrderedDict()
"""The last few unpacked inputs, since questions about a version often follow each other."""


def known_of(given: AdviceInput) -> _Unpacked:
    """Unpack the input, unless it is cached: equal bytes under any version id."""
    key_of = given.schema, given.count_tables, given.configurations, given.references, given.places
    # The same tables are unpacked with the pairs or without.
    packed = pickle.dumps((*key_of, given.question.label, needs_pairs(given.question, given.outline)))
    if len(packed) > LARGEST_KEPT:
        return _unpacked(given)
    key = blake2b(packed).digest()
    if key not in _RECENT:
        _RECENT[key] = _unpacked(given)
    _RECENT.move_to_end(key)
    if len(_RECENT) > MOST_KEPT:
        _RECENT.popitem(last=False)
    return _RECENT[key]


def _unpacked(given: AdviceInput) -> _Unpacked:
    table = unpack_configurations(given.configurations, given.listed)
    return Known.of(given, table), table


_REFINED = "refined_"
"""The prefix of names of stored tables that exact maskings determine together."""


def pack_reference(place: int, reference: Reference) -> PackedReference:
    """Pack the reference of the attribute at a place."""
    arrays: dict[str, NDArray[Any]] = {"atom_of_value": reference.atom_of_value, "joint": reference.joint}
    arrays |= asdict(reference.statistics)
    arrays |= {f"{_REFINED}{number}": table for number, table in enumerate(reference.refined)}
    packed = {name: pack(array) for name, array in arrays.items()}
    return PackedReference(place, packed, reference.information_bound, reference.certificate, reference.ceilings)


def unpack_reference(packed: PackedReference) -> Reference:
    """Unpack a reference."""
    arrays: dict[str, NDArray[Any]] = {name: unpack(array) for name, array in packed.arrays.items()}
    atom_of_value = arrays.pop("atom_of_value").astype(np.int32)
    joint = arrays.pop("joint")
    refined = tuple(arrays.pop(name) for name in packed.arrays if name.startswith(_REFINED))
    statistics = AtomStatistics(**arrays)
    bound, ceilings = packed.information_bound, packed.ceilings
    return Reference(atom_of_value, joint, statistics, bound, packed.certificate, ceilings, refined)
