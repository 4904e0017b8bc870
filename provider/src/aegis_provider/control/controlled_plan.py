"""The plan that goes with a controlled entry: what `aegis apply` makes of it is what the entry counts."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from aegis_provider.control.control import Changes, ControlError, Controlled, MergedMasking
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.masking import Mapped
from aegis_provider.plan.model import DROP, Attribute, Configuration, Masking, Plan
from aegis_provider.plan.writing import write_plan
from aegis_provider.privacy import PrivacyTable, breaks
from aegis_provider.table import Source, open_table
from aegis_provider.yaml_file import parsed

_BREAKS = re.compile(r"[\n\r\x85\u2028\u2029]")


class _TextDumper(yaml.SafeDumper):
    """Writes texts as a plan has them: quoted only where YAML would not take them for one, and each in full."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the class it extends has it

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of the class it extends
        return True


def _represented(dumper: _TextDumper, text: str) -> yaml.ScalarNode:
    """In double quotes, where everything can be escaped, a text with line breaks, which YAML would fold."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if _BREAKS.search(text) else None)


_TextDumper.add_representer(str, _represented)


def controlled_plan(plan: Plan, controlled: Controlled) -> Plan:
    """The plan with merged maskings as plain mappings, without what was left out, and with the entry's promises."""
    attributes = tuple(_attribute(each, controlled.changes) for each in plan.attributes)
    # What the plan says is exact, also where the entry may not say it.
    suppressed: dict[str, int | None] = {each.id: each.suppressed for each in plan.configurations}
    suppressed |= {**dict.fromkeys(controlled.changes.recount), **controlled.suppressed}
    promised = {each.id: each.privacy for each in plan.configurations}  # in the plan's own numbers: 5 is no 5.0
    configurations = tuple(
        Configuration(
            each.id,
            each.maskings,
            {name: number for name, number in promised[each.id].items() if name in (each.privacy or {})},
            suppressed[each.id],
        )
        for each in controlled.entry.configurations or []
    )
    return replace(plan, attributes=attributes, configurations=configurations)


def with_suppressed(
    controlled: Controlled, table: Source, plan: Plan, *, delimiter: str = ",", memory_limit: str = "1GB"
) -> Controlled:
    """The entry with how many records each configuration leaves out, counted again where its classes are larger now.

    These are counts, too: none is below a minimum cell count, and beside rounded counts there is none, since it cannot
    declare that it is not exact. The plan has them all.

    Args:
        table: Is read once more, if there is something to count again.
        plan: The one before.

    Raises:
        ControlError: Such a configuration leaves a masking to chance.
        TableError: The table cannot be read, or does not fit the plan.
    """
    counted = _recounted(controlled, table, plan, delimiter, memory_limit) if controlled.changes.recount else {}
    configurations, left_out = [], []
    for each in controlled.entry.configurations or []:
        records = counted.get(each.id, each.suppressed)
        if records is not None and not all(control.may_publish(records) for control in controlled.controls):
            left_out.append(f"suppressed of {each.id}")
            records = None
        configurations.append(each.model_copy(update={"suppressed": records}))
    changes = replace(controlled.changes, tables=(*controlled.changes.tables, *left_out))
    entry = controlled.entry.model_copy(update={"configurations": configurations})
    return replace(controlled, entry=entry, changes=changes, suppressed=counted)


def _recounted(controlled: Controlled, table: Source, plan: Plan, delimiter: str, memory_limit: str) -> dict[str, int]:
    intended = controlled_plan(plan, controlled)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        privacy = PrivacyTable.of(CountedTable.of(opened, intended), intended)
    return {name: _suppressed(privacy, intended.configuration(name)) for name in controlled.changes.recount}


def write_controlled_plan(source: Path, plan: Plan, controlled: Controlled, output: Path) -> None:
    """Writes the controlled plan of the plan file `source`; comments within its attributes are lost.

    Raises:
        OutputError: It cannot be written.
        PlanError: The source cannot be read any more.
    """
    document = cast("dict[str, Any]", parsed(source))
    attributes = {each.name: each for each in plan.attributes}
    stated = {
        name: _stated(attributes[name], says, controlled.changes) if isinstance(says, dict) else says
        for name, says in document["attributes"].items()
    }
    text = yaml.dump({**document, "attributes": stated}, Dumper=_TextDumper, allow_unicode=True, sort_keys=False)
    intended = controlled_plan(plan, controlled)
    controls = " and ".join(each.in_words() for each in controlled.controls) or "no control"
    remark = f"With {controls}, by `aegis summarize`."
    write_plan(source, intended, intended.configurations, output, remark, text)


def _suppressed(privacy: PrivacyTable, configuration: Configuration) -> int:
    if chance := privacy.left_to_chance(configuration):
        raise ControlError(
            f"{configuration.id} suppresses records and masks {', '.join(chance)} at random, so the number of records "
            "suppressed after merging is unknown; remove the configuration from the plan"
        )
    classes = privacy.masked(configuration)
    return int(classes.sizes[breaks(classes, configuration.privacy)].sum())


def _attribute(attribute: Attribute, changes: Changes) -> Attribute:
    merged, gone = _changes_of(attribute.name, changes)
    maskings = tuple(_masking(each, merged.get(each.id)) for each in attribute.maskings if each.id not in gone)
    return replace(attribute, maskings=maskings, default=DROP if attribute.default in gone else attribute.default)


def _masking(masking: Masking, merged: MergedMasking | None) -> Masking:
    return masking if merged is None else replace(masking, function=Mapped(merged.masked))


def _changes_of(name: str, changes: Changes) -> tuple[dict[str, MergedMasking], set[str]]:
    """Of an attribute the merged maskings by id, and the ids of those left out."""
    merged = {each.masking: each for each in changes.merged if each.attribute == name}
    return merged, {masking for attribute, masking in changes.maskings if attribute == name}


def _stated(attribute: Attribute, says: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """What the plan file says of an attribute, changed; its hierarchy level by level, if one of these is."""
    merged, gone = _changes_of(attribute.name, changes)
    changed, maskings = merged.keys() | gone, says.get("maskings") or {}
    levels = [each.id for each in attribute.maskings if each.id not in maskings]
    without = {"maskings"}
    if changed.intersection(levels):
        without.add("hierarchy")
        by_level = enumerate(levels, start=1)
        maskings = {each: {"hierarchy": {**says["hierarchy"], "level": str(n)}} for n, each in by_level} | maskings
    if says.get("default") in gone:
        says = {**says, "default": DROP}
    kept = {key: value for key, value in says.items() if key not in without}
    left = {name: function for name, function in maskings.items() if name not in gone}
    left |= {name: {"mapping": dict(each.masked)} for name, each in merged.items()}
    return {**kept, "maskings": left} if left else kept
