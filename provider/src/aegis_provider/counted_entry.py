"""The entry of a counted table: its domains, counts, maskings and configurations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import AttributeEvidence, evidence_of
from aegis_advisor.joint import largest_part
from aegis_provider.counting.counted_table import MOST_CLASSES, CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import Counts, JointCounts
from aegis_provider.counting.label_scores import numbers_by_label, scores_of
from aegis_provider.counting.label_tasks import label_tasks
from aegis_provider.counting.merged_table import MergedTable, Merging, merged_table
from aegis_provider.counting.pair_tables import (
    PairsTold,
    pair_tables,
    refuse_uncountable,
    refuse_undone_secrets,
)
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.counting.shown_labels import with_shown_labels
from aegis_provider.counting.stated_maskings import (
    ListedMasked,
    count_elsewhere,
    discretization_of,
    drawn_masking,
    is_nearly_unique,
    listed_as_unmasked,
    listed_without_rare,
    masking_by_value,
    masking_elsewhere,
    without_values,
)
from aegis_provider.counting.unmasked_trace import unmasked_traces
from aegis_provider.entry import content_of, entry_of
from aegis_provider.errors import PlanError, TableError, shortened
from aegis_provider.plan.model import Configuration, Masking, Plan
from aegis_provider.privacy.criteria import two_digits
from aegis_provider.privacy.measuring import refuse_without_order
from aegis_provider.privacy.privacy_table import shown_records
from aegis_provider.processes import Progress
from aegis_provider.table import Table
from aegis_provider.table.discretization import Binned
from aegis_sdk.wire import EntryDocument, strictest


@dataclass(frozen=True, eq=False)
class CountedEntry:
    """A counted table, on the way to its entry.

    Attributes:
        merged: The table after merging, and its merges.
        plan: The plan, without secret maskings that no configuration uses.
        masked: For each attribute, its masked values by masking.
        domains: For each attribute, the values that the entry lists.
        hidden: How many records are not counted.
        pairs: Whether to count pairs.
        shared_only: Whether the entry has only counts of what configurations share.
    """

    merged: MergedTable
    plan: Plan
    masked: Sequence[Mapping[str, MaskedDomain]]
    domains: Sequence[PublishedDomain]
    hidden: int
    memory_limit: str
    pairs: bool
    shared_only: bool

    @classmethod
    def of(
        cls,
        opened: Table,
        plan: Plan,
        memory_limit: str,
        *,
        pairs: bool,
        shared_only: bool = False,
        all_records: bool = False,
        merging: Merging | None = None,
    ) -> "CountedEntry":
        """Count a table. With `shared_only`, records that no release shows count only if `all_records` is set.

        Raises:
            PlanError: The requested pairs cannot be counted, or the plan has what no entry may contain.
            TableError: The table does not fit the plan.
        """
        plan = plan.without_unused_secrets()
        if pairs or plan.other_labels:
            refuse_uncountable(plan, "summarize without pairs" if pairs and not plan.other_labels else "list one label")
        _refuse_of_records(plan)
        whole = CountedTable.of(opened, plan)
        refuse_without_order(plan.promised_names, whole, plan)
        counted = shown_records(whole, plan) if shared_only and merging is None and not all_records else whole
        _refuse_labels(opened, whole, counted, plan)
        hidden = whole.records - counted.records
        merging = None if merging is None else merging.of_people(counted.rows)
        merged = MergedTable(counted) if merging is None else merged_table(counted, plan.label, merging)
        counted = merged.counted
        plan = replace(plan, attributes=tuple(attribute.attribute for attribute in counted.attributes))
        masked: Sequence[Mapping[str, MaskedDomain]] = [
            counted.masked_domains(attribute) for attribute in counted.attributes
        ]
        refuse_undone_secrets(counted, masked)
        domains = [PublishedDomain.exact(attribute.domain) for attribute in counted.attributes]
        if shared_only:
            both, least = zip(counted.attributes, masked, strict=True), merging.least if merging else 0
            listed = [_shared_domain(counted, plan, *each, least) for each in both]
            domains, masked = [domain for domain, _ in listed], [each for _, each in listed]
        return cls(merged, plan, masked, domains, hidden, memory_limit, pairs, shared_only)

    @property
    def counted(self) -> CountedTable:
        """The table, after merging."""
        return self.merged.counted

    def told(self, progress: Progress) -> PairsTold:
        """Return the published associations of pairs.

        Raises:
            TableError: The table has more pairs of values than an entry can hold.
        """
        if not self.counts_pairs:
            return PairsTold()
        told = pair_tables(
            self.counted,
            self.plan,
            self.masked,
            self.domains,
            progress,
            shared_only=self.shared_only,
            of_attributes=self.pairs,
        )
        tasks = label_tasks(self.counted, self.plan)
        told = replace(told, with_others=self._with_others(tasks))
        if not self.pairs:
            return told
        trace, *others = unmasked_traces(self.counted, {self.plan.label: self.counted, **tasks}, self._numbers)
        of_others = {
            name: replace(told.of_others[name], trace=other) for name, other in zip(tasks, others, strict=True)
        }
        return replace(told, trace=trace, of_others=of_others)

    @cached_property
    def _numbers(self) -> Mapping[str, FloatArray]:
        return numbers_by_label(self.counted, self.plan)

    def _scores(self, label: str) -> dict[str, Any] | None:
        """Return the scores of a label, one for each value that is counted; `None` if it has none."""
        if label == self.plan.label:
            return scores_of(self.counted, self.plan, label, self.counted.attributes[0].counts.label_histogram())
        return scores_of(self.counted, self.plan, label, self.counted.attribute(label).counts.histogram())

    @property
    def counts_pairs(self) -> bool:
        """Whether the entry has pairs: those of attributes, or those with other labels."""
        return self.pairs or bool(self.plan.other_labels)

    def _with_others(self, tasks: Mapping[str, CountedTable]) -> dict[tuple[str, str], Counts]:
        """Return the counts (listed values, label values) of each attribute with each other label."""
        default = self.plan.label
        return {
            (one.attribute.name, label): one.counts.fold(domain.partition.groups, domain.partition.size)
            for label, task in tasks.items()
            for one, domain in zip(task.attributes, self.domains, strict=True)
            if one.attribute.name != default
        }

    def entry(self, name: str, told: PairsTold) -> EntryDocument:
        """Return the entry with these associations of pairs."""
        plan, each = self.plan, zip(self.counted.attributes, self.masked, self.domains, strict=True)
        label, attributes = self._label(), [self._attribute(*parts) for parts in each]
        document = {
            "format": 1,
            "name": name,
            **plan.about,
            "records": self.counted.records,
            **self._unit(),
            "label": label,
            "attributes": attributes,
            **({"pairs": told.pairs} if self.counts_pairs else {}),
            **({} if told.trace is None else {"joint_trace": self._joint_trace(told.trace.value, label, attributes)}),
            **self._of_labels(told),
            **({"format": 4} if "scores" in label or "maskings" in label else {}),
            "configurations": [
                self._configuration(each, shows_label="maskings" in label) for each in plan.configurations
            ],
        }
        entry = entry_of(document, plan.source)
        return entry if self.shared_only else with_shown_labels(entry)  # controls start from all labels

    def _label(self) -> dict[str, Any]:
        counted, scores = self.counted, self._scores(self.plan.label)
        histogram = counted.attributes[0].counts.label_histogram().tolist()
        stated: dict[str, Any] = {} if scores is None else {"scores": scores}
        stated |= {"maskings": maskings} if (maskings := list(self._label_maskings())) else {}
        return {"name": self.plan.label, "domain": list(counted.label.texts), "histogram": histogram, **stated}

    def _label_maskings(self) -> Iterator[dict[str, Any]]:
        """Yield the maskings of the label; one that leaves a single class is none, and a configuration cannot use it.

        Raises:
            TableError: A configuration uses one.
        """
        name, label = self.plan.label, self.counted.masked_label(self.plan)
        used = {each.maskings.get(name) for each in self.plan.configurations}
        masked = {} if label is None else self.counted.masked_domains(label)
        for masking in () if label is None else label.attribute.maskings:
            one = masked[masking.id]
            if len(one.texts) > 1:
                function = {"name": masking.function.name, "parameters": masking.function.parameters()}
                function = without_values(function) if self.shared_only else function
                yield {"id": masking.id, "function": function, "domain": [*one.texts], "mapping": [*one.mapping]}
            elif masking.id in used:
                fault = f"{masking.id!r} leaves only {shortened(one.texts[0])} of the label {name!r}"
                raise TableError(f"{masking.place}: {fault}, so nothing is left to predict; use a finer masking")

    def _unit(self) -> dict[str, Any]:
        """Return the members of an entry that counts people, which replace its format."""
        people = self.counted.people
        if people is None:
            return {}
        return {"format": 3, "unit": "person", "people": people.number, "rows_per_person": people.rows}

    def _of_labels(self, told: PairsTold) -> dict[str, Any]:
        """Return the members of an entry with several labels, which replace its format."""
        if not self.plan.other_labels:
            return {}
        traces = {
            name: {"value": max(of.trace.value, self._largest_part(name, told))}
            for name, of in told.of_others.items()
            if of.trace is not None
        }
        return {"format": 4, "labels": list(self.plan.labels), **({"joint_traces": traces} if traces else {})}

    def _largest_part(self, label: str, told: PairsTold) -> float:
        """Return the largest adjusted trace of a single published table with this label."""
        evidence = []
        for one, masked, published in zip(self.counted.attributes, self.masked, self.domains, strict=True):
            name = one.attribute.name
            if name == label:  # the default label is in its place
                tables = [one.counts.dense().T]
            else:
                listed = JointCounts.of(told.with_others[name, label])
                groups = [(each.partition().per_group_of(published.partition), each) for each in masked.values()]
                tables = [listed.fold(places, len(each.texts)) for places, each in groups]
                tables += [listed.dense()] if self._needs_unmasked(name) else []
            numbers = self._numbers.get(label)
            evidence += [
                AttributeEvidence(name, len(table), table.sum(axis=0), None, table, (), label_scores=numbers)
                for table in tables
            ]
        return largest_part(evidence)

    def _joint_trace(
        self, trace: float, label: Mapping[str, Any], attributes: Sequence[Mapping[str, Any]]
    ) -> dict[str, float]:
        """Return the trace of the unmasked table: after the adjustment, a masked attribute may seem to tell more."""
        counted = content_of({"records": self.counted.records, "label": label, "attributes": attributes})
        return {"value": max(trace, largest_part(evidence_of(counted)))}

    def _attribute(
        self, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], published: PublishedDomain
    ) -> dict[str, Any]:
        maskings = [self._masking(counted, masking, masked, published) for masking in counted.attribute.maskings]
        return {
            "name": counted.attribute.name,
            "type": str(counted.domain.value_type),
            "domain": list(published.texts),
            **discretization_of(counted, self.counted.table.reading(counted.attribute.name), published),
            **({} if counted.attribute.is_secret else self._unmasked_counts(counted, published)),
            "maskings": maskings,
            **self._scores_of_values(counted, published),
        }

    def _scores_of_values(self, counted: CountedAttribute, published: PublishedDomain) -> dict[str, Any]:
        """Return the scores of an attribute that is a label: of values that are listed as one, their plain mean.

        A mean by their records would tell the shares of values that nothing else tells apart.
        """
        name = counted.attribute.name
        scores = self._scores(name) if name in self.plan.other_labels else None
        if scores is None:
            return {}
        groups = published.partition.groups
        means = np.bincount(groups, scores["values"]) / np.bincount(groups)
        return {"scores": {**scores, "values": means.tolist()}}

    def _unmasked_counts(self, counted: CountedAttribute, published: PublishedDomain) -> dict[str, Any]:
        """Return the histogram, and the joint counts if the attribute is released unmasked.

        Without its joint counts, an unmasked attribute would look useless.
        """
        joint = counted.counts.fold(published.partition.groups, published.partition.size)
        histogram = {"histogram": joint.sum(axis=1).tolist()}
        return {**histogram, "joint": joint.tolist()} if self._needs_unmasked(counted.attribute.name) else histogram

    def _needs_unmasked(self, name: str) -> bool:
        return self.shared_only or name in self.plan.other_labels or self.plan.shares_unmasked(name)

    def _masking(
        self,
        counted: CountedAttribute,
        masking: Masking,
        masked: Mapping[str, MaskedDomain],
        published: PublishedDomain,
    ) -> dict[str, Any]:
        if masking.is_random:
            draw = self.merged.draw(counted, masking, self.plan.seed)
            return drawn_masking(masking, draw, published, self._listed(counted, draw.texts, draw.joint()))
        if masking.is_elsewhere:
            elsewhere = count_elsewhere(self.counted, counted, masking, self.plan.label, self.memory_limit)
            listed = self._listed(counted, elsewhere.texts, elsewhere.joint)
            return masking_elsewhere(masking, elsewhere, self.counted.records, listed)
        function = self.counted.function(counted, masking)
        stated = masking_by_value(counted, masking.id, function, masked[masking.id], published)
        return {**stated, "function": without_values(stated["function"])} if self.shared_only else stated

    def _listed(self, counted: CountedAttribute, texts: Sequence[str], joint: Counts) -> ListedMasked:
        """Return the listed masked values that no mapping leads to."""
        if not self.shared_only:
            return ListedMasked.exact(texts)
        binned = isinstance(self.counted.table.reading(counted.attribute.name), Binned)
        return ListedMasked.common(texts, joint, counted, binned=binned)

    def _configuration(self, configuration: Configuration, *, shows_label: bool) -> dict[str, Any]:
        """Return a configuration; its left-out records count only if another configuration shows them.

        `shows_label`: whether it says how it shows the label; if no configuration masks it, none does.
        """
        chosen = {name: one for name, one in configuration.maskings.items() if shows_label or name != self.plan.label}
        vouched, suppressed = configuration.privacy, configuration.suppressed
        if self.shared_only:
            rounded = {name: two_digits(name, number) for name, number in vouched.items()}
            vouched = strictest(rounded, configuration.promised)
        privacy: dict[str, Any] = {"privacy": dict(vouched)} if vouched else {}
        if configuration.by_label:
            privacy["privacy_by_label"] = {name: dict(each) for name, each in configuration.by_label.items()}
        left_out = {} if suppressed is None else {"suppressed": max(0, suppressed - self.hidden)}
        cells = configuration.suppressed_cells
        starred = {} if cells is None else {"suppressed_cells": cells}
        return {"id": configuration.id, "maskings": chosen, **privacy, **left_out, **starred}


def _refuse_labels(opened: Table, whole: CountedTable, counted: CountedTable, plan: Plan) -> None:
    """Refuse a label with one value in all records that are counted, and another label with too many values.

    Raises:
        TableError: There is such a label.
    """
    before, after = (
        {plan.label: table.label, **{each.attribute.name: each.domain for each in table.attributes}}
        for table in (whole, counted)
    )
    for label in (name for name in plan.other_labels if len(after[name]) > MOST_CLASSES):
        raise TableError(
            f"{opened.name}: the label {label!r} has {len(after[label]):,} different values, more than {MOST_CLASSES}; "
            "put numbers into bins with `discretize`, or delete it from `labels`"
        )
    for label in (name for name in plan.labels if len(after[name]) == 1):
        where = " that a release shows" if len(before[label]) > 1 else ""
        only = shortened(after[label].texts[0])
        raise TableError(
            f"{opened.name}: the label {label!r} is {only} in every record{where}; name another in the plan"
        )


def _refuse_of_records(plan: Plan) -> None:
    """Refuse to count people in a table masked elsewhere, which says nothing of them.

    Raises:
        PlanError: The plan names a person column, and has such a table.
    """
    if plan.person is None:
        return
    for attribute in plan.attributes:
        for masking in attribute.maskings:
            if masking.is_elsewhere:
                fault = "a table masked elsewhere does not say whose its records are; remove it, or omit the person"
                raise PlanError(f"{masking.place}: {fault}")


def _shared_domain(
    table: CountedTable, plan: Plan, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], least: int
) -> tuple[PublishedDomain, Mapping[str, MaskedDomain]]:
    """Return the coarsest domain that the shared maskings of an attribute need, and the listed masked values.

    No count is below `least`. A masking with a secret mapping tells nothing about the domain. A random one has a
    transition from each value. One that leaves values nearly unique is listed as an unmasked attribute is; others
    are listed without the rare values that they leave as they are.
    """
    attribute = counted.attribute
    if attribute.name in plan.other_labels:  # as the default label lists its values
        return PublishedDomain.exact(counted.domain), masked
    by_value = [masking.id for masking in attribute.maskings if masking.is_by_value and not masking.is_secret]
    unique = [] if least else [each for each in by_value if is_nearly_unique(counted, masked[each])]
    binned = isinstance(table.table.reading(attribute.name), Binned)
    other = {each: masked[each] for each in by_value if each not in unique}
    if not least:
        other = {name: listed_without_rare(counted, each, binned=binned) for name, each in other.items()}
    shared = [each.partition() for each in other.values()]
    by_single_values = bool(unique) or any(masking.is_random or masking.is_secret for masking in attribute.maskings)
    needed = by_single_values or plan.shares_unmasked(attribute.name)
    published = PublishedDomain.coarsest(counted, shared, unmasked=needed, binned=binned, least=least)
    listed = {each: listed_as_unmasked(counted, masked[each], published, binned=binned) for each in unique}
    return published, {**masked, **other, **listed}
