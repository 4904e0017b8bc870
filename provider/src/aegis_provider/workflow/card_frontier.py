"""The frontier on a release card, between the unmasked table and nothing shared."""

from collections.abc import Iterator
from typing import Final

from aegis_provider.check_result import NOTHING, RAW
from aegis_provider.report.model import BASELINES, Part, TextTable
from aegis_provider.workflow.card import Card, CardChoice
from aegis_sdk.charts import BAD, GOOD, Axis, Interval, Measured, Plane, Series
from aegis_sdk.reading import Share, share_with_limits, shown

_UNKNOWN: Final = "not known"
_NONE: Final = "-"


def kept_in_words(share: float | None) -> str:
    """Return a share in whole percent, a positive share never as 0."""
    return _UNKNOWN if share is None else Share(share).whole


def choices(card: Card) -> Iterator[Part]:
    """Yield the best configuration for each requirement as a table, and as a picture."""
    models = any(choice.predicted for choice in card.frontier)
    cells = any(choice.suppressed_cells is not None for choice in card.frontier)
    columns = {
        "required": [RAW, *(choice.in_words for choice in card.frontier), NOTHING],
        "configuration": [_NONE, *(choice.configuration or _NONE for choice in card.frontier), _NONE],
        "records left out": [_NONE, *map(_left_out, card.frontier), _NONE],
        **(
            {"cells suppressed": [_NONE, *(_number(choice.suppressed_cells) for choice in card.frontier), _NONE]}
            if cells
            else {}
        ),
        "keeps": ["100 %", *(f"{kept_in_words(each.kept)}{_possible(each)}" for each in card.frontier), "0 %"],
        **({"keeps, by models": ["100 %", *map(_predicted, card.frontier), "0 %"]} if models else {}),
    }
    rows = list(zip(*columns.values(), strict=True))
    yield TextTable(tuple(columns), rows, _caption(card, models=models))
    known = [choice for choice in card.frontier if choice.kept is not None]
    if known:
        yield _picture(card, known, models=models)


def _left_out(choice: CardChoice) -> str:
    return "some" if choice.suppressed_reason else _number(choice.suppressed)


def _number(number: int | None) -> str:
    return _NONE if number is None else f"{number:,}"


def _possible(choice: CardChoice) -> str:
    """Return how much another configuration may keep, unless this one is proven optimal."""
    if choice.kept is None or choice.proven:
        return ""
    limited = choice.at_most is not None and choice.at_most < 1
    return f", at most {kept_in_words(choice.at_most)} possible" if limited else " or more"


def _predicted(choice: CardChoice) -> str:
    one = choice.predicted
    return _NONE if one is None else share_with_limits(one.value, one.low, one.high) or _UNKNOWN


def _caption(card: Card, *, models: bool) -> str:
    label = shown(card.label)
    kept = f"keeps: the share of what the table tells about {label}, by the measure {card.measure}"
    predicted = f"by models: the share of what {_model(card)} predicts from the table, as AUC above 0.5 (95 % interval)"
    unproven = "or more: that is the best found, but another one may keep more"
    return "; ".join(
        [
            kept,
            *([unproven] if any(_possible(choice) == " or more" for choice in card.frontier) else []),
            *([predicted] if models else []),
            *([f"records left out: rounded to a multiple of {card.rounded_to}"] if card.rounded_to else []),
            f"{_NONE}: none, not in the plan, or not measured",
        ]
    )


def _model(card: Card) -> str:
    """Return the name of the best model for the unmasked table."""
    best = card.auc_of(RAW)
    return "a model" if best is None else best.model


def _picture(card: Card, known: list[CardChoice], *, models: bool) -> Plane:
    told = [Measured(each.kept or 0.0, _limits(each)) for each in known]
    series = [Series.at_places(f"by the measure {card.measure}", GOOD, told, is_joined=True)]
    if models:
        predicted = [
            None
            if each.predicted is None
            else Measured(each.predicted.value, Interval(each.predicted.low, each.predicted.high))
            for each in known
        ]
        series.append(Series.at_places(f"by {_model(card)}, with 95 % intervals", BAD, predicted))
    aim = next((place for place, each in enumerate(known) if each.is_aim), None)
    return Plane(
        Axis("privacy", "required privacy"),
        Axis("kept", f"kept of what the table tells about {shown(card.label)}", "share", levels=BASELINES),
        series,
        [each.in_words for each in known],
        notes=[_below(card, known, models=models)],
        marked=None if aim is None else (aim, "this release"),
    )


def _limits(choice: CardChoice) -> Interval | None:
    """Return the share and its upper bound, if the configuration is not proven optimal."""
    if choice.proven or choice.at_most is None or choice.kept is None:
        return None
    return Interval(choice.kept, max(choice.kept, choice.at_most))


def _below(card: Card, known: list[CardChoice], *, models: bool) -> str:
    """Return the sentences below the picture."""
    said = [f"What the best configuration keeps at each privacy, by the measure {card.measure}, counted in this table"]
    if any(map(_limits, known)):
        said.append("A line upwards ends where it is proven that nothing keeps more")
    if models:
        said.append(
            f"Beside it, how much better than chance {_model(card)} predicts, as a share of what it does unmasked"
        )
    return f"{'. '.join(said)}."
