"""The cost of each masking or, in a coarse answer, how much it keeps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, Literal

from aegis_sdk.charts import Axis, Bar, Bars, Group, Interval
from aegis_sdk.printable import number, percent
from aegis_sdk.reading import maskings_about, reference_known, shown, stated_deviation, utility_bounds
from aegis_sdk.wire import (
    Advice,
    AttributeAdvice,
    CoarseAdvice,
    MaskingScore,
    TransferAdvice,
)

#: The words of coarse answers, as ranges of shares of an attribute's utility.
BANDS: Final[Mapping[str, Interval]] = MappingProxyType(
    {
        "none": Interval(0.0, 0.05),
        "little": Interval(0.05, 0.35),
        "some": Interval(0.35, 0.65),
        "much": Interval(0.65, 0.95),
        "all": Interval(0.95, 1.0),
    }
)
LIMITS: Final = (0.05, 0.35, 0.65, 0.95)
ABOUT_BANDS: Final = "Bars are ranges, of shares that were rounded before: exact ones would reveal the counts."
_CONFIDENCE: Final = 1.96
MOST_ATTRIBUTES: Final = 8
_MOST_MASKINGS: Final = 6
_STAR: Final = "★"

Answer = Advice | CoarseAdvice


def costs_chart(
    advice: Answer,
    schema: Mapping[str, Any],
    attributes: Sequence[str] | None = None,
    *,
    id: str = "costs",  # noqa: A002 - the name that HTML has for it
) -> Bars:
    """The cost of each masking by attribute, the largest utility first; the best configuration is marked.

    For a coarse answer, the range of the share that each masking keeps. The first eight attributes are drawn, with six
    maskings each; the table has all.

    Args:
        attributes: The names of the attributes to draw with all their maskings; all attributes by default.
    """
    best = maskings_about(advice, schema, advice.configuration)
    groups = _full_groups(advice, best) if isinstance(advice, Advice) else _coarse_groups(advice, best)
    groups = [group for group in groups if not attributes or group.name in attributes]
    drawn, rest = (groups, []) if attributes else _shortened(groups)
    if isinstance(advice, CoarseAdvice):
        title, ticks, notes = "What each masking keeps", LIMITS, [ABOUT_BANDS] if groups else []
    else:
        title, ticks, notes = "What each masking costs", None, list(_about_wholes(advice))
    return Bars(
        id,
        title,
        axis_of(advice),
        drawn,
        ticks,
        legend=tuple(_legend(advice, [bar for group in drawn for bar in group.bars])),
        notes=[*notes, _left_out(groups)] if rest else notes,
        rest=rest,
        empty=nothing_scored(advice),
    )


def axis_of(advice: Answer) -> Axis:
    """The axis: deviations or, for a coarse answer, shares kept."""
    if isinstance(advice, CoarseAdvice):
        return Axis("kept", "kept of what the attribute tells", "share")
    measure = shown(str(advice.request.get("measure", "measure")).replace("_", " "))
    unit = "squared correlations" if advice.joint is not None else advice.unit
    alone = ", each attribute alone" if advice.joint is not None else ""
    return Axis("deviation", f"deviation by {measure}{f' ({unit})' if unit else ''}{alone}")


def _legend(advice: Answer, bars: Sequence[Bar]) -> Iterator[tuple[str, str]]:
    best = shown(advice.configuration or "the best")
    verb = "kept" if isinstance(advice, CoarseAdvice) else "lost"
    if any(bar.tone == "best" for bar in bars):
        yield "best", f"{_STAR} {verb} by {best}"
    if any(bar.tone == "plain" for bar in bars):
        yield "plain", f"{verb} by another masking"
    yield from whole_legend(bars)


def whole_legend(bars: Sequence[Bar]) -> Iterator[tuple[str, str]]:
    """The legend of the outlines of these bars."""
    if any(bar.whole is not None and bar.is_whole_certain for bar in bars):
        yield "whole", "all that the attribute tells"
    if any(bar.whole is not None and not bar.is_whole_certain for bar in bars):
        yield "unsure", "all that it is known to tell"


def _full_groups(advice: Advice, best: Mapping[str, str]) -> list[Group]:
    if isinstance(advice.transfer, TransferAdvice):
        return _declared_groups(advice.transfer)
    scored = [each for each in advice.attributes or [] if each.maskings]
    scored.sort(key=lambda each: -max(score.deviation for score in each.maskings.values()))
    groups = []
    for attribute in scored:
        cheapest_first = sorted(attribute.maskings, key=lambda name: attribute.maskings[name].deviation)
        bars = [cost_bar(advice, attribute, name, is_best=name == best.get(attribute.name)) for name in cheapest_first]
        bounds, known = utility_bounds(attribute), number(attribute.reference_utility)
        note = f"known: {known}{f' ({bounds})' if bounds.far_apart else ''}"
        groups.append(Group(attribute.name, bars, "" if reference_known(attribute) else note))
    return groups


def cost_bar(advice: Answer, attribute: AttributeAdvice, masking: str, *, is_best: bool = False) -> Bar:
    """The loss of a masking, as part of its attribute's utility."""
    score, known = attribute.maskings[masking], reference_known(attribute)
    whole = attribute.reference_utility if advice.better != "lower" and attribute.reference_utility > 0 else None
    # A share of the known utility would be mistaken for a share of the whole.
    share = f" ({percent(score.deviation / whole)})" if whole and known else ""
    return Bar(
        masking,
        score.deviation,
        f"{stated_deviation(attribute, masking)}{share}",
        interval=_interval(score),
        whole=whole,
        is_whole_certain=known,
        tone="best" if is_best else "plain",
        mark=_STAR if is_best else "",
    )


def _interval(score: MaskingScore) -> Interval | None:
    """The 95 % interval of a deviation from the sampling error of the utility."""
    if not score.standard_error:
        return None
    half = _CONFIDENCE * score.standard_error
    return Interval(max(score.deviation - half, 0.0), score.deviation + half)


def _about_wholes(advice: Advice) -> Iterator[str]:
    """Uncertainty of the costs."""
    scored = [attribute for attribute in advice.attributes or [] if attribute.maskings]
    if any(not reference_known(attribute) for attribute in scored):
        yield "Where not all is known that an attribute tells, a masking may lose more; brackets have proven bounds."
    if any(score.standard_error for attribute in scored for score in attribute.maskings.values()):
        yield "Intervals (95 %) are those of samples like this table."


def _coarse_groups(advice: CoarseAdvice, best: Mapping[str, str]) -> list[Group]:
    """The ranges by attribute, those that keep most first."""
    groups = []
    for attribute in advice.attributes or []:
        chosen = best.get(attribute.name)
        bars = (band_bar(name, score.kept, is_best=name == chosen) for name, score in attribute.maskings.items())
        groups.append(Group(attribute.name, sorted(filter(None, bars), key=lambda bar: -bar.end)))
    return [group for group in groups if group.bars]


def band_bar(masking: str, kept: str | None, *, is_best: bool = False) -> Bar | None:
    """The range of a word of coarse answers; `None` without a known word."""
    if kept is None or kept not in BANDS:
        return None
    band = BANDS[kept]
    tone: Literal["best", "plain"] = "best" if is_best else "plain"
    text = f"{kept} ({100 * band.low:.0f} to {percent(band.high)})"
    return Bar(masking, band.high, text, start=band.low, whole=1.0, tone=tone, mark=_STAR if is_best else "")


def _declared_groups(transfer: TransferAdvice) -> list[Group]:
    """The loss of the best configuration by attribute, from declared utilities."""
    bars = []
    for each in sorted(transfer.attributes, key=lambda each: -each.deviation):
        low, high = each.deviation - (each.high - each.utility), each.deviation + (each.utility - each.low)
        limits = Interval(max(low, 0.0), max(high, 0.0))
        loss, whole = each.deviation, each.reference_utility
        bars.append(Bar(each.name, loss, number(loss), interval=limits, whole=whole, tone="best"))
    return [Group("", bars)] if bars else []


def _shortened(groups: Sequence[Group]) -> tuple[list[Group], list[Group]]:
    """The drawn groups and bars, and those only in the table; marked bars are always drawn."""
    drawn, rest = [], list(groups[MOST_ATTRIBUTES:])
    for group in groups[:MOST_ATTRIBUTES]:
        wanted = sorted(range(len(group.bars)), key=lambda place: (not group.bars[place].mark, place))
        kept = set(wanted[: len(group.bars) if not group.name else _MOST_MASKINGS])
        drawn.append(replace(group, bars=[bar for place, bar in enumerate(group.bars) if place in kept]))
        others = [bar for place, bar in enumerate(group.bars) if place not in kept]
        rest += [replace(group, bars=others)] if others else []
    return drawn, rest


def _left_out(groups: Sequence[Group]) -> str:
    bars, few = sum(len(group.bars) for group in groups), min(len(groups), MOST_ATTRIBUTES)
    of = f"{few} of {len(groups):,} attributes" if few < len(groups) else "each attribute"
    return f"Drawn are at most {_MOST_MASKINGS} maskings of {of}, of {bars:,} in all."


def nothing_scored(advice: Answer) -> str:
    """The reason why there is no bar, and the remedy."""
    if isinstance(advice, CoarseAdvice):
        return (
            "This answer has only the order. To see what each masking keeps, ask by mutual_information without bias "
            "correction, about two attributes or more."
        )
    return "The answer scores no single masking of these configurations."
