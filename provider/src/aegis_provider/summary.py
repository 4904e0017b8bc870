"""From a table and its plan to a catalogue entry: counts, never a record."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.counts import JointCounts
from aegis_provider.counting.elsewhere import count_elsewhere
from aegis_provider.counting.merged_table import MergedTable, Merging, merged_table
from aegis_provider.counting.pair_cells import LabelSums
from aegis_provider.counting.pair_tables import (
    PairName,
    PairsTold,
    pair_tables,
    refuse_uncountable,
    refuse_undone_secrets,
)
from aegis_provider.counting.published_domain import PublishedDomain
from aegis_provider.counting.stated_maskings import (
    discretization_of,
    drawn_masking,
    masking_by_value,
    masking_elsewhere,
    without_values,
)
from aegis_provider.entry_file import entry_of
from aegis_provider.errors import PlanError, TableError, shortened
from aegis_provider.plan.model import Configuration, Masking, Plan
from aegis_provider.privacy.criterion import two_digits
from aegis_provider.privacy.shown_records import shown_records
from aegis_provider.progress import Progress
from aegis_provider.table import Source, Table, open_table
from aegis_provider.table.discretization import Binned
from aegis_sdk.wire import EntryDocument

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def summarize(
    table: Source,
    plan: Plan,
    *,
    name: str,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    pairs: bool = False,
    progress: Progress = lambda _done, _records: None,
) -> EntryDocument:
    """Return the catalogue entry (format 1) of the table with its exact counts.

    `prepare_entry` makes the entry to publish. For every attribute, the entry has its domain, its histogram, and for
    every masking the mapping and the joint counts with the label. The unmasked joint counts are left out unless a
    configuration leaves the attribute unmasked. A random masking has its transition matrix, and the joint counts of
    the draw that the plan's seed makes. A masking whose mapping is secret has its joint counts, and its attribute has
    no histogram. A masking made elsewhere has the joint counts of that table.

    Args:
        table: The table.
        plan: The plan of the table.
        name: The name of the entry: a-z 0-9 - _ .
        delimiter: Separator of the fields of a CSV table.
        memory_limit: DuckDB's memory; the rest goes to disk.
        pairs: Whether to count pairs too, which the measure `joint` needs: the joint counts of every two masked
            attributes that a configuration uses together, except those that can be computed from others.
        progress: Called with (done, total), counting records.

    Raises:
        PlanError: The name is unusable, the requested pairs cannot be counted, or the plan has what no entry may
            contain.
        TableError: The table does not fit the plan, or has more pairs of values than an entry can hold.
    """
    _refuse_name(name)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        summary = _Summary.of(opened, plan, memory_limit, pairs=pairs)
        return summary.entry(name, summary.told(progress))


@dataclass(frozen=True, eq=False)
class SharedSummary:
    """The counts of what configurations share, and nothing finer: no control has been applied to them yet.

    Attributes:
        entry: The entry. Where the values of an attribute are not secret, it has the joint counts of its domain, even
            if no configuration shares it unmasked: what controls do to counts begins there.
        merged: The table, and what was merged in it before it was counted.
        hidden: How many records no release shows; they are not counted.
        sums: By pair, what its chi-square with the label follows from: noise is added to these.
    """

    entry: EntryDocument
    merged: MergedTable
    hidden: int
    sums: Mapping[PairName, LabelSums]


def summarize_shared(
    table: Source,
    plan: Plan,
    *,
    name: str,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    pairs: bool = False,
    merging: Merging | None = None,
    progress: Progress = lambda _done, _records: None,
) -> SharedSummary:
    """Count what the configurations of a plan share: only records that some release shows, and only coarse domains.

    Maskings that no configuration uses are left out, and numbers that configurations vouch for are rounded to two
    digits, so that they promise no more. Arguments and errors are those of `summarize`. With `merging`, maskings are
    merged first. All records are counted then, since a merged masking has to say what becomes of every value.
    """
    _refuse_name(name)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        summary = _Summary.of(
            opened, plan.with_shared_maskings(), memory_limit, pairs=pairs, shared_only=True, merging=merging
        )
        told = summary.told(progress)
        return SharedSummary(summary.entry(name, told), summary.merged, summary.hidden, told.sums)


@dataclass(frozen=True, eq=False)
class CountedDomains:
    """The values that an entry lists, and their counts.

    Attributes:
        label: The values of the label.
        domains: By attribute, the listed values.
        counts: By attribute, the joint counts of the listed values and the label.
        records: How many records are counted.
    """

    label: Sequence[str]
    domains: Mapping[str, Sequence[str]]
    counts: Mapping[str, JointCounts]
    records: int


def count_domains(
    opened: Table, plan: Plan, *, shared_only: bool = False, merging: Merging | None = None
) -> CountedDomains:
    """Count the values that an entry lists: all, or only what configurations share, after merging if that is asked for.

    Raises:
        PlanError: As for `summarize`.
        TableError: As for `summarize`.
    """
    plan = plan.with_shared_maskings() if shared_only else plan
    summary = _Summary.of(opened, plan, "1GB", pairs=False, shared_only=shared_only, merging=merging)
    each = {
        one.attribute.name: (one, domain)
        for one, domain in zip(summary.counted.attributes, summary.domains, strict=True)
    }
    return CountedDomains(
        summary.counted.label.texts,
        {name: domain.texts for name, (_, domain) in each.items()},
        {name: one.counts.folded(domain.partition) for name, (one, domain) in each.items()},
        summary.counted.records,
    )


def _refuse_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise PlanError(
            f"the name {name!r} must be 1 to 100 characters of a-z 0-9 - _ . and begin with a letter or digit"
        )


@dataclass(frozen=True, eq=False)
class _Summary:
    """A counted table, on the way to its entry.

    Attributes:
        merged: The table, and what was merged in it.
        plan: The plan, without secret maskings that no configuration uses.
        masked: For each attribute, what its maskings make of its values.
        domains: For each attribute, the values that the entry lists.
        hidden: How many records are not counted.
        pairs: Whether to count pairs.
        shared_only: Whether the entry tells only what configurations share.
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
        merging: Merging | None = None,
    ) -> "_Summary":
        """Count a table.

        Raises:
            PlanError: The requested pairs cannot be counted, or the plan has what no entry may contain.
            TableError: The table does not fit the plan.
        """
        plan = plan.without_unused_secrets()
        if pairs:
            refuse_uncountable(plan)
        whole = CountedTable.of(opened, plan)
        counted = shown_records(whole, plan) if shared_only and merging is None else whole
        if len(counted.label) == 1:
            where = " that a release shows" if len(whole.label) > 1 else ""
            only = shortened(counted.label.texts[0])
            raise TableError(
                f"{opened.name}: the label {plan.label!r} is {only} in every record{where}; name another in the plan"
            )
        hidden = whole.records - counted.records
        merged = MergedTable(counted) if merging is None else merged_table(counted, plan.label, merging)
        counted = merged.counted
        plan = replace(plan, attributes=tuple(each.attribute for each in counted.attributes))
        masked = [counted.masked_domains(each) for each in counted.attributes]
        refuse_undone_secrets(counted, masked)
        domains = [PublishedDomain.exact(each.domain) for each in counted.attributes]
        if shared_only:
            both, least = zip(counted.attributes, masked, strict=True), merging.least if merging else 0
            domains = [_shared_domain(counted, plan, *each, least) for each in both]
        return cls(merged, plan, masked, domains, hidden, memory_limit, pairs, shared_only)

    @property
    def counted(self) -> CountedTable:
        """The table, after merging."""
        return self.merged.counted

    def told(self, progress: Progress) -> PairsTold:
        """Return what is told of pairs.

        Raises:
            TableError: The table has more pairs of values than an entry can hold.
        """
        if not self.pairs:
            return PairsTold()
        return pair_tables(self.counted, self.plan, self.masked, self.domains, progress)

    def entry(self, name: str, told: PairsTold) -> EntryDocument:
        """Return the entry with what is told of pairs."""
        plan, each = self.plan, zip(self.counted.attributes, self.masked, self.domains, strict=True)
        document = {
            "format": 1,
            "name": name,
            **plan.about,
            "records": self.counted.records,
            "label": _label(self.counted, plan.label),
            "attributes": [self._attribute(*parts) for parts in each],
            **({"pairs": told.pairs} if self.pairs else {}),
            "configurations": [self._configuration(each) for each in plan.configurations],
        }
        return entry_of(document, plan.source)

    def _attribute(
        self, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], published: PublishedDomain
    ) -> dict[str, Any]:
        maskings = [self._masking(counted, each, masked, published) for each in counted.attribute.maskings]
        return {
            "name": counted.attribute.name,
            "type": str(counted.domain.value_type),
            "domain": list(published.texts),
            **discretization_of(counted, self.counted.table.reading(counted.attribute.name), published),
            **({} if counted.attribute.is_secret else self._unmasked_counts(counted, published)),
            "maskings": maskings,
        }

    def _unmasked_counts(self, counted: CountedAttribute, published: PublishedDomain) -> dict[str, Any]:
        """Return the histogram, and the joint counts if the attribute is released unmasked.

        Without its joint counts, an unmasked attribute would look useless.
        """
        joint = counted.counts.fold(published.partition.groups, published.partition.size)
        histogram = {"histogram": joint.sum(axis=1).tolist()}
        needed = self.shared_only or self.plan.shares_unmasked(counted.attribute.name)
        return {**histogram, "joint": joint.tolist()} if needed else histogram

    def _masking(
        self,
        counted: CountedAttribute,
        masking: Masking,
        masked: Mapping[str, MaskedDomain],
        published: PublishedDomain,
    ) -> dict[str, Any]:
        if masking.is_random:
            return drawn_masking(masking, self.counted.draw(counted, masking, self.plan.seed), published)
        if masking.is_elsewhere:
            elsewhere = count_elsewhere(self.counted, counted, masking, self.plan.label, self.memory_limit)
            return masking_elsewhere(masking, elsewhere, self.counted.records)
        function = self.counted.function(counted, masking)
        stated = masking_by_value(counted, masking.id, function, masked[masking.id], published)
        return {**stated, "function": without_values(stated["function"])} if self.shared_only else stated

    def _configuration(self, configuration: Configuration) -> dict[str, Any]:
        """Return a configuration; of the records that it leaves out, only those that others show are counted."""
        vouched, suppressed = configuration.privacy, configuration.suppressed
        if self.shared_only:
            vouched = {name: two_digits(name, number) for name, number in vouched.items()}
        privacy = {"privacy": dict(vouched)} if vouched else {}
        left_out = {} if suppressed is None else {"suppressed": max(0, suppressed - self.hidden)}
        return {"id": configuration.id, "maskings": dict(configuration.maskings), **privacy, **left_out}


def _shared_domain(
    table: CountedTable, plan: Plan, counted: CountedAttribute, masked: Mapping[str, MaskedDomain], least: int
) -> PublishedDomain:
    """Return the coarsest domain that the shared maskings of an attribute need, without counts below `least`.

    A masking with a secret mapping tells nothing about the domain. A random one has a transition from each value.
    """
    attribute = counted.attribute
    shared = [masked[each.id].partition() for each in attribute.maskings if each.is_by_value and not each.is_secret]
    by_single_values = any(each.is_random or each.is_secret for each in attribute.maskings)
    needed = by_single_values or plan.shares_unmasked(attribute.name)
    binned = isinstance(table.table.reading(attribute.name), Binned)
    return PublishedDomain.coarsest(counted, shared, unmasked=needed, binned=binned, least=least)


def _label(counted: CountedTable, name: str) -> dict[str, Any]:
    histogram = counted.attributes[0].counts.label_histogram()
    return {"name": name, "domain": list(counted.label.texts), "histogram": histogram.tolist()}
