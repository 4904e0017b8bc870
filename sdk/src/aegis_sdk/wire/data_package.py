"""A masked table as a Data Package (datapackage.org, 2.0): its file, its columns, and what it is a table of."""

from typing import Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer, Uuid

_WITH_ALIASES = ConfigDict(serialize_by_alias=True, validate_by_name=True, validate_by_alias=True)


class Interval(Answer):
    """The numbers or dates that a masked value stands for; null: without a limit on this side."""

    value: str = Field(description="The masked value")
    low: int | float | str | None = Field(description="The lowest number, or date (YYYY-MM-DD)")
    high: int | float | str | None = Field(description="The highest one")
    midpoint: int | float | str | None = Field(description="The one halfway; null without a limit on some side")
    closed: Literal["left", "both"] = Field(description="`both` if `high` belongs to it, too")


class FieldConstraints(Answer):
    """What holds of every value of a column."""

    required: bool | None = Field(default=None, description="True: no value is missing; absent: one may be")
    enum: list[str | int] | None = Field(
        default=None,
        description="All values, in order, without a missing one; absent if the entry lists some values together",
    )


class TableField(Answer):
    """A column."""

    model_config = _WITH_ALIASES

    name: str = Field(description="Name of the column")
    type: str = Field(description="Type of its values")
    constraints: FieldConstraints | None = Field(default=None, description="What holds of its values; absent: nothing")
    categories: list[str | int] | None = Field(default=None, description="The same values, of texts and integers")
    categories_ordered: bool | None = Field(
        default=None, alias="categoriesOrdered", description="Whether their order means something"
    )
    missing_values: list[str] | None = Field(
        default=None, alias="missingValues", description="Texts of missing values, where those of the schema differ"
    )
    true_values: list[str] | None = Field(default=None, alias="trueValues", description="Texts of true")
    false_values: list[str] | None = Field(default=None, alias="falseValues", description="Texts of false")
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


class TableDialect(Answer):
    """The form of a CSV file."""

    delimiter: str = Field(description="What separates its fields")


class TableResource(Answer):
    """A file with a table."""

    model_config = _WITH_ALIASES

    name: str = Field(description="Name of the resource")
    path: str = Field(description="The file beside the descriptor")
    type: Literal["table"] = Field(description="A table")
    format: str = Field(description="Format of the file")
    mediatype: str = Field(description="Media type of the file")
    encoding: str | None = Field(default=None, description="Encoding of a CSV file")
    dialect: TableDialect | None = Field(default=None, description="Form of a CSV file; absent: commas")
    size: int | None = Field(default=None, alias="bytes", description="Size of the file in bytes")
    hash: str | None = Field(default=None, description="`sha256:` and the SHA-256 of the file")
    table_schema: TableSchema = Field(alias="schema", description="The columns")


class License(Answer):
    """A licence: an id of SPDX, an address, or a text of its provider's."""

    name: str | None = Field(default=None, description="Id, `other` for a licence without one")
    path: str | None = Field(default=None, description="Address of its text")
    title: str | None = Field(default=None, description="What the provider states, if that is no id or address")


class PackagedEntry(Answer):
    """The entry that a table was offered by."""

    name: str = Field(description="Name of the entry")
    id: Uuid | None = Field(default=None, description="Id of the entry; absent: not published")
    version: int | None = Field(default=None, description="Its version; absent: not published")
    digest: str | None = Field(
        default=None,
        description="Digest of the version: the one that whoever got the package may read at the service, or of a "
        "release, whose counts are rounded, that of its entry file",
    )


class DataPackage(Answer):
    """A Data Package of one table, to be saved as `datapackage.json`."""

    model_config = _WITH_ALIASES

    profile: str = Field(alias="$schema", description="The profile of the standard")
    title: str = Field(description="What the table is")
    licenses: list[License] | None = Field(default=None, description="Its licence; absent: none stated")
    made_up: bool = Field(alias="aegis:made_up", description="Whether the rows are made up")
    configuration: str = Field(alias="aegis:configuration", description="Id of the configuration")
    privacy: dict[str, float] | None = Field(
        default=None, alias="aegis:privacy", description="Privacy that the table reaches, by criterion"
    )
    unit: Literal["person", "record"] | None = Field(
        default=None, alias="aegis:unit", description="What its privacy counts"
    )
    entry: PackagedEntry | None = Field(default=None, alias="aegis:entry", description="The entry that offers it")
    resources: list[TableResource] = Field(description="The table")
