"""Masked tables as data frames, by the Data Package beside them."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import ValidationError

from aegis_sdk._errors import PackageError, SettingsError
from aegis_sdk.reading import PACKAGE, package_name
from aegis_sdk.texts import ValueType
from aegis_sdk.wire import DataPackage, faults_of
from aegis_sdk.wire.data_package import FieldConstraints, TableField, TableResource

_TRUE, _FALSE = ["true", "True", "TRUE", "1"], ["false", "False", "FALSE", "0"]
"""The texts of a boolean by default (Data Package 2.0)."""
_PARSED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "integer": int,
    "number": float,
    "boolean": bool,
    "date": dt.date.fromisoformat,
}
_IN_PANDAS: Final = {"integer": "Int64", "number": "float64", "boolean": "boolean", "date": "datetime64[s]"}
_IN_POLARS: Final = {"integer": "Int64", "number": "Float64", "boolean": "Boolean", "date": "Date"}
_OTHER: Final = object()
_LARGEST_PACKAGE: Final = 100_000_000
"""Bytes. One with 100,000 values has 10 MB."""


def read(path: str | Path, *, frame: Literal["pandas", "polars"] | None = None, midpoints: bool = False) -> Any:  # noqa: ANN401 - pandas and Polars are optional
    """Read a masked table as a data frame, with the types and the order of values that its Data Package states.

    Masked values become categories, ordered where their order means something, numbers and dates keep their type, and
    missing values and suppressed cells (`*`) are null. The file must have the size and the SHA-256 of the package.

    Args:
        path: The table, its package, or a folder with `datapackage.json`, such as that of a release.
        frame: The library of the frame; by default pandas, or Polars if pandas is not installed.
        midpoints: Whether intervals become the number, or the date, halfway; null without a limit on one side.

    Raises:
        PackageError: There is no package, it is invalid or of another file, or a value is not one that it states.
        SettingsError: The library is not installed.
        OSError: A file cannot be read.
    """
    library = frame or ("pandas" if find_spec("pandas") or not find_spec("polars") else "polars")
    if not find_spec(library):
        raise SettingsError(f"{library} is not installed; pip install {library}")
    described = _package_for(Path(path))
    package = _read(described)
    resource = package.resources[0]
    data = _table_of(described, resource, Path(path))
    make = _as_pandas if library == "pandas" else _as_polars
    try:
        return make(import_module(library), data, resource, midpoints=midpoints)
    except PackageError:
        raise
    except ImportError as error:  # pandas reads Parquet by another library
        raise SettingsError(f"{described.parent / resource.path}: {error}") from error
    except Exception as error:  # each library has its own errors for values of another type
        raise PackageError(f"{described.parent / resource.path}: is not as its package says: {error}") from error


def _package_for(path: Path) -> Path:
    if path.is_dir():
        return path / PACKAGE
    if path.name.endswith(".json"):
        return path
    beside = path.with_name(package_name(path.name))
    return beside if beside.is_file() else path.with_name(PACKAGE)


def _read(path: Path) -> DataPackage:
    try:
        with path.open("rb") as reading:
            text = reading.read(_LARGEST_PACKAGE + 1)
    except FileNotFoundError:
        raise PackageError(f"{path}: there is no such package") from None
    try:
        package = DataPackage.model_validate_json(text)
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise PackageError(f"{path}: is no Data Package of a table: {fault.pointer}: {fault.detail}") from None
    if len(package.resources) != 1 or len(text) > _LARGEST_PACKAGE:
        raise PackageError(f"{path}: is no Data Package of one table")
    return package


def _table_of(described: Path, resource: TableResource, asked: Path) -> bytes:
    """The bytes of the table, which are those that the package states."""
    file = described.parent / resource.path
    if Path(resource.path).name != resource.path or "\\" in resource.path:
        raise PackageError(f"{described}: its table is elsewhere")
    if asked not in (described, described.parent) and asked.name != resource.path:
        raise PackageError(f"{described}: is of {resource.path}, not of {asked.name}")
    data = file.read_bytes()
    if resource.size not in (None, len(data)):
        raise PackageError(f"{file}: has {len(data)} bytes, not {resource.size}")
    if resource.hash is not None and resource.hash != (digest := f"sha256:{sha256(data).hexdigest()}"):
        raise PackageError(f"{file}: is {digest}, not {resource.hash}")
    return data


@dataclass(frozen=True)
class _Column:
    """A column as read.

    Attributes:
        values: The value of each text that occurs; `None` if it is missing.
        kind: The type of the values: that of the field, or of its midpoints.
        categories: Its categories, in order; `None` if it has none.
    """

    values: Mapping[str | None, Any]
    kind: str
    categories: list[str] | None = None

    @classmethod
    def of(cls, resource: TableResource, field: TableField, texts: Iterable[str | None], *, midpoints: bool) -> Self:
        """Read the different texts of a column, `None` where it has none.

        Raises:
            PackageError: One is not listed, not of the type of the field, or missing where none may be.
        """
        missing = resource.table_schema.missing_values if field.missing_values is None else field.missing_values
        kind, categories = field.type, None
        known: dict[str, Any] | None = None
        if midpoints and field.intervals:
            known = {one.value: one.midpoint for one in field.intervals}
            kind = "date" if any(isinstance(point, str) for point in known.values()) else "number"
        elif kind == ValueType.STRING and field.categories is not None:
            categories = list(map(str, field.categories))
            known = dict(zip(categories, categories, strict=True))
        elif kind == ValueType.BOOLEAN:
            known = dict.fromkeys(field.true_values or _TRUE, "true") | dict.fromkeys(field.false_values or _FALSE, "")
        parse, stated = _PARSED.get(kind, str), field.constraints or FieldConstraints()
        listed = None if known is not None or stated.enum is None else set(map(parse, stated.enum))
        values: dict[str | None, Any] = {}
        for text in texts:
            if text is None or text in missing:
                if stated.required:
                    raise PackageError(f"the column {field.name!r} has a missing value, which its package excludes")
                values[text] = None
                continue
            value = text if known is None else known.get(text, _OTHER)
            try:
                values[text] = value if value is None or value is _OTHER else parse(value)
            except ValueError:
                raise PackageError(f"the column {field.name!r} has {text!r}, which is no {kind}") from None
            if value is _OTHER or (listed is not None and values[text] not in listed):
                raise PackageError(f"the column {field.name!r} has {text!r}, which its package does not list")
        return cls(values, kind, categories)


def _as_pandas(pd: Any, data: bytes, resource: TableResource, *, midpoints: bool) -> Any:  # noqa: ANN401 - no stubs
    mark = resource.dialect.delimiter if resource.dialect else ","
    how = {"sep": mark, "dtype": "object", "keep_default_na": False, "na_filter": False}
    is_parquet = resource.format == "parquet"
    table = pd.read_parquet(BytesIO(data)) if is_parquet else pd.read_csv(BytesIO(data), **how)
    for field in resource.table_schema.fields_:
        if field.name not in table.columns or (is_parquet and field.type != ValueType.STRING):
            continue
        texts = table[field.name].astype("object")
        read = _Column.of(resource, field, texts.where(texts.notna(), None).unique(), midpoints=midpoints)
        values = texts.map(read.values, na_action="ignore")
        if read.categories is not None:
            table[field.name] = pd.Categorical(values, read.categories, ordered=bool(field.categories_ordered))
        else:
            table[field.name] = values.astype(_IN_PANDAS.get(read.kind, "str"))
    return table


def _as_polars(pl: Any, data: bytes, resource: TableResource, *, midpoints: bool) -> Any:  # noqa: ANN401 - imported late
    mark = resource.dialect.delimiter if resource.dialect else ","
    is_parquet = resource.format == "parquet"
    file = BytesIO(data)
    table = pl.read_parquet(file) if is_parquet else pl.read_csv(file, separator=mark, infer_schema=False)
    columns = []
    for field in resource.table_schema.fields_:
        if field.name not in table.columns or (is_parquet and field.type != ValueType.STRING):
            continue
        texts = table[field.name].cast(pl.String)
        read = _Column.of(resource, field, texts.unique().to_list(), midpoints=midpoints)
        kind = getattr(pl, _IN_POLARS.get(read.kind, "String"))
        values = texts.replace_strict([*read.values], [*read.values.values()], return_dtype=kind)
        if read.categories is not None:
            values = values.cast(pl.Enum(read.categories) if field.categories_ordered else pl.Categorical)
        columns.append(values)
    return table.with_columns(columns)
