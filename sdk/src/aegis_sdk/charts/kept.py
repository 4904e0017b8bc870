"""The frontier of an advice: each ranked configuration by utility and privacy."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from aegis_sdk.charts import Axis, Frontier, Interval, Point
from aegis_sdk.printable import number
from aegis_sdk.reading import (
    configurations_of,
    expected_words,
    label_of,
    prices_of,
    promises_of,
    score_of,
    shown,
    whole_of,
)
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, CoarseAdvice, RankedConfiguration

SUPPRESSED: Final = "suppressed"

#: The quantities of the axis to the right, in words.
PROTECTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        "k": "k: records in the smallest equivalence class",
        "l": "l: fewest sensitive values in an equivalence class",
        "entropy_l": "entropy l: sensitive values in an equivalence class, by entropy",
        "t": "t: distance of an equivalence class from the table",
        "ordered_t": "ordered t: distance of an equivalence class from the table",
        "alpha": "alpha: largest share of a sensitive value in a class",
        "beta": "beta: largest relative gain in confidence",
        "delta_disclosure": "delta: largest change of a frequency, as a logarithm",
        "epsilon": "epsilon of differential privacy",
        "reidentification": "people whose quasi-identifiers are predicted, at most",
        "attribute_disclosure": "people of whom a secret is guessed, at most",
        "membership": "area under the ROC curve of an attack on membership, at most",
        SUPPRESSED: "records left out",
    }
)

#: Further quantities of an axis, in words.
OFFERED: Final[Mapping[str, str]] = MappingProxyType({"price": "price", "expected": "what a model should reach"})

#: The most frequent criteria, in this order.
_FIRST: Final = ("k", "t", "l", SUPPRESSED, "epsilon")
_SHARES: Final = frozenset({"alpha", "reidentification", "attribute_disclosure"})
_CONFIDENCE: Final = 1.96
_LONGEST: Final = 40

Answer = Advice | CoarseAdvice
Link = Callable[[str], str]
"""Returns the address of a configuration's page."""


@dataclass(frozen=True)
class Upward:
    """The upward axis and the positions of rows of the ranking on it.

    Attributes:
        height: Returns the number of a row, or `None`.
        interval: Returns the limits of that number, or `None` if not known.
    """

    axis: Axis
    height: Callable[[Any], float | None]
    interval: Callable[[Any], Interval | None] = lambda _: None
    note: str = ""


def protections_of(advice: Answer, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The possible axes: criteria that ranked configurations promise, suppressed records, prices and expected scores.

    Those that differ between configurations come first; among these `k`, `t`, `l`, `suppressed` and `epsilon`.
    """
    columns = _columns(advice, schema)
    order = [*_FIRST, *(name for name in (*PROTECTION, *OFFERED) if name not in _FIRST)]
    return tuple(sorted(columns, key=lambda name: (len(set(columns[name]) - {None}) < 2, order.index(name))))  # noqa: PLR2004 - they differ


def frontier_chart(
    advice: Answer,
    schema: Mapping[str, Any],
    across: str | None = None,
    up: str | None = None,
    *,
    link: Link | None = None,
    id: str = "frontier",  # noqa: A002 - the name that HTML has for it
) -> Frontier:
    """The chart of utility, or another quantity, against privacy or another.

    For a full answer, shares of the table's utility, with 95 % intervals where the answer has errors, or deviations if
    the whole is not known. For a coarse answer, shares without intervals, or ranks if there are no shares.

    Args:
        across: The axis to the right, one of `protections_of`; by default the first.
        up: The upward axis, another of these; by default what is kept of the utility.
    """
    columns = _columns(advice, schema)
    name = across if across in columns else next(iter(protections_of(advice, schema)), None)
    label = shown(label_of(advice.request, schema), _LONGEST)
    upward = _full(advice, label) if isinstance(advice, Advice) else _coarse(advice, label)
    if up in columns and up != name:
        upward = _of_column(advice, up, columns[up], schema)
    if name is None:
        return Frontier(id, "Utility kept", Axis("", ""), upward.axis, (), empty=_nothing(advice))
    points = _points(advice, columns[name], upward, link)
    return Frontier(
        id,
        f"{upward.axis.name.capitalize() if up == upward.axis.name else 'Utility kept'} against {name}",
        _across(name, schema),
        upward.axis,
        points,
        tuple(_notes(advice, schema, name, upward, len(points))),
        _nothing(advice),
    )


def _columns(advice: Answer, schema: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """The numbers of the ranked configurations by criterion; suppressed records as a share."""
    columns = promises_of(schema, [row.configuration for row in advice.ranking or []])
    numbers, records = columns.get(SUPPRESSED), schema.get("records")
    shares = (
        {SUPPRESSED: [None if value is None else value / records for value in numbers]} if numbers and records else {}
    )
    ranking = advice.ranking or []
    expected = [None if row.expected is None else score_of(row.expected)[1] for row in ranking]
    offered = {"price": prices_of(schema, [row.configuration for row in ranking])[0], "expected": expected}
    shares |= {name: column for name, column in offered.items() if any(value is not None for value in column)}
    return {name: column for name, column in columns.items() if name in PRIVACY_CRITERIA} | shares


def _of_column(advice: Answer, name: str, column: Sequence[float | None], schema: Mapping[str, Any]) -> Upward:
    """The upward axis of a quantity other than utility."""
    by_id = {row.configuration: value for row, value in zip(advice.ranking or [], column, strict=True)}
    return Upward(_across(name, schema), lambda row: by_id[row.configuration])


def _across(name: str, schema: Mapping[str, Any]) -> Axis:
    of_people = schema.get("unit") == "person"
    if name == "price":
        currency = prices_of(schema, ())[1]
        return Axis(name, f"{OFFERED[name]} in {currency} (less is better)", higher_is_better=False)
    if name == "expected":
        return Axis(name, f"{OFFERED[name]}: AUC, or R2 of a number (more is better)")
    if name == SUPPRESSED:
        return Axis(name, f"{PROTECTION[name]}, as a share of all (fewer is better)", "share", higher_is_better=False)
    more = PRIVACY_CRITERIA[name] == "higher"
    words = PROTECTION.get(name, name)
    words = words.replace("k: records", "k: people") if of_people else words
    title = f"{words} ({'more' if more else 'less'} is more private)"
    return Axis(name, title, "share" if name in _SHARES else "number", higher_is_better=more)


def _points(advice: Answer, numbers: Sequence[float | None], upward: Upward, link: Link | None) -> tuple[Point, ...]:
    """The rows that have both numbers."""
    alike = {*(advice.indistinguishable or []), *(advice.tied or [])}
    return tuple(
        Point(
            row.configuration,
            x,
            y,
            upward.interval(row),
            is_best=row.configuration == advice.configuration,
            is_alike=row.configuration in alike and row.configuration != advice.configuration,
            href=None if link is None else link(row.configuration),
            expected="" if row.expected is None else expected_words(row.expected),
        )
        for row, x in zip(advice.ranking or [], numbers, strict=True)
        if x is not None and (y := upward.height(row)) is not None
    )


def _full(advice: Advice, label: str) -> Upward:
    whole, measure = whole_of(advice), shown(str(advice.request.get("measure", "measure")).replace("_", " "))
    if whole is None:
        unit = f" ({advice.unit})" if advice.unit else ""
        title = f"deviation by {measure}{unit} (less is better)"
        return Upward(Axis("deviation", title, higher_is_better=False), lambda row: row.deviation)
    tells = "tells" if whole.of_all else "is known to tell"
    top = "the table as it is" if whole.of_all else "all that is known"
    levels = {"the best that is declared" if advice.transfer else top: 1.0, "nothing shared": 0.0}
    title = f"kept of what the table {tells} about {label}, by {measure}"
    return Upward(
        Axis("kept", title, "share", levels=levels),
        lambda row: whole.kept(row.deviation).share,
        lambda row: _interval(row, whole.utility, whole.kept(row.deviation).share),
        _about_intervals(advice),
    )


def _interval(row: RankedConfiguration, whole: float, kept: float) -> Interval | None:
    """The 95 % interval of a share: as declared, or from the standard error."""
    if row.low is not None and row.high is not None:
        below, above = (row.utility - row.low) / whole, (row.high - row.utility) / whole
    elif row.standard_error:
        below = above = _CONFIDENCE * row.standard_error / whole
    else:
        return None
    return Interval(max(kept - below, 0.0), min(kept + above, 1.0))


def _about_intervals(advice: Advice) -> str:
    rows = advice.ranking or []
    if advice.transfer is not None:
        return "Intervals (95 %) are those that the provider declares."
    if not any(row.standard_error for row in rows):
        return ""
    if advice.joint is not None:
        return "Intervals (95 %) are those of the values computed from exact counts."
    return "Intervals (95 %) are those of samples like this table."


def _coarse(advice: CoarseAdvice, label: str) -> Upward:
    rows = advice.ranking or []
    if any(row.utility_share is not None for row in rows):
        levels = {"all attributes unmasked": 1.0, "nothing shared": 0.0}
        title = f"about how much is kept of what the unmasked attributes tell about {label}"
        note = "Shares are coarse, since exact numbers would reveal the counts; they have no intervals."
        shares = [row.utility_share for row in rows if row.utility_share is not None]
        if any(after > before for before, after in pairwise(shares)):
            note += " The order is by deviations with another rounding, so a lower rank can have a larger share."
        return Upward(Axis("kept, about", title, "share", levels=levels), lambda row: row.utility_share, note=note)
    note = "Order only: the distance between two ranks says nothing about how much is kept."
    axis = Axis("rank", "rank by what is kept (1 is the best)", "rank", higher_is_better=False)
    return Upward(axis, lambda row: row.rank, note=note)


def _notes(advice: Answer, schema: Mapping[str, Any], name: str, upward: Upward, points: int) -> Iterator[str]:
    """Notes on the selection of configurations and the certainty of their positions."""
    ranked, considered = len(advice.ranking or []), advice.considered
    yield "Better is up and to the right."
    if considered is not None and ranked < considered:
        yield f"The ranking has {ranked:,} of {considered:,} that meet what is required."
    if (every := len(configurations_of(schema))) > (considered or ranked):
        yield f"The entry has {every:,} configurations."
    if points < ranked:
        yield f"{ranked - points:,} of these {'state' if ranked - points > 1 else 'states'} no {name}."
    if upward.note:
        yield upward.note
    if (words := real_differences(advice)) is not None:
        yield words


def real_differences(advice: Answer) -> str | None:
    """The significant differences from the best, in a sentence; `None` if not known or without other configurations."""
    if advice.indistinguishable_count is None or advice.considered == 1:
        return None
    others = advice.indistinguishable_count - 1
    if not others:
        return f"{shown(advice.configuration or '')} can be told apart from all others by the sample (95 %)."
    return f"{number(others)} other{'s' * (others > 1)} cannot be told apart from the best by the sample (95 %)."


def _nothing(advice: Answer) -> str:
    """The text if no configuration can be drawn, with the remedy."""
    if not advice.ranking:
        return "The answer ranks no configuration. Ask again with a limit above 0."
    return "No ranked configuration states its privacy, so there is nothing to draw against. The ranking has all."
