"""A preview of a masked table: made-up rows, and the table's columns as a Data Package."""

from typing import Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.data_package import DataPackage
from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_HEAD

ROWS: Final = 100
"""The most rows of a preview."""

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
        "aegis:entry": {name: EXAMPLE_HEAD[name] for name in ("name", "id", "version", "digest")},
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
