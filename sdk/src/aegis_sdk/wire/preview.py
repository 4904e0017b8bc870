"""A preview of a masked table: made-up rows, and the table's columns as a Data Package (datapackage.org, 2.0)."""

from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer

ROWS: Final = 100
"""The most rows of a preview."""

_WITH_ALIASES = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)


class Interval(Answer):
    """The numbers or dates that a masked value stands for; null: without a limit on this side."""

    value: str = Field(description="The masked value")
    low: int | float | str | None = Field(description="The lowest number, or date (YYYY-MM-DD)")
    high: int | float | str | None = Field(description="The highest one")
    midpoint: int | float | str | None = Field(description="The one halfway; null without a limit on some side")
    closed: Literal["left", "both"] = Field(description="`both` if `high` belongs to it, too")


class FieldConstraints(Answer):
    """The values of a column."""

    enum: list[str | int] = Field(description="All values, in order; a missing value is not among them")


class TableField(Answer):
    """A column."""

    model_config = _WITH_ALIASES

    name: str = Field(description="Name of the column")
    type: str = Field(description="Type of its values")
    constraints: FieldConstraints | None = Field(
        default=None, description="Absent if the entry lists some values together"
    )
    categories: list[str | int] | None = Field(default=None, description="The same values, of texts and integers")
    categories_ordered: bool | None = Field(
        default=None, alias="categoriesOrdered", description="Whether their order means something"
    )
    missing_values: list[str] | None = Field(
        default=None, alias="missingValues", description="Texts of missing values, where those of the schema differ"
    )
    intervals: list[Interval] | None = Field(
        default=None, alias="aegis:intervals", description="What values stand for, if they are intervals"
    )


class TableSchema(Answer):
    """The columns of a table."""

    model_config = _WITH_ALIASES

    fields_: list[TableField] = Field(alias="fields", description="The columns, which a table may have in any order")
    fields_match: str = Field(alias="fieldsMatch", description="How columns of a table match the fields")
    missing_values: list[str] = Field(
        alias="missingValues", description="Texts of missing values: a blank, and a suppressed cell"
    )


class TableResource(Answer):
    """A file with a table."""

    model_config = _WITH_ALIASES

    name: str = Field(description="Name of the resource")
    path: str = Field(description="The file beside the descriptor")
    type: Literal["table"] = Field(description="A table")
    format: str = Field(description="Format of the file")
    mediatype: str = Field(description="Media type of the file")
    encoding: str = Field(description="Encoding of the file")
    table_schema: TableSchema = Field(alias="schema", description="The columns")


class DataPackage(Answer):
    """A Data Package of one table, to be saved as `datapackage.json`."""

    model_config = _WITH_ALIASES

    profile: str = Field(alias="$schema", description="The profile of the standard")
    title: str = Field(description="What the table is")
    made_up: bool = Field(alias="aegis:made_up", description="Whether the rows are made up")
    configuration: str = Field(alias="aegis:configuration", description="Id of the configuration")
    resources: list[TableResource] = Field(description="The table")


_EXAMPLE_FIELD = {
    "name": "age",
    "type": "string",
    "constraints": {"enum": ["10-45", "46-80"]},
    "categories": ["10-45", "46-80"],
    "categoriesOrdered": True,
    "aegis:intervals": [
        {"value": "10-45", "low": 10, "high": 45, "midpoint": 27.5, "closed": "both"},
        {"value": "46-80", "low": 46, "high": 80, "midpoint": 63, "closed": "both"},
    ],
}
_EXAMPLE: dict[str, Any] = {
    "configuration": "c01",
    "made_from": "domains",
    "columns": ["made_up", "age"],
    "rows": [{"made_up": True, "age": "46-80"}],
    "data_package": {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "title": "Made-up rows of c01",
        "aegis:made_up": True,
        "aegis:configuration": "c01",
        "resources": [
            {
                "name": "preview",
                "path": "preview.csv",
                "type": "table",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": [_EXAMPLE_FIELD], "fieldsMatch": "subset", "missingValues": ["", "*"]},
            }
        ],
    },
}


class Preview(Answer):
    """Made-up rows that look like the masked table of a configuration. No row is one of the table."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    configuration: str = Field(description="Id of the configuration")
    made_from: str = Field(
        description="`counts`: drawn from the published counts, for callers who may read them, never from an exact "
        "count below 5. `domains`: for all others, each value equally likely, whatever the counts"
    )
    columns: list[str] = Field(
        description="Names of the columns. The first one marks the rows as made up; the table does not have it. Its "
        "name is `made_up`, with underscores behind it if a column has that name"
    )
    rows: list[dict[str, bool | str | None]] = Field(
        description="The first rows of at most 100, which are always the same for a version; null: a missing value"
    )
    data_package: DataPackage = Field(description="Types and values of the table's columns (Data Package 2.0)")
