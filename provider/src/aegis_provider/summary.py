"""Summarize a table into a catalogue entry: counts, never a record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aegis_provider.counted_entry import CountedEntry
from aegis_provider.counting.counts import JointCounts
from aegis_provider.counting.merged_table import MergedTable, Merging
from aegis_provider.counting.pair_tables import (
    PairsTold,
)
from aegis_provider.counting.telling_names import TellingNames, telling_names
from aegis_provider.entry import refuse_name
from aegis_provider.plan.model import Plan
from aegis_provider.plan.prices import with_prices
from aegis_provider.processes import Progress
from aegis_provider.table import Source, Table, delimiter_in, open_table
from aegis_sdk.wire import EntryDocument


def summarize(
    table: Source,
    plan: Plan,
    *,
    name: str,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    pairs: bool = False,
    progress: Progress = lambda _done, _records: None,
) -> EntryDocument:
    """Return the catalogue entry of the table with its exact counts: of format 3 if the plan says whose a record is.

    `prepare_entry` makes the entry to publish. For every attribute, the entry has the domain, the histogram, and for
    every masking the mapping and the joint counts with the label. Unmasked joint counts are included only if a
    configuration leaves the attribute unmasked. A random masking has its transition matrix and the joint counts of the
    draw by the plan's seed. A masking with a secret mapping has joint counts, and its attribute has no histogram. A
    masking made elsewhere has the joint counts of that table.

    Args:
        name: The name of the entry: a-z 0-9 - _ .
        delimiter: The delimiter of a CSV table; by default, the one in its header.
        memory_limit: DuckDB's memory; the rest goes to disk.
        pairs: Whether to count pairs, which the measure `joint` needs: the joint counts of any two masked attributes of
            one configuration, except those computable from others.
        progress: Called with (done, total), counting records.

    Raises:
        PlanError: The name is unusable, the requested pairs cannot be counted, or the plan has what no entry may
            contain.
        TableError: The table does not fit the plan, or has more pairs of values than an entry can hold.
    """
    how = {"delimiter": delimiter or delimiter_in(table, plan.label), "memory_limit": memory_limit}
    return summarize_in_doubt(table, plan, name=name, pairs=pairs, progress=progress, **how)[0]


def summarize_in_doubt(
    table: Source | Table,
    plan: Plan,
    *,
    name: str,
    delimiter: str,
    memory_limit: str,
    pairs: bool,
    progress: Progress,
) -> tuple[EntryDocument, tuple[TellingNames, ...], tuple[str, ...]]:
    """Return the entry of `summarize`, the names that disclose rare values, and a sentence for each doubtful type."""
    refuse_name(name)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        summary = CountedEntry.of(opened, plan, memory_limit, pairs=pairs)
        telling, doubtful = tuple(telling_names(summary.counted)), tuple(summary.counted.doubtful_types(plan))
        return with_prices(summary.entry(name, summary.told(progress)), plan.prices), telling, doubtful


@dataclass(frozen=True, eq=False)
class SharedSummary:
    """The counts of what configurations share, and nothing finer, before any control.

    Attributes:
        entry: The entry. Unless the values of an attribute are secret, it has the joint counts of its domain, even if
            no configuration shares it unmasked: controls start from these.
        merged: The table after merging, and its merges.
        hidden: Number of records that no release shows; they are not counted.
        told: The published associations of pairs, and what controls need to change them.
        telling: The names of masked values that tell raw values of few records.
        doubtful_types: A sentence for each doubtful type.
    """

    entry: EntryDocument
    merged: MergedTable
    hidden: int
    told: PairsTold
    telling: tuple[TellingNames, ...]
    doubtful_types: tuple[str, ...]


def summarize_shared(
    table: Source | Table,
    plan: Plan,
    *,
    name: str,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    pairs: bool = False,
    all_records: bool = False,
    merging: Merging | None = None,
    progress: Progress = lambda _done, _records: None,
) -> SharedSummary:
    """Count what the configurations of a plan share: only records that some release shows, and only coarse domains.

    Unused maskings are left out. Promises are rounded to two digits, never upwards. Arguments and errors are those of
    `summarize`. With `merging`, maskings are merged first, and all records are counted, since a merged masking must map
    every value. For noise, `all_records` counts all, too: one more record can bring a class to its k, and so all its
    records into the release.
    """
    refuse_name(name)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        summary = CountedEntry.of(
            opened,
            plan.with_shared_maskings(),
            memory_limit,
            pairs=pairs,
            shared_only=True,
            all_records=all_records,
            merging=merging,
        )
        told = summary.told(progress)
        telling, doubtful = tuple(telling_names(summary.counted)), tuple(summary.counted.doubtful_types(plan))
        return SharedSummary(summary.entry(name, told), summary.merged, summary.hidden, told, telling, doubtful)


@dataclass(frozen=True, eq=False)
class CountedDomains:
    """The values that an entry lists, and their counts.

    Attributes:
        domains: By attribute, the listed values.
        counts: By attribute, the joint counts of the listed values and the label.
        records: Number of counted records.
    """

    label: Sequence[str]
    domains: Mapping[str, Sequence[str]]
    counts: Mapping[str, JointCounts]
    records: int


def count_domains(
    opened: Table,
    plan: Plan,
    *,
    shared_only: bool = False,
    all_records: bool = False,
    merging: Merging | None = None,
) -> CountedDomains:
    """Count the values that an entry lists, all or only those that configurations share, after any `merging`.

    Raises:
        PlanError: As for `summarize`.
        TableError: As for `summarize`.
    """
    plan = plan.with_shared_maskings() if shared_only else plan
    which: dict[str, Any] = {"shared_only": shared_only, "all_records": all_records, "merging": merging}
    summary = CountedEntry.of(opened, plan, "1GB", pairs=False, **which)
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
