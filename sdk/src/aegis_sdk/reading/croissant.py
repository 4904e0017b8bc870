"""Entries and delivered tables in Croissant 1.1 (mlcommons.org/croissant), which loaders of training data read."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

from aegis_sdk.printable import is_visible
from aegis_sdk.reading.columns import TableColumn
from aegis_sdk.texts import MISSING, ValueType, is_written_as, number_in
from aegis_sdk.wire import Head

CROISSANT: Final = "http://mlcommons.org/croissant/1.1"
"""The profile that a document conforms to."""

#: The context of the specification. It refers to no other document.
_CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
            *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
            *("separator", "source", "subField", "transform"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}
_TYPES: Final = {ValueType.INTEGER: "sc:Integer", ValueType.NUMBER: "sc:Float", ValueType.DATE: "sc:Date"}
_LARGE: Final = 1 << 62
"""Integers below it, and made-up ones that are a tenth away, have 64 bits."""


Row = Mapping[str, bool | str | None]


@dataclass(frozen=True)
class TableFile:
    """A file with a masked table, beside the document.

    Attributes:
        name: Its name, without a folder.
        size: In bytes.
        sha256: In hexadecimal digits.
        media_type: `text/csv`, or that of Parquet.
        starred: Numeric columns with suppressed cells (`*`) in it, which are therefore texts.
        names: By column, its name in the header, where that is another (`written_names`).
    """

    name: str
    size: int
    sha256: str
    media_type: str = "text/csv"
    starred: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CroissantTable:
    """The table of a configuration: the records of a file, or made-up rows.

    Attributes:
        configuration: Its id, unique in a document.
        description: What it is, in words.
        records: The file with its records, or made-up rows, of which the first column says that they are.
    """

    configuration: str
    description: str
    columns: Sequence[TableColumn]
    records: TableFile | Sequence[Row]


def croissant_of(head: Head, tables: Sequence[CroissantTable], *, url: str, description: str) -> dict[str, Any]:
    """The Croissant document of some tables of an entry.

    Args:
        url: The address of the entry as a dataset.
        description: What the document describes.

    Raises:
        ValueError: The entry has no licence, which Croissant requires, although its loader does not check that.
    """
    if not is_visible(head.license):
        message = f"the entry {head.name!r} states no licence, which Croissant requires"
        raise ValueError(message)
    files = [table.records for table in tables if isinstance(table.records, TableFile)]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": title_of(head.title, head.name),
        "description": description,
        "license": head.license,
        "url": url,
        "creator": {"@type": "sc:Organization", "name": head.tenant},
        "datePublished": head.created_at.date().isoformat(),
        "version": f"{head.version}.0.0",
        "keywords": [keyword for keyword in head.keywords if is_visible(keyword)],
        "distribution": [_file(file) for file in files],
        "recordSet": [_record_set(table) for table in tables],
    }


def title_of(title: str, name: str) -> str:
    """The title of an entry; its name if the title shows nothing, since catalogues refuse datasets without one."""
    return title if is_visible(title) else name


def _id(*names: str) -> str:
    """Names as an id that no character of theirs can change the meaning of."""
    return "/".join(quote(name, safe="") for name in names)


def _file(file: TableFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": _id(file.name),
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.media_type,
        "sha256": file.sha256,
    }


def _record_set(table: CroissantTable) -> dict[str, Any]:
    own = {
        "@type": "cr:RecordSet",
        "@id": _id(table.configuration),
        "name": table.configuration,
        "description": table.description,
    }
    fields = [_field(table, column) for column in table.columns]
    if isinstance(table.records, TableFile):
        return own | {"field": fields}
    mark = next(iter(table.records[0]))
    made_up = {"@type": "cr:Field", "@id": _id(table.configuration, mark), "name": mark, "dataType": "sc:Boolean"}
    return own | {"field": [made_up, *fields], "data": list(_rows(table, table.records))}


def _field(table: CroissantTable, column: TableColumn) -> dict[str, Any]:
    """A field, with its place in the file if the table has one."""
    file = table.records if isinstance(table.records, TableFile) else None
    is_starred = file is not None and column.name in file.starred
    described = {
        "@type": "cr:Field",
        "@id": _id(table.configuration, column.name),
        "name": column.name,
        "dataType": "sc:Text" if is_starred else _TYPES.get(_type_of(column), "sc:Text"),
    }
    if file is None:
        return described
    extract = {"column": file.names.get(column.name, column.name)}
    return described | {"source": {"fileObject": {"@id": _id(file.name)}, "extract": extract}}


def _type_of(column: TableColumn) -> ValueType:
    """The type of all values of a column, also of those that the entry lists together; texts if one is of another."""
    texts = (text for text in column.texts if text != MISSING)
    return column.type if all(_is_of_type(column, text) for text in texts) else ValueType.STRING


def _is_of_type(column: TableColumn, text: str) -> bool:
    """Whether all values that a listed one stands for are of the type of the column.

    The entry need not keep to the type that it states, and loaders know no larger numbers than those of 64 bits.
    """
    if column.type not in _TYPES:
        return True
    if text in column.together:
        span = column.span(text)
        ends = [] if span is None else [end for end in (span.low, span.high) if end.is_finite()]
        return span is not None and all(_is_small(end, column.type) for end in ends)
    if column.type is ValueType.DATE:
        return is_written_as(text, ValueType.DATE)
    number = number_in(text)
    is_whole = column.type is ValueType.NUMBER or is_written_as(text, ValueType.INTEGER)
    return number is not None and is_whole and _is_small(number, column.type)


def _is_small(number: Decimal, kind: ValueType) -> bool:
    return math.isfinite(float(number)) if kind is ValueType.NUMBER else abs(number) < _LARGE


def _rows(table: CroissantTable, rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The rows by the ids of fields, with numbers where the table has them."""
    types = {column.name: _type_of(column) for column in table.columns}
    for row in rows:
        yield {_id(table.configuration, name): _value(value, types.get(name)) for name, value in row.items()}


def _value(value: bool | str | None, kind: ValueType | None) -> bool | float | str | None:  # noqa: FBT001 -- a cell
    if not isinstance(value, str):
        return value
    match kind:
        case ValueType.INTEGER:
            return int(value)
        case ValueType.NUMBER:
            return float(value)
        case _:
            return value
