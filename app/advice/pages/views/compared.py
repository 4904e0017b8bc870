"""Two configurations side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from aegis_sdk.charts import Bar, Bars, Group
from aegis_sdk.charts.costs import (
    ABOUT_BANDS,
    LIMITS,
    MOST_ATTRIBUTES,
    axis_of,
    band_bar,
    cost_bar,
    nothing_scored,
    whole_legend,
)
from aegis_sdk.reading import maskings_of, number, shown
from aegis_sdk.wire import Advice, AttributeAdvice, CoarseAdvice, CoarseAttribute

Answer = Advice | CoarseAdvice


def compared_chart(
    advice: Answer,
    schema: Mapping[str, Any],
    first: str,
    second: str,
    *,
    id: str = "compared",  # noqa: A002 - the name that HTML has for it
) -> Bars:
    """Two configurations side by side: the costs of their maskings by attribute, the largest difference first.

    Args:
        advice: A succeeded answer.
        first: The id of a configuration; A in the chart.
        second: The id of another; B in the chart.
        id: Of the element.
    """
    one, other = maskings_of(schema, first), maskings_of(schema, second)
    pairs = [
        pair for attribute in advice.attributes or [] if (pair := _pair(advice, attribute, one, other)) is not None
    ]
    pairs.sort(key=lambda group: -abs(group.bars[0].end - group.bars[1].end))
    differing = [group for group in pairs if group.bars[0].name != group.bars[1].name]
    alike = [group for group in pairs if group.bars[0].name == group.bars[1].name]
    drawn, rest = differing[:MOST_ATTRIBUTES], [*differing[MOST_ATTRIBUTES:], *alike]
    return Bars(
        id,
        f"{shown(first)} (A) and {shown(second)} (B), side by side",
        axis_of(advice),
        drawn,
        LIMITS if isinstance(advice, CoarseAdvice) else None,
        legend=(
            ("plain", f"A: {shown(first)}"),
            ("second", f"B: {shown(second)}"),
            *whole_legend([bar for group in drawn for bar in group.bars]),
        ),
        notes=tuple(_about_pairs(advice, drawn, len(differing), len(alike))),
        rest=rest,
        empty="Both have the same masking of every attribute." if alike else nothing_scored(advice),
    )


def _pair(
    advice: Answer,
    attribute: AttributeAdvice | CoarseAttribute,
    first: Mapping[str, str],
    second: Mapping[str, str],
) -> Group | None:
    """The bars of two configurations' maskings of an attribute; `None` unless both are scored."""
    one, other = (_single(advice, attribute, maskings.get(attribute.name, "")) for maskings in (first, second))
    if one is None or other is None:
        return None
    return Group(attribute.name, [replace(one, mark="A"), replace(other, mark="B", tone="second")])


def _single(advice: Answer, attribute: AttributeAdvice | CoarseAttribute, masking: str) -> Bar | None:
    """The bar of a masking; `None` unless it is scored."""
    if masking not in attribute.maskings:
        return None
    if isinstance(attribute, AttributeAdvice):
        return cost_bar(advice, attribute, masking)
    return band_bar(masking, attribute.maskings[masking].kept)


def _about_pairs(advice: Answer, drawn: Sequence[Group], differing: int, alike: int) -> Iterator[str]:
    """The number of omitted attributes, with the reason."""
    if isinstance(advice, CoarseAdvice) and drawn:
        yield ABOUT_BANDS
    if len(drawn) < differing:
        yield f"Drawn are the {len(drawn)} attributes that differ most, of {differing:,}; the table has all."
    if alike:
        yield f"{number(alike)} {'attributes have' if alike > 1 else 'attribute has'} the same masking in both."
