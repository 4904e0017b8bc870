"""The masked table of one configuration."""

import csv
from collections.abc import Mapping
from pathlib import Path

from aegis_sdk.provider.counting import CountedTable
from aegis_sdk.provider.errors import PlanError, TableError
from aegis_sdk.provider.output import refuse_overwriting, written_whole
from aegis_sdk.provider.plan import DROP, IDENTITY, Configuration, Plan
from aegis_sdk.provider.plan_element import nearest
from aegis_sdk.provider.table import Source, open_table


def apply(
    table: Source,
    plan: Plan,
    configuration: str,
    output: Path,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
) -> int:
    """
    Writes the table as that configuration masks it, as CSV, and returns the number of records.

    The columns: the plan's attributes that are not dropped, as the table orders them, with the label among
    them; no other column is published. Records keep their order, unmasked values their text; a missing value
    is a blank. The file appears whole or not at all.
    Raises `PlanError` for an unknown configuration, `TableError` and `OutputError`.
    """
    chosen = plan.configuration(configuration)
    if chosen is None:
        known = [each.id for each in plan.configurations]
        raise PlanError(f"{plan.source}: no configuration {configuration!r}; {nearest(configuration, known)}")
    refuse_overwriting(output, table)
    with (
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened,
    ):
        counted = CountedTable.of(opened, plan)
        if _write(counted, _lookups(counted, plan, chosen), part, opened.delimiter or ",") != counted.records:
            raise TableError(f"{opened.name}: changed while it was read; apply again")
    return counted.records


def _lookups(counted: CountedTable, plan: Plan, configuration: Configuration) -> dict[str, Mapping[str, str] | None]:
    """Of each column that is kept, in the table's order, the masked text of each of its texts; `None`: as it is."""
    choices = {plan.label: IDENTITY, **configuration.maskings}
    kept = [name for name in counted.table.columns if choices.get(name, DROP) != DROP]
    return {name: None if choices[name] == IDENTITY else _masked(counted, name, choices[name]) for name in kept}


def _masked(counted: CountedTable, name: str, masking_id: str) -> dict[str, str]:
    attribute = next(each for each in counted.attributes if each.attribute.name == name)
    masking = next(each for each in attribute.attribute.maskings if each.id == masking_id)
    masked = counted.masked(attribute, masking)
    return {text: masked[place] for text, place in attribute.domain.places.items()}


def _write(counted: CountedTable, lookups: Mapping[str, Mapping[str, str] | None], part: Path, delimiter: str) -> int:
    """Writes the records, and returns how many there were."""
    records = 0
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(lookups)
        for batch in counted.table.batches(list(lookups)):
            texts = zip((each.to_pylist() for each in batch.columns), lookups.values(), strict=True)
            columns = [each if masked is None else [masked[text] for text in each] for each, masked in texts]
            writer.writerows(zip(*columns, strict=True))
            records += batch.num_rows
    return records
