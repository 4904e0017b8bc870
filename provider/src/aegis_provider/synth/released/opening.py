"""Reads a release from a file, its original table, and the table's held-out records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.errors import TableError, shortened
from aegis_provider.plan.model import IDENTITY, Attribute, Configuration, Plan
from aegis_provider.records import (
    MOST_RECORDS,
    Records,
    drawn,
    held_out_of,
    held_out_share,
    learnt,
    read_records,
    rows_of,
)
from aegis_provider.release.blocks import Release, blocks_of
from aegis_provider.synth.released.meanings import Members
from aegis_provider.synth.released.released import Released
from aegis_provider.synth.released.spellings import named_alike
from aegis_provider.table import DELIMITERS, Source, Table, delimiter_in, open_table
from aegis_provider.table.formulas import with_plain_header
from aegis_provider.table.notation import plainly


def meanings_by_plan(
    table: Table, plan: Plan, configuration: Configuration, records: Records
) -> Mapping[str, Mapping[str, Members]]:
    """Return by column the values that a configuration masks to each text in this table.
    Columns masked elsewhere are omitted, since they have no mapping. So are values absent from `records`.

    Raises:
        TableError: The table does not fit the plan, or changes while it is read.
    """
    elsewhere = masked_elsewhere(plan, configuration)
    chosen = replace(configuration, maskings={**configuration.maskings, **dict.fromkeys(elsewhere, "drop")})
    masked = {name for name, choice in chosen.maskings.items() if choice not in {IDENTITY, "drop"}}
    release = Release.of(CountedTable.of(table, plan), plan, chosen).only(masked)
    pairs: dict[str, set[tuple[str, str]]] = {name: set() for name in release.names}
    if not release.names:
        return {}
    for original, block in zip(blocks_of(table.batches(release.names)), release.blocks(), strict=True):
        for place, name in enumerate(release.names):
            pairs[name] |= _pairs(original.column(place), block.column(place))
    return {name: _members(found, records, name) for name, found in pairs.items()}


def masked_elsewhere(plan: Plan, configuration: Configuration) -> Sequence[str]:
    """Return the columns that a configuration takes from tables masked elsewhere."""
    maskings = {
        attribute.name: attribute.masking(configuration.maskings[attribute.name]) for attribute in plan.attributes
    }
    return [name for name, masking in maskings.items() if masking is not None and masking.is_elsewhere]


def _pairs(values: pa.Array, texts: pa.Array) -> set[tuple[str, str]]:
    distinct = pa.table({"value": values, "text": texts}).group_by(["value", "text"]).aggregate([])
    return set(zip(distinct["value"].to_pylist(), distinct["text"].to_pylist(), strict=True))


def _members(pairs: set[tuple[str, str]], records: Records, name: str) -> Mapping[str, Members]:
    places = records.column(name).domain.places
    found: dict[str, list[int]] = {}
    for value, text in pairs:
        found.setdefault(text, [])
        if value in places:
            found[text].append(places[value])
    return {text: np.unique(np.array(members, dtype=np.intp)) for text, members in found.items()}


FEWEST = 10
"""With fewer real records, a release cannot be judged."""

SEEN_ALL: Final = "a masked table has seen all records, so none can be held out"


@dataclass(frozen=True, eq=False)
class Opened:
    """A release and the records of its table.

    Attributes:
        released: The release, sampled if it is large.
        records: The records of the table, sampled if it is large.
        seen: The records that the release was made from.
        held_out: The held-out records; may be empty.
        share: The share of held-out records.
        label: The label; by default the last common column.
        size: The number of records of the release.
        of_records: The number of records of the table.
        lacking: The columns of the table or the plan that the release lacks.
        is_masked: Whether the release is known to be masked, record by record.
    """

    released: Released
    records: Records
    seen: Records
    held_out: Records
    share: float
    label: str
    size: int
    of_records: int
    lacking: tuple[str, ...]
    is_masked: bool

    @property
    def is_as_large(self) -> bool:
        """Whether the release has about as many records as the table, although some should be held out."""
        held_out = self.of_records * len(self.held_out) / len(self.records)
        return abs(self.size - self.of_records) < held_out / 2


def open_release(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    label: str | None = None,
    named: Sequence[str] = (),
    holdout: float | None = None,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
) -> Opened:
    """Read a release and its original table.

    Args:
        release: The release: anything that `open_table` accepts.
        table: The table.
        plan: The plan of the release. Held-out records are then those that the generator held out.
        configuration: The configuration of the plan that masked the release.
        label: The label, without a plan.
        named: Further columns that both must have, without a plan.
        holdout: The share of records held out from the release; by default 0 if a configuration is named or a released
            value stands for several, as only in masked tables, otherwise that of the plan, or 0.2.
        delimiter: The delimiter of CSV files; by default, the one in each header.
        memory_limit: The memory limit of DuckDB.
        seed: The seed for sampling a large release.

    Raises:
        PlanError: The plan has no such configuration, or states another holdout.
        TableError: A table cannot be read, is too small, lacks a column, or shares none with the other; or a masked
            release has seen the records that should be held out.
    """
    column = plan.label if plan is not None else label or next(iter(named), "")
    marks = [delimiter or delimiter_in(each, column) for each in (release, table)]
    with (
        open_table(release, delimiter=marks[0], memory_limit=memory_limit) as given,
        open_table(table, delimiter=marks[1], memory_limit=memory_limit) as real,
    ):
        original = real if plan is None else plainly(real, plan.writings)
        masked = with_plain_header(given, original.columns)
        _refuse_other_delimiters(original, masked)
        attributes, label = _columns(original, masked, plan, label, named)
        alike = named_alike([*(attribute.name for attribute in attributes), label], masked.columns)
        records = read_records(original, attributes, label)
        if len(records) < FEWEST:
            raise TableError(f"{original.name}: {len(records)} records; at least {FEWEST} are needed")
        known: Mapping[str, Mapping[str, Members]] = {}
        opaque: Sequence[str] = ()
        if plan is not None and configuration is not None:
            chosen = plan.configuration(configuration)
            known, opaque = meanings_by_plan(original, plan, chosen, records), masked_elsewhere(plan, chosen)
        common = [name for name in records.names if name in alike]
        if not common:
            raise TableError(f"{masked.name}: no column of {original.name} is in it; give a release of that table")
        size = masked.records()
        if not size:
            raise TableError(f"{masked.name}: no record; give a release that has some")
        rows = drawn(size, MOST_RECORDS, seed)
        texts = rows_of(masked.batches([alike[each] for each in common]), rows).rename_columns(common)
        released = replace(
            Released.of(records, texts, known).stated(opaque),
            not_read=tuple(each for each in masked.columns if each not in alike.values()),
        )
        is_masked = configuration is not None or released.is_masked
        share = 0.0 if is_masked and holdout is None else held_out_share(plan, holdout)
        held_out = held_out_of(records if plan is None else learnt(records, plan), share)
        seen = records.take(~held_out)
        if len(seen) < FEWEST:
            raise TableError(f"{original.name}: {len(seen)} records are not held out; lower --holdout")
        lacking = tuple(name for name in records.names if name not in common)
        of_records = original.records()
        opened = Opened(
            released, records, seen, records.take(held_out), share, label, size, of_records, lacking, is_masked
        )
        if is_masked and share and (configuration is None or opened.is_as_large):
            raise TableError(f"{masked.name}: {SEEN_ALL}; leave --holdout out")
        return opened


def _refuse_other_delimiters(original: Table, masked: Table) -> None:
    """Refuse tables with at most one common column if either header seems to have another delimiter."""
    if named_alike(original.columns, masked.columns) and len(original.columns) > 1:
        return
    both = ((original, masked), (masked, original))
    marks = {one.name: mark for one, other in both for name in other.columns if (mark := one.likely_delimiter(name))}
    for one, other in both:
        if mark := marks.get(one.name):
            word, option = DELIMITERS[mark]
            is_mixed = other.delimiter is not None and marks.get(other.name) != mark
            mend = f", unlike {other.name}; write both alike" if is_mixed else f"; add --delimiter {option}"
            raise TableError(f"{one.name}: looks separated by {word}{mend}")


def _columns(
    original: Table, masked: Table, plan: Plan | None, label: str | None, named: Sequence[str]
) -> tuple[Sequence[Attribute], str]:
    """Return the attributes and the label: those of the plan, or the common columns."""
    if plan is not None:
        return plan.attributes, plan.label
    needed = [*named, *([label] if label else [])]
    original.positions(needed)
    alike = named_alike(original.columns, masked.columns)
    for name in needed:
        if name not in alike:
            raise TableError(f"{masked.name}: no column {shortened(name)}; name only columns that it has")
    common = sorted(alike, key=lambda name: masked.columns.index(alike[name]))
    if not common:
        raise TableError(f"{masked.name}: no column of {original.name} is in it; give a release of that table")
    label = label or common[-1]
    return [Attribute(each, None, ()) for each in common if each != label], label
