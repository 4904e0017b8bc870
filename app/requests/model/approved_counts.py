"""An entry's counts and names of one configuration: what the holder of its masked table can count."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import fold
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeContent,
    AttributeEvidence,
    ConfigurationContent,
    ConfigurationsContent,
    EntryContent,
    LabelContent,
    Masking,
    MaskingContent,
    PairCounts,
    Perturbation,
    evidence_of,
    pairs_of,
    with_label_masked,
)
from aegis_advisor.evidence import with_declared_rounding as declared
from app.platform.errors import Fault

#: Separates masked values that were compared together.
_TOGETHER = " | "
#: Longer texts are cut to this length and end with this mark, as do long lists of texts.
_LONG, _MORE = 200, "..."
_STAR = "*"
#: The rule for texts of the file that the entry does not list, which are only counted.
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Difference:
    """A differing cell of the masked table."""

    rule: str
    attributes: list[str]
    maskings: list[str]
    values: list[str]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedNames:
    """The names of a configuration.

    Attributes:
        labels: the label's values and their parts.
        maskings: the masking by attribute of the masked table.
        values: the masked values by attribute, and their parts.
    """

    labels: frozenset[str]
    maskings: Mapping[str, str]
    values: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, entry: EntryContent, configuration: ConfigurationContent) -> Self:
        """The names of a configuration of an entry, which may lack its counts."""
        chosen = configuration.maskings
        shared = [attribute for attribute in entry.attributes if chosen.get(attribute.name, DROP) != DROP]
        maskings = {attribute.name: chosen[attribute.name] for attribute in shared}
        domains = (
            attribute.domain if chosen[attribute.name] == IDENTITY else attribute.masking(chosen[attribute.name]).domain
            for attribute in shared
        )
        values = dict(zip(maskings, map(_parts, domains), strict=True))
        masked = entry.label.masking(chosen.get(entry.label.name, IDENTITY))
        return cls(_parts(entry.label.domain if masked is None else masked.domain), maskings, values)

    def faults(self, differences: Iterable[Mapping[str, Any]]) -> Iterator[Fault]:
        """A fault for every unpublished name, with its place and without the name."""
        for place, each in enumerate(differences):
            for member, detail in self._faults(msgspec.convert(each, _Difference)):
                yield Fault(f"/differences/{place}/{member}", detail)

    def _faults(self, difference: _Difference) -> Iterator[tuple[str, str]]:
        names, values, label = difference.attributes, difference.values, difference.label
        is_unknown = difference.rule == _UNKNOWN
        if any(name not in self.maskings for name in names):
            yield "attributes", "The delivered configuration has no such attribute."
        elif [self.maskings[name] for name in names] != difference.maskings:
            yield "maskings", "These are not the maskings of the delivered configuration, one for each attribute."
        elif not self._has(names, values) or (values and is_unknown):
            yield "values", "The entry has no such masked values; say only how many texts are unknown."
        if label is not None and (not _is_made_of(label, self.labels) or is_unknown):
            yield "label", "The entry has no such label value; say only how many texts are unknown."

    def _has(self, names: list[str], values: list[str]) -> bool:
        if not values or (not names and values == [_STAR]):
            return True
        known = (_is_made_of(value, self.values[name]) for name, value in zip(names, values, strict=False))
        return len(names) == len(values) and all(known)


def _parts(texts: Iterable[str]) -> frozenset[str]:
    """The parts of which the names of these texts, or of several together, consist."""
    short = [text if len(text) <= _LONG else text[:_LONG] + _MORE for text in texts]
    return frozenset(part for text in short for part in text.split(_TOGETHER)) | {_MORE}


def _is_made_of(name: str, parts: frozenset[str]) -> bool:
    return all(part in parts for part in name.split(_TOGETHER))


Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Inexact:
    """The possible difference of counts from those of the provider's table.

    Attributes:
        off_by: the largest change by rounding.
        noise_scale: the scale of the noise of a published count, in records; None without noise.
        terms: the most published counts that a count is the sum of.
    """

    off_by: int = 0
    noise_scale: float | None = None
    terms: int = 1

    @classmethod
    def of(cls, perturbation: Perturbation, terms: int = 1) -> Self:
        """The inexactness of sums of `terms` counts with this perturbation."""
        rounded = replace(perturbation, noise_scale=None)
        return cls(rounded.slack(terms, 1), perturbation.noise_scale, terms)


@dataclass(frozen=True, slots=True, eq=False)
class ApprovedTable:
    """A masked attribute with the label.

    Attributes:
        about: the entry's description of the masking; for `identity`, of the attribute.
        joint: (masked values, labels); None if unknown.
    """

    attribute: AttributeContent
    masking: str
    about: AttributeContent | MaskingContent
    joint: Counts | None
    inexact: Inexact


@dataclass(frozen=True, slots=True, eq=False)
class ApprovedPair:
    """Two masked attributes together, as `PairCounts`."""

    attributes: tuple[str, str]
    maskings: tuple[str, str]
    joint: Counts
    counted_with: tuple[Counts, Counts] | None
    inexact: Inexact


@dataclass(frozen=True, slots=True, eq=False)
class ApprovedCounts:
    """An entry's counts of one configuration."""

    configuration: ConfigurationContent
    label: LabelContent
    label_inexact: Inexact
    tables: tuple[ApprovedTable, ...]
    pairs: tuple[ApprovedPair, ...]

    @classmethod
    def of(cls, entry: EntryContent, configuration: ConfigurationContent) -> Self:
        """The counts of a configuration of an entry."""
        if configuration.is_generated:
            return cls(configuration, replace(entry.label, histogram=configuration.histogram), Inexact(), (), ())
        evidence, label = [declared(attribute) for attribute in evidence_of(entry)], entry.label
        if (masked := label.masking(configuration.maskings.get(label.name, IDENTITY))) is not None:
            evidence = [with_label_masked(attribute, np.asarray(masked.mapping)) for attribute in evidence]
            label = replace(label, domain=masked.domain, histogram=evidence[0].label_histogram)
        chosen = [configuration.maskings.get(attribute.name, DROP) for attribute in evidence]
        shared = [place for place, masking in enumerate(chosen) if masking != DROP]
        tables = tuple(_table(entry.attributes[n], evidence[n], chosen[n]) for n in shared)
        pairs = tuple(_pairs(evidence, chosen, pairs_of(entry).values()))
        inexact = Inexact.of(evidence[0].label_perturbation)
        return cls(configuration, label, inexact, tables, pairs)


def configuration_in(listed: ConfigurationsContent, wanted: str) -> ConfigurationContent:
    """The configuration with this id in an entry's list or table.

    Raises:
        KeyError: there is none.
    """
    for one in listed.configurations or ():
        if one.id == wanted:
            return one
    table = listed.configuration_table
    if table is None or wanted not in table.ids:
        raise KeyError(wanted)
    row = table.ids.index(wanted)
    privacy = {name: number for name, column in (table.privacy or {}).items() if (number := column[row]) is not None}
    maskings = {name: column[row] for name, column in table.maskings.items()}
    return ConfigurationContent(id=wanted, maskings=maskings, privacy=privacy)


def _table(attribute: AttributeContent, evidence: AttributeEvidence, choice: str) -> ApprovedTable:
    """The counts of an attribute under a configuration's masking."""
    about = attribute if choice == IDENTITY else attribute.masking(choice)
    own = next((masking for masking in evidence.maskings if masking.id == choice and masking.joint is not None), None)
    if own is not None or (evidence.joint is not None and choice == IDENTITY):
        joint = evidence.joint if own is None else own.joint
        inexact = Inexact() if own is None else Inexact.of(own.perturbation)
        return ApprovedTable(attribute, choice, about, joint, inexact)
    mapping, groups = evidence.mapping_of(choice), evidence.groups_of(choice)
    for finer in _counted(evidence) if mapping is not None else ():
        outer = None if finer.mapping is None or mapping is None else coarsening(finer.mapping, mapping, finer.groups)
        if outer is not None and finer.joint is not None:
            inexact = Inexact.of(finer.perturbation, _most_in_one(outer))
            return ApprovedTable(attribute, choice, about, fold(finer.joint, outer, groups), inexact)
    return ApprovedTable(attribute, choice, about, None, Inexact())


def _counted(evidence: AttributeEvidence) -> Iterator[Masking]:
    """The masked and the unmasked counts of all records, from which coarser counts can be summed."""
    if evidence.joint is not None:
        yield Masking(IDENTITY, evidence.values, np.arange(evidence.values), evidence.joint, deterministic=True)
    yield from (
        masking for masking in evidence.maskings if masking.joint is not None and masking.perturbation.is_complete
    )


def _most_in_one(outer: Counts) -> int:
    """The most groups that become one."""
    return int(np.bincount(outer).max(initial=1))


def _pairs(
    evidence: Sequence[AttributeEvidence], chosen: Sequence[str], given: Iterable[PairCounts]
) -> Iterator[ApprovedPair]:
    """The pair counts of a configuration: published, or summed from those of finer maskings."""
    by_attributes: dict[tuple[int, ...], list[PairCounts]] = {}
    for pair in given:
        by_attributes.setdefault(tuple(sorted(pair.attributes)), []).append(pair)
    for both in combinations([place for place, masking in enumerate(chosen) if masking != DROP], 2):
        # The configuration's own table comes first.
        tables = sorted(
            by_attributes.get(both, ()),
            key=lambda pair: [chosen[place] for place in pair.attributes] != list(pair.maskings),
        )
        folded = (_folded(evidence, pair, chosen) for pair in tables)
        if (known := next((pair for pair in folded if pair is not None), None)) is not None:
            yield known


def _folded(evidence: Sequence[AttributeEvidence], pair: PairCounts, chosen: Sequence[str]) -> ApprovedPair | None:
    """The summed counts of a pair under a configuration; None if its masked values are not unions."""
    (first, second), (masking, other) = pair.attributes, pair.maskings
    rows = _outer(evidence[first], masking, chosen[first])
    columns = _outer(evidence[second], other, chosen[second])
    if rows is None or columns is None:
        return None
    sizes = evidence[first].groups_of(chosen[first]), evidence[second].groups_of(chosen[second])
    joint, together = _both_folded(pair.joint, (rows, columns), sizes), None
    if pair.counted_with is not None:
        places, more = pair.counted_with
        together = _together(places, rows, sizes[0]), _together(more, columns, sizes[1])
        joint = _both_folded(joint, together, sizes)
    return ApprovedPair(
        (evidence[first].name, evidence[second].name),
        (chosen[first], chosen[second]),
        joint,
        together,
        Inexact.of(pair.perturbation, _most_in_one(rows) * _most_in_one(columns)),
    )


def _both_folded(joint: Counts, groups: tuple[Counts, Counts], sizes: tuple[int, int]) -> Counts:
    rows = fold(np.ascontiguousarray(joint), groups[0], sizes[0])
    return fold(np.ascontiguousarray(rows.T), groups[1], sizes[1]).T


def _outer(evidence: AttributeEvidence, finer: str, coarser: str) -> Counts | None:
    """The masked value that contains each value of a finer masking; None if one is in several."""
    if finer == coarser:
        return np.arange(evidence.groups_of(finer))
    mapping, target = evidence.mapping_of(finer), evidence.mapping_of(coarser)
    return None if mapping is None or target is None else coarsening(mapping, target, evidence.groups_of(finer))


def _together(places: Counts, outer: Counts, size: int) -> Counts:
    """(size,) the place where each masked value is counted, given the places (n,) of the finer ones."""
    at = np.arange(size)
    while True:
        last = at.copy()
        for one, other in ((outer, outer[places]), (outer[places], outer)):
            np.maximum.at(at, one, at[other])
        at = at[at]
        if np.array_equal(at, last):
            return at
