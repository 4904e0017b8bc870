"""The masked table of one configuration."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from aegis_sdk.provider.counting import CountedAttribute, CountedTable
from aegis_sdk.provider.errors import PlanError, TableError
from aegis_sdk.provider.output import refuse_overwriting, written_whole
from aegis_sdk.provider.plan import DROP, IDENTITY, Configuration, Plan
from aegis_sdk.provider.plan_element import nearest
from aegis_sdk.provider.table import as_text, open_table, quoted


def apply(
    table: Path,
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
    is a blank. Values are masked in DuckDB, which spills what exceeds `memory_limit` to disk; the file
    appears whole or not at all.
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
        columns = list(_publish(counted, plan, chosen))
        query = _masked_query(opened.source, columns)
        options = _csv_options(columns, opened.delimiter or ",")
        [(records,)] = opened.execute(f"COPY ({query}) TO {quoted(str(part))} {options}").fetchall()
        if records != counted.records:
            raise TableError(f"{table}: changed while it was read; apply again")
    return counted.records


@dataclass(frozen=True)
class _Column:
    """A published column: its place in the table, and whether a table `m<place>` of masked texts exists for it."""

    name: str
    place: int
    is_masked: bool

    @property
    def value(self) -> str:
        return f"m{self.place}.value" if self.is_masked else f"v{self.place}"


def _publish(counted: CountedTable, plan: Plan, configuration: Configuration) -> Iterator[_Column]:
    """The columns that the configuration keeps; what masks them is stored in the database."""
    choices = {plan.label: IDENTITY, **configuration.maskings}
    attributes = {each.attribute.name: each for each in counted.attributes}
    for place, name in enumerate(counted.table.columns):
        choice = choices.get(name, DROP)
        if choice == DROP:
            continue
        if choice != IDENTITY:
            _store_mapping(counted, attributes[name], choice, f"m{place}")
        yield _Column(name, place, is_masked=choice != IDENTITY)


def _store_mapping(counted: CountedTable, attribute: CountedAttribute, masking_id: str, name: str) -> None:
    """A temporary table of every text of the attribute and its masked text."""
    masking = next(each for each in attribute.attribute.maskings if each.id == masking_id)
    masked = counted.masked(attribute, masking)
    places = attribute.domain.places
    counted.table.store_lookup(name, list(places), [masked[place] for place in places.values()], "VARCHAR")


def _masked_query(source: str, columns: Sequence[_Column]) -> str:
    """
    SQL of the masked table; a blank stands for a missing value unless a line would hold nothing else.

    A join may stream either of its sides, so the records are numbered before it and sorted after it.
    """
    blank = "nullif({}, '')" if len(columns) > 1 else "{}"
    outputs = ", ".join(blank.format(column.value) for column in columns)
    values = ", ".join(f"{as_text(column.place)} AS v{column.place}" for column in columns)
    masked = [column.place for column in columns if column.is_masked]
    joins = " ".join(f"JOIN m{place} ON m{place}.text = v{place}" for place in masked)
    numbered = f"SELECT row_number() OVER () AS record, {values} FROM {source}"  # noqa: S608 - places, no names
    return f"SELECT {outputs} FROM ({numbered}) {joins} ORDER BY record"  # noqa: S608 - see above


def _csv_options(columns: Sequence[_Column], delimiter: str) -> str:
    """The header is written as text, since two names may differ in case only, which SQL does not see."""
    header = StringIO()
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(column.name for column in columns)
    prefix, suffix = quoted(header.getvalue()), quoted("\n")
    return f"(FORMAT csv, HEADER false, DELIMITER {quoted(delimiter)}, PREFIX {prefix}, SUFFIX {suffix})"
