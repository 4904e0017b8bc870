"""The verdict on an entry combined with the masked table of one of its configurations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

import numpy as np

from aegis_advisor.errors import AdvisorError
from aegis_advisor.evidence import with_declared_rounding, with_label_masked
from aegis_advisor.verdict import MaskedTable, ShownCounts, judge_with_table
from aegis_provider.counting.counts import Counts
from aegis_provider.disclosure.entry import told_findings
from aegis_provider.entry import consistent_evidence, published_counts
from aegis_provider.errors import EntryError
from aegis_provider.ledger import most_held_back
from aegis_provider.processes import after
from aegis_provider.receiving.delivered import Delivered, Listed, Placing, placed
from aegis_provider.table import Table
from aegis_provider.table.values import ValueType, infer_type
from aegis_sdk.reading import label_shown
from aegis_sdk.wire import (
    DROP,
    IDENTITY,
    Attribute,
    Configuration,
    EntryDocument,
    Label,
    Masking,
    Verdict,
)

SECONDS: Final = 60.0


def judged_beside(
    entry: EntryDocument, configuration: str, table: Table, seconds: float, *, held_back: bool = False
) -> Verdict:
    """Return the verdict on what an entry gives away to an attacker who also has the masked table of a configuration.

    What takes longer than `seconds` is undecided. `held_back`: whether the table holds records back, as its card says.

    Raises:
        EntryError: The counts of the entry contradict each other, or are not those of the table.
        TableError: The table cannot be read.
    """
    chosen = _chosen(entry, configuration)
    published = published_counts(entry, consistent_evidence(entry))
    label, mapping = label_shown(entry.label, chosen.maskings)
    pairs = [pair for pair in entry.pairs if entry.label.name not in pair.attributes]
    shown, own = entry.model_copy(update={"label": label, "pairs": pairs}), published
    if mapping is not None:
        masked = np.array(mapping, dtype=np.int64)
        merged = [with_label_masked(with_declared_rounding(each), masked) for each in published.evidence]
        own = replace(published, evidence=merged, labels=())
    stop = after(seconds)
    try:
        verdict = judge_with_table(own, _Beside.of(shown, chosen, table).shown(held_back=held_back), stop)
        findings = list(verdict.findings)
        for of in published.labels:
            if of.label != entry.label.name and chosen.maskings.get(of.label) == IDENTITY:
                beside = _Beside.of(*_about(entry, chosen, of.label), table).shown(held_back=held_back)
                findings += map(of.placed, judge_with_table(of.published, beside, stop).findings)
    except AdvisorError:
        message = f"the entry {entry.name} does not count the records of the masked table of {configuration}"
        raise EntryError(f"{message}; make both anew from one table") from None
    told = told_findings(findings)
    return Verdict(passed=not findings, findings=told, rows_per_person=entry.rows_per_person)


def _about(entry: EntryDocument, chosen: Configuration, label: str) -> tuple[EntryDocument, Configuration]:
    """Return what an entry with this label alone says of values and their masking, and its configuration."""
    asked, default = next(each for each in entry.attributes if each.name == label), entry.label
    kind, masked = infer_type(default.domain).value, [one.model_dump() for one in default.maskings]
    about = {"name": default.name, "type": kind, "domain": default.domain, "maskings": masked}
    instead = Attribute.model_validate(about)
    changed = {
        "label": Label(name=label, domain=asked.domain, histogram=asked.histogram or []),
        "attributes": [instead if each is asked else each for each in entry.attributes],
        "pairs": [],
    }
    maskings = {name: masking for name, masking in chosen.maskings.items() if name != label}
    return entry.model_copy(update=changed), chosen.model_copy(
        update={"maskings": {default.name: IDENTITY, **maskings}}
    )


def _chosen(entry: EntryDocument, configuration: str) -> Configuration:
    """Return the configuration with this id, from the list or the table of the entry."""
    table = entry.configuration_table
    if table is not None and configuration in table.ids:
        place = table.ids.index(configuration)
        return Configuration(id=configuration, maskings={name: each[place] for name, each in table.maskings.items()})
    chosen = next((each for each in entry.masked if each.id == configuration), None)
    if chosen is None:
        raise EntryError(f"the entry {entry.name} has no masked configuration {configuration!r}")
    return chosen


@dataclass(frozen=True, eq=False)
class _Beside:
    """An entry and the masked table of a configuration, with the `placings` of texts by described attribute."""

    entry: EntryDocument
    configuration: Configuration
    delivered: Delivered
    labels: Placing
    placings: Mapping[str, Placing]

    @classmethod
    def of(cls, entry: EntryDocument, configuration: Configuration, table: Table) -> "_Beside":
        """Place the texts of the table among the masked values that the entry lists."""
        shown = []
        for attribute in entry.attributes:
            masking = configuration.maskings[attribute.name]
            described = masking != DROP and (masking == IDENTITY or _masking(attribute, masking).mapping is not None)
            shown += [attribute] if described else []
        delivered = Delivered(table, entry.label.name, [each.name for each in shown])
        exact, domain = entry.disclosure_control is None, entry.label.domain
        labels = placed(Listed(domain, infer_type(domain), exact=exact), delivered.labels)
        if labels.unknown or labels.groups.size < len(domain):
            raise EntryError(f"the masked table has other values of {entry.label.name} than the entry {entry.name}")
        placings = {}
        for each in shown:
            masking = configuration.maskings[each.name]
            texts, function = each.domain, None
            if masking != IDENTITY:
                chosen = _masking(each, masking)
                texts = chosen.domain
                function = {"name": ""} if chosen.function is None else chosen.function.model_dump()
            listed = Listed(texts, ValueType(each.type), function, exact=exact)
            placings[each.name] = placed(listed, delivered.texts(each.name))
        return cls(entry, configuration, delivered, labels, placings)

    def shown(self, *, held_back: bool) -> MaskedTable:
        """Return the counts that the table shows."""
        labels = np.zeros(len(self.entry.label.domain), dtype=np.int64)
        for text, number in self.delivered.labels.items():
            labels[self.labels.of_text[text]] += number
        least, most = _left_out(self.entry, self.configuration)
        places = {each.name: place for place, each in enumerate(self.entry.attributes)}
        pairs = {
            tuple(sorted(places[name] for name in pair.attributes))
            for pair in self.entry.pairs
            if pair.joint is not None
        }
        return MaskedTable(
            shown=[self._attribute(attribute, labels) for attribute in self.entry.attributes],
            labels=labels,
            left_out=(least, most + (most_held_back(self.entry.records) if held_back else 0)),
            pairs={(first, second): self._pair(first, second, labels) for first, second in sorted(pairs)},
        )

    def _attribute(self, attribute: Attribute, labels: Counts) -> ShownCounts:
        placing = self.placings.get(attribute.name)
        if placing is None:
            return ShownCounts(np.zeros(len(attribute.domain), dtype=np.int64), labels[np.newaxis])
        mapping = _mapping(attribute, self.configuration.maskings[attribute.name])
        groups, group_of = np.unique(placing.groups.groups[mapping], return_inverse=True)
        counts = self.delivered.joint(attribute.name, placing, self.labels)
        return ShownCounts(group_of.reshape(-1).astype(np.int64), counts[groups])

    def _pair(self, first: int, second: int, labels: Counts) -> Counts:
        """Return the (groups, groups) joint counts of two attributes, and the number of all other records."""
        names = [self.entry.attributes[place].name for place in (first, second)]
        one, two = (self.placings.get(name) for name in names)
        if one is not None and two is not None:
            counts, _ = self.delivered.pair((names[0], names[1]), (one, two))
            return counts[np.ix_(self._groups(names[0]), self._groups(names[1]))]
        known, axis = (second, 0) if one is None else (first, 1)
        counts = self._attribute(self.entry.attributes[known], labels).counts.sum(axis=1)
        return np.expand_dims(counts, axis)

    def _groups(self, name: str) -> Counts:
        """Return the groups of an attribute that contain listed values."""
        attribute = next(each for each in self.entry.attributes if each.name == name)
        mapping = _mapping(attribute, self.configuration.maskings[name])
        return np.unique(self.placings[name].groups.groups[mapping])


def _masking(attribute: Attribute, name: str) -> Masking:
    return next(masking for masking in attribute.maskings if masking.id == name)


def _mapping(attribute: Attribute, masking: str) -> Counts:
    """(values,) The listed masked value of each listed value."""
    if masking == IDENTITY:
        return np.arange(len(attribute.domain))
    return np.array(_masking(attribute, masking).mapping, dtype=np.int64)


def _left_out(entry: EntryDocument, configuration: Configuration) -> tuple[float, float]:
    """Return the declared minimum and maximum of counted records that the table leaves out."""
    control, declared = entry.disclosure_control, configuration.suppressed
    if control is not None and control.epsilon is not None:
        return 0, inf
    if entry.configuration_table is not None and configuration.id in entry.configuration_table.ids:
        return 0, inf  # such a table does not say
    if declared is None:
        return 0, 0 if control is None or control.min_cell is None else control.min_cell - 1
    off = 0 if control is None or control.rounded_to is None else control.rounded_to - 1
    return max(0, declared - off), declared + off
