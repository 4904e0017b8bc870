"""The plan for a controlled entry: with it, `aegis apply` releases the records that the entry counts."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from aegis_provider.control.control import Changes, ControlError, Controlled, without_names
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.merged_table import MergedMasking
from aegis_provider.masking import Mapped
from aegis_provider.plan.model import Attribute, Configuration, Plan
from aegis_provider.plan.writing import write_plan
from aegis_provider.privacy import PrivacyTable
from aegis_provider.table import Source, Table, open_table
from aegis_provider.yaml_file import parsed
from aegis_sdk import wire
from aegis_sdk.wire import SUPPRESSED

_BREAKS = re.compile(r"[\n\r\x85\u2028\u2029]")


class _TextDumper(yaml.SafeDumper):
    """Write texts as in a plan: quoted only where YAML requires it, and without aliases."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as in the class it extends

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of the class it extends
        return True


def _represented(dumper: _TextDumper, text: str) -> yaml.ScalarNode:
    """Write a text with line breaks, which YAML would fold, in double quotes, where everything can be escaped."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _BREAKS.search(text) else None)


_TextDumper.add_representer(str, _represented)


def controlled_plan(plan: Plan, controlled: Controlled) -> Plan:
    """Return the plan with merged maskings as mappings, and with the entry's promises."""
    attributes = []
    for attribute in plan.attributes:
        merged = _merged(attribute.name, controlled.changes)
        maskings = tuple(
            replace(masking, function=Mapped(merged[masking.id].masked)) if masking.id in merged else masking
            for masking in attribute.maskings
        )
        attributes.append(replace(attribute, maskings=maskings))
    # The plan has the exact numbers even where the entry must not publish them, with their types: 5, not 5.0.
    intended = {configuration.id: configuration for configuration in plan.configurations} | {**controlled.recounted}
    lost = controlled.changes.privacy
    configurations = []
    for each in controlled.entry.masked:
        configuration, names = intended[each.id], lost.get(each.id, ())  # without what merging may have broken
        privacy, required = (
            None if numbers is None else {name: number for name, number in numbers.items() if name not in names}
            for numbers in (configuration.privacy, configuration.required)
        )
        by_label = without_names(configuration.by_label, names)
        configurations.append(replace(configuration, privacy=privacy or {}, required=required, by_label=by_label))
    return replace(plan, attributes=tuple(attributes), configurations=tuple(configurations))


def with_suppressed(
    controlled: Controlled,
    table: Source | Table,
    plan: Plan,
    *,
    hidden: int = 0,
    delimiter: str = ",",
    memory_limit: str = "1GB",
) -> Controlled:
    """Return the entry with the suppressed numbers of each configuration, recounted where classes have merged.

    The controls apply to these counts too. None may be below a minimum cell count, and rounding rounds them. The plan
    has all of them unchanged.

    Args:
        table: The table, read again only if something must be recounted.
        plan: The plan before the controls.
        hidden: The number of records that the entry does not count, since every release leaves them out.

    Raises:
        ControlError: A configuration to recount has a random masking.
        TableError: The table cannot be read or does not fit the plan.
    """
    counted = _recounted(controlled, table, plan, delimiter, memory_limit) if controlled.changes.recount else {}
    configurations, left_out = [], []
    for configuration in controlled.entry.masked:
        known = (
            _numbers(counted[configuration.id], hidden) if configuration.id in counted else _numbers(configuration, 0)
        )
        published: dict[str, int | None] = {**known}
        for control in controlled.controls:  # each may change a number, or withhold it
            for name, number in published.items():
                published[name] = None if number is None else control.suppressed(number)
        left_out += [f"{name} of {configuration.id}" for name, number in published.items() if number is None]
        configurations.append(configuration.model_copy(update=published))
    changes = replace(controlled.changes, tables=(*controlled.changes.tables, *left_out))
    entry = controlled.entry.model_copy(update={"configurations": configurations})
    return replace(controlled, entry=entry, changes=changes, recounted=counted)


def _numbers(configuration: Configuration | wire.Configuration, hidden: int) -> dict[str, int]:
    """Return the declared numbers of suppressed records, except hidden ones, and of suppressed cells."""
    stated = {name: getattr(configuration, name) for name in SUPPRESSED}
    less = {"suppressed": hidden}
    return {name: max(0, number - less.get(name, 0)) for name, number in stated.items() if number is not None}


def _recounted(
    controlled: Controlled, table: Source | Table, plan: Plan, delimiter: str, memory_limit: str
) -> dict[str, Configuration]:
    intended, recounted = controlled_plan(plan, controlled), {}
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        privacy = PrivacyTable.of(CountedTable.of(opened, intended), intended)
    for name in controlled.changes.recount:
        configuration = intended.configuration(name)
        if chance := privacy.left_to_chance(configuration):
            raise ControlError(
                f"{name} suppresses records and masks {', '.join(chance)} at random, so the number of records "
                "suppressed after merging is unknown; remove the configuration from the plan"
            )
        suppressed = privacy.suppressed(configuration)
        cells = None if configuration.suppressed_cells is None else suppressed.cells
        recounted[name] = replace(configuration, suppressed=suppressed.records, suppressed_cells=cells)
    return recounted


def write_controlled_plan(source: Path, plan: Plan, controlled: Controlled, output: Path) -> None:
    """Write the controlled plan of the plan file `source`; comments within its attributes are lost.

    Raises:
        OutputError: The plan cannot be written.
        PlanError: The source can no longer be read.
    """
    document = cast("dict[str, Any]", parsed(source))
    attributes = {attribute.name: attribute for attribute in plan.attributes}
    stated = {
        name: _stated(attributes[name], says, controlled.changes) if isinstance(says, dict) else says
        for name, says in document["attributes"].items()
    }
    text = yaml.dump({**document, "attributes": stated}, Dumper=_TextDumper, allow_unicode=True, sort_keys=False)
    intended = controlled_plan(plan, controlled)
    controls = " and ".join(control.in_words() for control in controlled.controls) or "no control"
    remark = f"With {controls}, by `aegis summarize`."
    write_plan(source, intended, intended.configurations, output, remark, text)


def _merged(name: str, changes: Changes) -> dict[str, MergedMasking]:
    """Return the merged maskings of an attribute by id."""
    return {masking.masking: masking for masking in changes.merged if masking.attribute == name}


def _stated(attribute: Attribute, says: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """Return the attribute's section of the plan file, changed; if a level of its hierarchy changed, level by level."""
    merged, maskings = _merged(attribute.name, changes), says.get("maskings") or {}
    levels = [masking.id for masking in attribute.maskings if masking.id not in maskings]
    without = {"maskings"}
    if merged.keys() & set(levels):
        without.add("hierarchy")
        by_level = enumerate(levels, start=1)
        maskings = {each: {"hierarchy": {**says["hierarchy"], "level": str(n)}} for n, each in by_level} | maskings
    kept = {key: value for key, value in says.items() if key not in without}
    left = maskings | {name: {"mapping": dict(each.masked)} for name, each in merged.items()}
    return {**kept, "maskings": left} if left else kept
