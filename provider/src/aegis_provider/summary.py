"""From a table and its plan to a catalogue entry: counts, never a record."""

import re
from collections.abc import Mapping
from typing import Any

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable, MaskedDomain
from aegis_provider.counting.elsewhere import CountsElsewhere, count_elsewhere
from aegis_provider.counting.pair_tables import pair_tables, refuse_uncountable, refuse_undone_secrets
from aegis_provider.entry_file import entry_of
from aegis_provider.errors import PlanError, TableError, shortened
from aegis_provider.masking import Draw, Function, MaskingFunction
from aegis_provider.plan.model import IDENTITY, Configuration, Masking, Plan
from aegis_provider.progress import Progress
from aegis_provider.table import Source, open_table
from aegis_provider.table.discretization import Binned
from aegis_provider.table.reading import Reading
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
    if not _NAME.fullmatch(name):
        raise PlanError(
            f"the name {name!r} must be 1 to 100 characters of a-z 0-9 - _ . and begin with a letter or digit"
        )
    plan = plan.without_unused_secrets()
    if pairs:
        refuse_uncountable(plan)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        if len(counted.label) == 1:
            raise TableError(
                f"{opened.name}: the label {plan.label!r} is {shortened(counted.label.texts[0])} in every record"
            )
        masked = [counted.masked_domains(each) for each in counted.attributes]
        refuse_undone_secrets(counted, masked)
        document = {
            "format": 1,
            "name": name,
            **plan.about,
            "records": counted.records,
            "label": _label(counted, plan.label),
            "attributes": [
                _attribute(counted, plan, each, domains, memory_limit)
                for each, domains in zip(counted.attributes, masked, strict=True)
            ],
            **({"pairs": pair_tables(counted, plan, masked, progress)} if pairs else {}),
            "configurations": [_configuration(each) for each in plan.configurations],
        }
    return entry_of(document, plan.source)


def _label(counted: CountedTable, name: str) -> dict[str, Any]:
    histogram = counted.attributes[0].counts.label_histogram()
    return {"name": name, "domain": list(counted.label.texts), "histogram": histogram.tolist()}


def _attribute(
    table: CountedTable, plan: Plan, counted: CountedAttribute, domains: Mapping[str, MaskedDomain], memory_limit: str
) -> dict[str, Any]:
    draws = table.draws(counted, plan.seed)

    def masking(each: Masking) -> dict[str, Any]:
        if each.is_random:
            return _drawn_masking(each, draws[each.id])
        if each.is_elsewhere:
            elsewhere = count_elsewhere(table, counted, each, plan.label, memory_limit)
            return _masking_elsewhere(each, elsewhere, table.records)
        return _masking(counted, each.id, table.function(counted, each), domains[each.id])

    return {
        "name": counted.attribute.name,
        "type": str(counted.domain.value_type),
        "domain": list(counted.domain.texts),
        **_discretization(counted, table.table.reading(counted.attribute.name)),
        **({} if counted.attribute.is_secret else _unmasked_counts(counted, plan)),
        "maskings": [masking(each) for each in counted.attribute.maskings],
    }


def _unmasked_counts(counted: CountedAttribute, plan: Plan) -> dict[str, Any]:
    """Return the histogram, and the joint counts if the attribute is released unmasked.

    Without its joint counts, an unmasked attribute would look useless.
    """
    histogram = {"histogram": counted.counts.histogram().tolist()}
    if all(each.maskings[counted.attribute.name] != IDENTITY for each in plan.configurations):
        return histogram
    values = len(counted.domain)
    return {**histogram, "joint": counted.counts.fold(range(values), values).tolist()}


def _discretization(counted: CountedAttribute, reading: Reading) -> dict[str, Any]:
    rule = counted.attribute.discretization
    if rule is None or not isinstance(reading, Binned):
        return {}
    return {"discretization": {"rule": rule.name, "parameters": rule.parameters(reading.bins)}}


def _masking(
    counted: CountedAttribute, masking_id: str, function: MaskingFunction, masked: MaskedDomain
) -> dict[str, Any]:
    return {
        "id": masking_id,
        "function": _function(function),
        "domain": list(masked.texts),
        **({"deterministic": True} if function.secret else {"mapping": list(masked.mapping)}),
        "joint": counted.counts.fold(masked.mapping, len(masked.texts)).tolist(),
    }


def _drawn_masking(masking: Masking, draw: Draw) -> dict[str, Any]:
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(draw.texts),
        **({} if draw.transition is None else {"transition": draw.transition.tolist()}),
        "deterministic": False,
        "joint": draw.joint().tolist(),
    }


def _masking_elsewhere(masking: Masking, elsewhere: CountsElsewhere, records: int) -> dict[str, Any]:
    return {
        "id": masking.id,
        "function": _function(masking.function),
        "domain": list(elsewhere.texts),
        "deterministic": False,
        **({"records": elsewhere.records} if elsewhere.records < records else {}),
        "joint": elsewhere.joint.tolist(),
    }


def _function(function: Function) -> dict[str, Any]:
    return {"name": function.name, "parameters": function.parameters()}


def _configuration(configuration: Configuration) -> dict[str, Any]:
    privacy = {"privacy": dict(configuration.privacy)} if configuration.privacy else {}
    suppressed = {} if configuration.suppressed is None else {"suppressed": configuration.suppressed}
    return {"id": configuration.id, "maskings": dict(configuration.maskings), **privacy, **suppressed}
