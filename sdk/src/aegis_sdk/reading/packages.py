"""The Data Package (datapackage.org, 2.0) of a masked table: its columns, its file, and what it is a table of."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, Final

from aegis_sdk.reading.columns import TableColumn, columns_of, day_of, unlisted_columns, written_names
from aegis_sdk.texts import MISSING, ValueType, escaped, is_written_as, unescaped
from aegis_sdk.wire import EntryHead
from aegis_sdk.wire.data_package import (
    DataPackage,
    FieldConstraints,
    Interval,
    License,
    PackagedEntry,
    TableField,
    TableResource,
    TableSchema,
)

SUPPRESSED_CELL: Final = "*"
PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
PACKAGE: Final = "datapackage.json"
"""The name of the package of the table in a folder; that of a file among others has the file's name before it."""

PARQUET_ENDING: Final = ".parquet"
PARQUET: Final = "application/vnd.apache.parquet"
_DELIMITERS: Final = (",", ";", "\t", "|")
_LONGEST_HEADER: Final = 1 << 20
_NO_NAME: Final = re.compile(r"[^a-z0-9._-]+")
_ID: Final = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_TRUE: Final = ("true", "yes", "1")


def package_name(file: str) -> str:
    """The name of the package of a file that is not alone in its folder."""
    return f"{file}.{PACKAGE}"


@dataclass(frozen=True)
class Packaged:
    """A table that a package describes.

    Attributes:
        license: Its licence as its entry states it, if it does.
        privacy: The privacy that it reaches, by criterion.
        unit: What its privacy counts: `person`, or `None` for records.
        is_made_up: Whether its rows are made up.
        may_have_stars: Whether single cells of it may be suppressed.
    """

    title: str
    configuration: str
    entry: PackagedEntry
    license: str = ""
    privacy: Mapping[str, float] | None = None
    unit: str | None = None
    is_made_up: bool = False
    may_have_stars: bool = True

    @classmethod
    def delivered(
        cls, head: EntryHead, configuration: str, privacy: Mapping[str, float], *, digest: str | None, has_stars: bool
    ) -> "Packaged":
        """A table that was delivered.

        Args:
            digest: The digest of the entry's version that whoever gets the package may have; `None` for none.
        """
        entry = entry_in_package(head.name, head.id, head.version, digest)
        return cls(
            f"{configuration} of {head.name}",
            configuration,
            entry,
            license=head.license,
            privacy=privacy,
            unit=head.unit,
            may_have_stars=has_stars,
        )


def entry_in_package(name: str, id_: str | None, version: int | None, digest: str | None) -> PackagedEntry:
    """The entry as a package names it, without what is not known."""
    known = {"name": name, "id": id_, "version": version, "digest": digest}
    return PackagedEntry.model_validate({member: value for member, value in known.items() if value is not None})


def data_package(columns: Sequence[TableColumn], table: Packaged, path: str) -> DataPackage:
    """The package of a table with these columns, in any order and perhaps with others.

    Args:
        path: The name of its CSV file.
    """
    fields = [_field(column, column.name, may_have_stars=table.may_have_stars) for column in columns]
    return _package(table, _resource(path, {"encoding": "utf-8"}, fields, "subset"))


def package_of(
    file: Path, path: str, digest: str, schema: Mapping[str, Any], table: Packaged, delimiter: str | None = None
) -> DataPackage:
    """The package of a file with a table, in CSV or, by its ending, in Parquet.

    Args:
        path: The name that it has beside the package.
        digest: The SHA-256 of the file.
        schema: The entry or its schema. A generated table may lack some of its columns.
        delimiter: What separates the fields of CSV; by default what the header says.

    Raises:
        OSError: The file cannot be read.
        ValueError: It has no CSV header.
    """
    columns = columns_of(schema, table.configuration)
    is_masked, columns = bool(columns), columns or unlisted_columns(schema)
    form: dict[str, Any] = {"hash": f"sha256:{digest}"}
    header = [column.name for column in columns]
    if is_csv := file.suffix.lower() != PARQUET_ENDING:
        mark, header = _header(file, columns[-1].name, delimiter)
        form |= {"bytes": file.stat().st_size, "encoding": "utf-8"}
        form |= {} if mark == "," else {"dialect": {"delimiter": mark}}
    by_name = {column.name: column for column in columns}
    written = written_names(header, columns)
    # A masked table without one of its columns is not the agreed one, and its package does not fit it.
    written |= {name: name for name in by_name if is_masked and name not in written}
    known = [(by_name[plain], name) for plain, name in written.items() if plain in by_name]
    fields = [_field(column, name, may_have_stars=table.may_have_stars) for column, name in known]
    return _package(table, _resource(path, form, fields, "equal" if is_masked or is_csv else "superset"))


def with_file(package: DataPackage, data: bytes) -> DataPackage:
    """The package with the size and the SHA-256 of its file, which has these bytes."""
    fixed = {"size": len(data), "hash": f"sha256:{sha256(data).hexdigest()}"}
    return package.model_copy(update={"resources": [package.resources[0].model_copy(update=fixed)]})


def text_of(package: DataPackage) -> str:
    """The package as its file has it."""
    return f"{package.model_dump_json(indent=2, exclude_unset=True)}\n"


def _header(file: Path, name: str, delimiter: str | None) -> tuple[str, list[str]]:
    """The delimiter of a CSV file and the names in its header: if none is given, one that yields this name, and most.

    Raises:
        OSError: The file cannot be read.
        ValueError: It has no header.
    """
    with file.open(encoding="utf-8-sig", newline="") as reading:
        begin = reading.read(_LONGEST_HEADER)
    headers = {}
    for mark in (delimiter,) if delimiter else _DELIMITERS:
        try:
            headers[mark] = next(csv.reader(StringIO(begin, newline=""), delimiter=mark), [])
        except csv.Error as error:
            raise ValueError(f"{file}: its header cannot be read: {error}") from error
    best = max(headers, key=lambda mark: (name in map(unescaped, headers[mark]), len(headers[mark])))
    if not headers[best]:
        raise ValueError(f"{file}: has no header")
    return best, headers[best]


def _resource(path: str, form: Mapping[str, Any], fields: Sequence[TableField], match: str) -> TableResource:
    is_parquet = path.lower().endswith(PARQUET_ENDING)
    kind = {"format": "parquet", "mediatype": PARQUET} if is_parquet else {"format": "csv", "mediatype": "text/csv"}
    schema = {"fields": fields, "fieldsMatch": match, "missingValues": [MISSING, SUPPRESSED_CELL]}
    known = {"name": _NO_NAME.sub("-", path.partition(".")[0].lower()), "path": path, "type": "table", **kind, **form}
    return TableResource.model_validate({**known, "schema": TableSchema.model_validate(schema)})


def _package(table: Packaged, resource: TableResource) -> DataPackage:
    stated: dict[str, Any] = {"$schema": PROFILE, "title": table.title}
    if table.license:
        stated["licenses"] = [_license(table.license)]
    stated |= {"aegis:made_up": table.is_made_up, "aegis:configuration": table.configuration}
    if table.privacy is not None:
        stated |= {"aegis:privacy": dict(table.privacy), "aegis:unit": table.unit or "record"}
    return DataPackage.model_validate({**stated, "aegis:entry": table.entry, "resources": [resource]})


def _license(stated: str) -> License:
    """The licence that an entry states, as far as it is an id or an address."""
    if _ID.fullmatch(stated):
        return License(name=stated)
    if stated.startswith(("https://", "http://")) and " " not in stated:
        return License(path=stated)
    return License(name="other", title=stated)


def _field(column: TableColumn, name: str, *, may_have_stars: bool) -> TableField:
    """The field of a column, which has this name in the file."""
    texts = [text for text in column.texts if text != MISSING]
    kind = _kind(column.type, [text for text in texts if text not in column.together])
    stated: dict[str, Any] = {"name": name, "type": kind.value}
    constraints: dict[str, Any] = {}
    if texts and not column.together:
        if len(texts) == len(column.texts) and (not may_have_stars or SUPPRESSED_CELL in texts):
            constraints["required"] = True
        if not any(escaped(text) != text for text in texts):  # the file may have an apostrophe before it
            values = [int(Decimal(text)) for text in texts] if kind is ValueType.INTEGER else texts
            constraints["enum"] = values
            if kind in (ValueType.INTEGER, ValueType.STRING):
                stated |= {"categories": values, "categories_ordered": column.is_ordered}
            if intervals := list(_intervals(column)):
                stated["intervals"] = intervals
    if constraints:
        stated["constraints"] = FieldConstraints.model_validate(constraints)
    if kind is ValueType.BOOLEAN:
        stated |= _truth(texts)
    if SUPPRESSED_CELL in texts:
        stated["missing_values"] = [MISSING]
    return TableField.model_validate(stated)


def _kind(stated: ValueType, texts: Sequence[str]) -> ValueType:
    """The type of a field: a plan may call numbers with leading zeros or points integers, which readers do not."""
    is_plain = stated is not ValueType.INTEGER or all(is_written_as(text, stated) for text in texts)
    return stated if is_plain else ValueType.NUMBER


def _truth(texts: Sequence[str]) -> dict[str, list[str]]:
    """The texts of true and of false, if they are not those words."""
    if all(is_written_as(text, ValueType.BOOLEAN) and text.islower() for text in texts):
        return {}
    true = [text for text in texts if text.lower() in _TRUE]
    return {"true_values": true, "false_values": [text for text in texts if text not in true]}


def _intervals(column: TableColumn) -> Iterator[Interval]:
    is_date = column.values is ValueType.DATE
    for text, span in column.spans.items():
        both = (span.low, span.high) if span.low.is_finite() and span.high.is_finite() else None
        yield Interval(
            value=text,
            low=_limit(span.low, is_date=is_date),
            high=_limit(span.high, is_date=is_date),
            midpoint=None if both is None else _limit((both[0] + both[1]) / 2, is_date=is_date),
            closed="left" if span.open or both is None else "both",
        )


def _limit(number: Decimal, *, is_date: bool) -> int | float | str | None:
    """A limit for JSON; `None` if there is none."""
    if not number.is_finite():
        return None
    if is_date:
        return day_of(int(number))
    return int(number) if number == number.to_integral_value() else float(number)
