import difflib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from aegis_sdk.cli.options import AttributeOption, EntryArgument, JsonOption, document_of, read
from aegis_sdk.cli.terminal import InputError, aligned, print_result
from aegis_sdk.reading import (
    AttributeOutline,
    EntryOutline,
    GeneratedOutline,
    MaskingOutline,
    Share,
    number,
    outline_of,
    seen_by,
    shown,
    some,
)
from aegis_sdk.reading.outline import Range
from aegis_sdk.wire import DROP, Attribute, EntryDocument

_BAR = 40
_LABELS = 12
_VALUES = 8
_RATES = 8
_NAMES = 3
_LINE = 100
_KNOWLEDGE = {
    "joint": "its joint counts with the label",
    "histogram": "its histogram, but not its joint counts with the label",
    "no_histogram": "nothing: neither histogram nor joint counts",
}
_COLUMNS = ("masking", "values", "used by", "known", "follows from", "function")


def show(
    entry: EntryArgument,
    attribute: AttributeOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show what an entry contains."""
    document = document_of(entry, read(entry))
    outline = outline_of(document, chosen(entry, document, attribute))
    print_result(asdict(outline), report(outline, in_full=bool(attribute)), as_json=as_json)


def chosen(source: Path, entry: EntryDocument, names: Sequence[str] | None) -> list[Attribute]:
    """The attributes with these names, in the order of the entry; all if no name is given.

    Raises:
        InputError: The entry has no such attribute.
    """
    known = [attribute.name for attribute in entry.attributes]
    for name in names or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known[:10])}"
            raise InputError(f"{source}: no attribute {name!r}; {hint}")
    return [attribute for attribute in entry.attributes if not names or attribute.name in names]


def report(outline: EntryOutline, *, in_full: bool) -> Iterator[str]:
    """The lines of the report: the entry, its label, the attributes with their maskings, and the configurations.

    With `in_full`, maskings are listed with their masked values.
    """
    yield from _head(outline)
    yield from _label(outline)
    for attribute in outline.attributes:
        yield from _attribute(attribute, list(outline.label_histogram), in_full=in_full)
    yield from _configurations(outline)


def _head(outline: EntryOutline) -> Iterator[str]:
    title = f": {shown(outline.title, _LINE)}" if outline.title else ""
    yield f"{outline.name}{title}"
    yield f"  {outline.alone_in_words}"
    if outline.description:
        yield f"  {shown(outline.description, _LINE)}"
    keywords = f"keywords {some(outline.keywords, _VALUES)}; " if outline.keywords else ""
    licence = f"licence {shown(outline.license)}; " if outline.license else ""
    yield f"  {keywords}{licence}visible to {seen_by(outline.visibility)}"
    pairs = f", {outline.pairs} pairs of masked attributes" if outline.pairs else ""
    people = "" if outline.people is None else f" of {outline.people} people, whom privacy counts"
    if len(outline.labels) > 1:
        yield f"  {len(outline.labels)} labels: {some(outline.labels, _VALUES)}"
    yield f"  {outline.records} records{people}, {outline.configurations} configurations{pairs}"


def _label(outline: EntryOutline) -> Iterator[str]:
    histogram = list(outline.label_histogram.items())
    yield from ("", f"label {shown(outline.label)}: {len(histogram)} values")
    most = max(1, *outline.label_histogram.values())
    rows = [
        (shown(value), records, Share(records / outline.records), "█" * round(_BAR * records / most))
        for value, records in histogram[:_LABELS]
    ]
    yield from aligned(("value", "records", "share", ""), rows)
    if len(histogram) > _LABELS:
        yield f"  and {len(histogram) - _LABELS} more"


def _attribute(attribute: AttributeOutline, labels: Sequence[str], *, in_full: bool) -> Iterator[str]:
    count = f"{attribute.values} value{'s' * (attribute.values != 1)}"
    yield from ("", f"{shown(attribute.name)}: {attribute.type}, {count}: {some(attribute.domain, _VALUES)}")
    yield f"  known unmasked: {_KNOWLEDGE[attribute.knowledge]} ({attribute.knowledge})"
    if attribute.discretization:
        yield f"  made discrete by {shown(attribute.discretization, _LINE)}"
    yield from aligned(_COLUMNS, [_masking(masking) for masking in attribute.maskings])
    for masking in attribute.maskings if in_full else ():
        yield from _masked_values(masking) if masking.joint is None else _label_rates(masking, masking.joint, labels)


def _masking(masking: MaskingOutline) -> tuple[str | float, ...]:
    known = ", ".join(masking.known) or "-"
    return shown(masking.id), masking.values, masking.configurations, known, _order(masking), masking.function


def _order(masking: MaskingOutline) -> str:
    """The maskings that determine this one; `any` for a single masked value, which any masking determines."""
    if alike := [name for name in masking.same_as if name != DROP]:
        return f"as {some(alike, _NAMES)}"
    return "any" if DROP in masking.same_as else some(masking.follows_from, _NAMES) or "-"


def _masked_values(masking: MaskingOutline) -> Iterator[str]:
    """The masked values with their numbers of records, as far as known."""
    counts = ["?"] * len(masking.domain) if masking.records is None else list(map(str, masking.records))
    rows = [(shown(value), records) for value, records in zip(masking.domain, counts, strict=True)]
    if rows:
        yield from ("", f"  {shown(masking.id)}, records by masked value")
        cells = [f"{value} ({records})" for value, records in rows[: 2 * _VALUES]]
        more = [f"and {len(rows) - len(cells)} more"] if len(rows) > len(cells) else []
        yield from _filled([*cells, *more])


def _label_rates(masking: MaskingOutline, joint: Sequence[Sequence[int]], labels: Sequence[str]) -> Iterator[str]:
    """The masked values with their numbers of records and the shares of the labels in these."""
    yield from ("", f"  {shown(masking.id)}, records and label rates by masked value")
    rows: list[tuple[str | int, ...]] = [
        (shown(value), sum(row), *(_rate(records, sum(row)) for records in row[:_RATES]))
        for value, row in zip(masking.domain, joint, strict=True)
    ]
    yield from aligned(("masked value", "records", *map(shown, labels[:_RATES])), rows[: 2 * _VALUES])
    if len(rows) > 2 * _VALUES:
        yield f"    and {len(rows) - 2 * _VALUES} more, which --json lists"
    if len(labels) > _RATES:
        yield f"    rates of {len(labels) - _RATES} more label values are in --json"


def _rate(records: int, of: int) -> str:
    """The share of records; noise may make the total 0 or negative."""
    return str(Share(min(1.0, max(0.0, records / of)))) if of > 0 else "-"


def _filled(words: Sequence[str]) -> Iterator[str]:
    """The words, wrapped into lines."""
    line = ""
    for word in words:
        if line and len(line) + len(word) > _LINE:
            yield f"    {line.rstrip()}"
            line = ""
        line += f"{word}  "
    yield f"    {line.rstrip()}"


def _configurations(outline: EntryOutline) -> Iterator[str]:
    yield from ("", f"configurations: {outline.configurations}")
    rows = [_range(name, vouched) for name, vouched in outline.privacy.items()]
    if outline.suppressed is not None:
        rows.append(_range("records suppressed", outline.suppressed))
    if outline.suppressed_cells is not None:
        rows.append(_range("cells suppressed", outline.suppressed_cells))
    yield from aligned(("what they promise", "configurations", "least", "most"), rows) if rows else ()
    if not outline.privacy:
        yield "  none of them promises any privacy"
    if outline.generated:
        yield from ("", f"generated by a model: {len(outline.generated)} of the configurations")
        header = ("configuration", "method", "records", "promises", "transfer utilities")
        yield from aligned(header, [_generated(configuration) for configuration in outline.generated])


def _generated(generated: GeneratedOutline) -> tuple[str, str, int, str, str]:
    vouched = ", ".join(f"{name} {number(limit, 6)}" for name, limit in generated.privacy.items())
    declared = "declared" if generated.transfers else "-"
    return shown(generated.id), shown(generated.method), generated.records, vouched or "-", declared


def _range(name: str, vouched: Range) -> tuple[str, int, str, str]:
    return name, vouched.configurations, number(vouched.least, 6), number(vouched.most, 6)
