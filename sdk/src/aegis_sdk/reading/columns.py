"""The columns of a masked table, from the schema of its entry: types, values, and what intervals stand for."""

import csv
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from io import StringIO
from typing import Any, Final

from aegis_sdk.reading.configurations import maskings_of
from aegis_sdk.texts import (
    INTERVAL,
    MISSING,
    TOGETHER,
    Span,
    ValueType,
    infer_type,
    is_of_days,
    number_in,
    span_of,
    unescaped,
)
from aegis_sdk.wire import DROP, IDENTITY
from aegis_sdk.wire.preview import Preview

_STEPS: Final = 100
"""The number of different numbers that are made up within an interval."""
_MERGED: Final = "merged"
_NUMERIC: Final = (ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE)


@dataclass(frozen=True)
class TableColumn:
    """A column of the masked table of a configuration.

    Attributes:
        type: The type of its values: of masked ones `string`, as in delivered files.
        masking: The masking, `identity` if it is shared as it is.
        texts: Its values as the entry lists them, in order; one can be a missing value.
        values: The type of the values before masking.
        function: The masking function, as JSON; `None` if there is none.
        mapping: For each value of the attribute, the place of its masked value; `None` if it is not known.
        is_merged: Whether the entry lists neighbouring numbers or dates together.
        is_scored: Whether its values stand for numbers.
    """

    name: str
    type: ValueType
    masking: str
    texts: Sequence[str]
    values: ValueType
    function: Mapping[str, Any] | None = None
    mapping: Sequence[int] | None = None
    is_merged: bool = False
    is_scored: bool = False

    @cached_property
    def together(self) -> frozenset[str]:
        """Names under which the entry lists several values, so that the table may have others."""
        return frozenset(text for text in self.texts if self._is_together(text))

    def _is_together(self, text: str) -> bool:
        if TOGETHER.fullmatch(text):
            return True
        span = span_of(text) if INTERVAL.fullmatch(text) else None
        if span is None:
            return False
        if self.masking == IDENTITY:
            return self.is_merged
        return self.function is not None and not _makes(self.function, span)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the values means something."""
        lows = [span.low for span in self.spans.values()]
        if self.is_scored or (lows and lows == sorted(lows)):
            return True
        rises = self.masking == IDENTITY or (self.mapping is not None and [*self.mapping] == sorted(self.mapping))
        return self.values in _NUMERIC and rises

    def span(self, text: str) -> Span | None:
        """The span of a value; `None` if it has none, or if the column has dates and it is no span of days.

        Years, as in `2010-2019`, are numbers, and not days.
        """
        return span_of(text) if self.values is not ValueType.DATE or is_of_days(text) else None

    @property
    def spans(self) -> dict[str, Span]:
        """The spans of all values if they are intervals, or masked ones, of numbers or dates; empty if they are not."""
        texts = [text for text in self.texts if text != MISSING]
        if self.values not in _NUMERIC and not all(map(INTERVAL.fullmatch, texts)):  # 12-34 may be a postal code
            return {}
        known = {text: span for text in texts if (span := self.span(text)) is not None and span.low <= span.high}
        is_masked = self.type is ValueType.STRING and self.values in _NUMERIC
        are_intervals = len(known) == len(texts) and (is_masked or any(span.low < span.high for span in known.values()))
        return known if are_intervals else {}


def _makes(function: Mapping[str, Any], span: Span) -> bool:
    """Whether a masking function has masked values that are this interval; true if its parameters do not say."""
    parameters, name = function.get("parameters") or {}, function.get("name")
    if name == "bucketize" and "edges" in parameters:
        edges = [Decimal(str(edge)) for edge in parameters["edges"]]
        return span.low in edges and span.high in edges
    width = parameters.get("width")
    if name == "hierarchy" and "intervals" in parameters:
        width = parameters["intervals"][parameters["level"] - 1]
    if width is not None:
        return span.high - span.low == number_in(str(width))
    return name in ("bucketize", "hierarchy", "mapping")


def columns_of(schema: Mapping[str, Any], configuration: str) -> list[TableColumn]:
    """The columns of the table of a masked configuration: the shared attributes, in the entry's order, and the label.

    Empty if the schema has no such masked configuration. The columns of the table itself can be in another order.
    """
    maskings = maskings_of(schema, configuration)
    if not maskings:
        return []
    shared = [one for one in schema["attributes"] if maskings[one["name"]] != DROP]
    label = schema["label"]
    attributes = [_column(one, maskings[one["name"]], ValueType(one["type"])) for one in shared]
    return [*attributes, _column(label, maskings.get(label["name"], IDENTITY), infer_type(label["domain"]))]


def _column(attribute: Mapping[str, Any], masking: str, values: ValueType) -> TableColumn:
    name, is_scored = attribute["name"], attribute.get("scores") is not None
    rule = (attribute.get("discretization") or {}).get("rule")
    if masking == IDENTITY:
        is_binned = rule not in (None, _MERGED)
        kind = ValueType.STRING if is_binned else values
        own = (name, kind, masking, attribute["domain"], values)
        return TableColumn(*own, is_merged=rule == _MERGED, is_scored=is_scored)
    known = next(one for one in attribute["maskings"] if one["id"] == masking)
    made = known.get("function"), known.get("mapping")
    return TableColumn(name, ValueType.STRING, masking, known["domain"], values, *made)


def written_names(header: Iterable[str], columns: Iterable[TableColumn]) -> dict[str, str]:
    """By the name of a column, the one in the header of a file: an apostrophe is before a formula, if it is escaped.

    A column's own name goes before its escaped one. Names that are none of these columns are in it, too.
    """
    names, found = {column.name for column in columns}, list(header)
    own = {name: name for name in found if name in names}
    return {name if name in own else unescaped(name): name for name in found} | own


def unlisted_columns(schema: Mapping[str, Any]) -> list[TableColumn]:
    """The columns that a generated table can have, the label last, without values: they need not be listed ones."""
    shared = [(one["name"], ValueType(one["type"])) for one in schema["attributes"]]
    shared.append((schema["label"]["name"], infer_type(schema["label"]["domain"])))
    return [TableColumn(name, kind, IDENTITY, (), kind) for name, kind in shared]


def value_within(column: TableColumn, place: int, share: float) -> str | None:
    """A made-up value of a column as text; `None` if it is missing.

    Where the entry lists numbers or dates together that the table has one by one, it is one of these.

    Args:
        place: The place of a listed value.
        share: How far into such numbers it lies, from 0 up to 1.
    """
    text = column.texts[place]
    span = column.span(text) if text in column.together and column.values in _NUMERIC else None
    if span is None:
        return text or None
    low, high = _finite(span)
    if column.values is ValueType.NUMBER:
        return f"{low + (high - low) * int(share * _STEPS) / _STEPS:f}"
    whole = int(low.to_integral_value(ROUND_CEILING)) + int(share * max(int(high - low), 1))
    return day_of(whole) if column.values is ValueType.DATE else str(whole)


def day_of(number: int) -> str:
    """The day with this number, or the closest that a date can be."""
    return dt.date.fromordinal(min(max(number, 1), dt.date.max.toordinal())).isoformat()


def _finite(span: Span) -> tuple[Decimal, Decimal]:
    """The limits of a span, with one a tenth away from the other for a limit that it lacks."""
    ends = [end for end in (span.low, span.high) if end.is_finite()]
    if len(ends) == 1:
        away = max(abs(ends[0]) / 10, Decimal(1))
        return (ends[0], ends[0] + away) if span.low.is_finite() else (ends[0] - away, ends[0])
    return (ends[0], ends[1]) if ends else (Decimal(0), Decimal(_STEPS))


def csv_of(preview: Preview) -> str:
    """The rows of a preview as CSV (RFC 4180) with a header, as delivered files have it; a missing value is a blank."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(preview.columns)
    cells = ([row[name] for name in preview.columns] for row in preview.rows)
    writer.writerows(["true" if cell is True else cell for cell in row] for row in cells)
    return written.getvalue()
