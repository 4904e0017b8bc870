"""What the values of a masked table stand for, by the plan and the configuration that masked it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.records import Records
from aegis_provider.release.blocks import Release, blocks_of
from aegis_provider.synth.released.meanings import Members
from aegis_provider.table import Table


def meanings_by_plan(
    table: Table, plan: Plan, configuration: Configuration, records: Records
) -> Mapping[str, Mapping[str, Members]]:
    """Return by column the values that a configuration masks to each text: those that it does mask so in this table.

    Columns masked elsewhere are left out, since no mapping says what became of their values. So are values of no record
    in `records`.

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
    """Return the columns that a configuration takes from tables that were masked elsewhere."""
    maskings = {each.name: each.masking(configuration.maskings[each.name]) for each in plan.attributes}
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
