"""The masked table of one configuration."""

from pathlib import Path

from aegis_sdk.provider.counting import CountedAttribute, CountedTable
from aegis_sdk.provider.errors import OutputError, PlanError, TableError
from aegis_sdk.provider.output import written_whole
from aegis_sdk.provider.plan import DROP, IDENTITY, Configuration, Plan
from aegis_sdk.provider.plan_element import nearest
from aegis_sdk.provider.table import Table, as_text, open_table, quoted


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
    if output.exists() and table.exists() and output.samefile(table):
        raise OutputError(f"{output}: is the table itself; choose another output")
    with (
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened,
    ):
        counted = CountedTable.of(opened, plan)
        query = _masked_query(counted, plan, chosen)
        [(records,)] = opened.execute(f"COPY ({query}) TO {quoted(str(part))} {_options(opened)}").fetchall()
        if records != counted.records:
            raise TableError(f"{table}: changed while it was read; apply again")
    return counted.records


def _masked_query(counted: CountedTable, plan: Plan, configuration: Configuration) -> str:
    """
    SQL of the masked table.

    A join may stream either of its sides, so the records are numbered before it and sorted after it.
    """
    table = counted.table
    choices = {plan.label: IDENTITY, **configuration.maskings}
    published = [name for name in table.columns if choices.get(name, DROP) != DROP]
    places = dict(zip(published, table.positions(published), strict=True))
    masked = [each for each in counted.attributes if choices[each.attribute.name] not in {IDENTITY, DROP}]
    for each in masked:
        _store_mapping(counted, each, choices[each.attribute.name], f"m{places[each.attribute.name]}")
    by_join = [places[each.attribute.name] for each in masked]
    values = ", ".join(f"{as_text(place)} AS v{place}" for place in places.values())
    joins = " ".join(f"JOIN m{place} ON m{place}.text = v{place}" for place in by_join)
    columns = {name: f"m{place}.masked" if place in by_join else f"v{place}" for name, place in places.items()}
    return (
        f"SELECT {_outputs(columns)} "  # noqa: S608 - places, and names in quotes
        f"FROM (SELECT row_number() OVER () AS record, {values} FROM {table.source}) "
        f"{joins} ORDER BY record"
    )


def _outputs(columns: dict[str, str]) -> str:
    """The published columns; a blank stands for a missing value unless a line would hold nothing else."""
    blank = "nullif({}, '')" if len(columns) > 1 else "{}"
    return ", ".join(
        f'{blank.format(value)} AS "{name.replace(chr(34), chr(34) * 2)}"' for name, value in columns.items()
    )


def _store_mapping(counted: CountedTable, attribute: CountedAttribute, masking_id: str, name: str) -> None:
    """A temporary table of every text of the attribute and its masked text."""
    masking = next(each for each in attribute.attribute.maskings if each.id == masking_id)
    masked = counted.masked(attribute, masking)
    texts = attribute.domain.places
    rows = [list(texts), [masked[place] for place in texts.values()]]
    counted.table.execute(
        f"CREATE TEMP TABLE {name} AS SELECT unnest($1::VARCHAR[]) AS text, unnest($2::VARCHAR[]) AS masked",
        rows,
    )


def _options(table: Table) -> str:
    return f"(FORMAT csv, HEADER true, DELIMITER {quoted(table.delimiter or ',')})"
