"""The view of an entry's counts, for viewers who may read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from aegis_sdk.charts import Markup, category_bars, rendered
from app.entries.model.entries import CountKind, CountTable, Head
from app.entries.pages.views.entry_lists import PartPage
from app.entries.pages.views.entry_parts import WholeAttribute
from app.pages.slices import Slice
from app.platform.database.arrays import unpack

#: The largest number of rows and classes in a table of joint counts.
ROWS, CLASSES = 100, 12

#: The name of the counts of the unmasked attribute in addresses.
UNMASKED = ""


@dataclass(frozen=True, slots=True)
class CountsView:
    """The counts of the label, and of a chosen attribute.

    Attributes:
        label: records by class, as a chart.
        attribute: the chosen attribute, if any.
        counted: the masking ids of the attribute's tables of counts (`UNMASKED`: none).
        chosen: the shown one of these.
        chart: records by (masked) value.
        joint: a page of the values with their records by class; empty without joint counts.
        classes: the first classes; `more_classes`: the number of further ones.
    """

    entry: PartPage
    label_name: str
    label: Markup
    attribute: WholeAttribute | None = None
    counted: tuple[str, ...] = ()
    chosen: str = UNMASKED
    chart: Markup | None = None
    joint: Slice[tuple[str, tuple[int, ...]]] | None = None
    classes: tuple[str, ...] = ()
    more_classes: int = 0

    def at(self, part: str = "", **query: object) -> str:
        """The address of a part of the entry."""
        return self.entry.at(part, **query)


def counts_view(
    head: Head,
    asked: int | None,
    classes: Sequence[str],
    whole: WholeAttribute | None,
    tables: Sequence[CountTable],
    masking: str | None,
    number: int,
) -> CountsView:
    """The view of counts.

    Args:
        asked: the version in the address.
        classes: the first classes of the label.
        whole: the chosen attribute.
        tables: the counts of the label and of this attribute.
        masking: the id of the masking to show; None: the first with counts.
        number: the page of its values.
    """
    label = next(unpack(table.counts) for table in tables if table.kind is CountKind.LABEL_HISTOGRAM)
    entry, chart = PartPage.of(head, asked), _chart("label", f"Records by {head.label}", classes, label)
    if whole is None:
        return CountsView(entry, head.label, chart)
    counted = _counted(whole, tables)
    chosen = masking if masking is not None and masking in counted else next(iter(counted), UNMASKED)
    if chosen not in counted:
        return CountsView(entry, head.label, chart, whole)
    values = next((row.domain for row in whole.maskings if row.id == chosen), whole.domain)
    counts = counted[chosen]
    records = counts if counts.ndim == 1 else counts.sum(axis=1)
    title = f"Records by {whole.row.name}" + (f", masked by {chosen}" if chosen else "")
    return CountsView(
        entry,
        head.label,
        chart,
        whole,
        tuple(counted),
        chosen,
        _chart("attribute", title, values, records),
        None if counts.ndim == 1 else _joint(values, counts, number),
        tuple(classes[:CLASSES]),
        max(len(label) - CLASSES, 0),
    )


def _chart(name: str, title: str, values: Sequence[str], counts: NDArray[Any]) -> Markup:
    named = [*values, *(f"class {place + 1}" for place in range(len(values), len(counts)))]
    return rendered(category_bars(name, title, list(zip(named, counts.tolist(), strict=True))))


def _counted(whole: WholeAttribute, tables: Sequence[CountTable]) -> Mapping[str, NDArray[Any]]:
    """The counts of an attribute by masking; joint counts rather than a histogram."""
    counts: dict[str, NDArray[Any]] = {}
    for table in sorted(tables, key=lambda table: (-1 if table.masking is None else table.masking, table.kind)):
        if table.kind in (CountKind.HISTOGRAM, CountKind.JOINT):
            counts[UNMASKED] = unpack(table.counts)
        elif table.kind is CountKind.MASKED_JOINT and table.masking is not None:
            counts[whole.maskings[table.masking].id] = unpack(table.counts)
    return counts


def _joint(values: Sequence[str], counts: NDArray[Any], number: int) -> Slice[tuple[str, tuple[int, ...]]]:
    places: Slice[int] = Slice.cut(range(len(values)), number, ROWS)
    shown = counts[:, :CLASSES]
    rows = tuple((values[place], tuple(shown[place].tolist())) for place in places.rows)
    return Slice(rows, places.number, places.pages, places.total, places.start)
