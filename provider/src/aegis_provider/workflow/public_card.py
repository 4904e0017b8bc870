"""The release card as others may read it: combined with entry and masked table, it discloses no further count.

Its counts of the table are the rounded counts of the entry. Counts of the release are visible in the masked table.
Everything else that depends on unseen records is a share or an error of two digits, or an AUC or `R^2` of three.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from aegis_provider.classifiers import Interval
from aegis_provider.privacy import CRITERIA, share_of_people
from aegis_provider.search import LimitsCost
from aegis_provider.workflow.card import HIGHEST_SAID, Card, CardAuc, CardChoice, CardLabel, CardTask
from aegis_provider.workflow.generating import Comparison
from aegis_sdk.reading import Share, label_shown
from aegis_sdk.wire import Configuration, EntryDocument

_NOT_COUNTED: Final = "some records are left out, but the entry counts none of them"
_AUC_DIGITS: Final = 3
_SHARE_DIGITS: Final = 2


def public(card: Card, entry: EntryDocument, sensitive: tuple[str, ...]) -> Card:
    """Return a card without counts and digits that its entry and masked table do not show.

    Privacy is rounded to the steps of the entry, since a card may be read without the masked table; the `k` of people,
    which that does not show, is the entry's.

    Args:
        card: The card with exact numbers.
        entry: The entry of the release.
        sensitive: The sensitive attributes of its plan.
    """
    from aegis_provider.control import coarse_privacy  # noqa: PLC0415 - slow to load, and needed last

    known = {configuration.id: configuration for configuration in entry.masked}
    chosen = known.get(card.configuration)
    published = {} if chosen is None else chosen.privacy or {}
    by_label = {} if chosen is None else chosen.privacy_by_label
    # An error in the label's unit tells with `R2` the variance, which one person's number may decide.
    scored = [(entry.label.name, entry.label.scores), *((each.name, each.scores) for each in entry.attributes)]
    varying = {name for name, scores in scored if scores is not None and scores.variance is not None}
    control = entry.disclosure_control
    left_out = None if card.holds_back else _left_out(card.left_out, chosen)

    def told(measured: Mapping[str, float], stated: Mapping[str, float]) -> dict[str, float]:
        return coarse_privacy(_without_people(measured, stated, entry), stated, entry, chosen, sensitive)

    return replace(
        _with_shares_of_people(card, published, entry),
        table=PurePath(card.table).name,
        plan_digest=None,
        rounded_to=None if control is None else control.rounded_to,
        left_out=left_out,
        left_out_reason=_reason(card.left_out, left_out),
        promised={
            name: published.get(name, number) for name, number in card.promised.items() if _is_told(name, published)
        },
        reached=told(card.reached, published),
        labels=_labels(card.labels, entry, chosen),
        columns=tuple(replace(column, kept=_share(column.kept), lost=_share(column.lost)) for column in card.columns),
        never_shared={name: without_values(reason) for name, reason in card.never_shared.items()},
        kept=_share(card.kept),
        predicted=_interval(card.predicted),
        runner_up=None if card.runner_up is None else (card.runner_up[0], _share(card.runner_up[1])),
        frontier=tuple(_choice(choice, known.get(choice.configuration)) for choice in card.frontier),
        measured=tuple(_auc(each, states_variance=entry.label.name in varying) for each in card.measured),
        comparison=None if card.comparison is None else _comparison(card.comparison),
        limits=None if card.limits is None else _limits(card.limits),
        by_label={
            label: _task(task, told(task.privacy, by_label.get(label, {})), states_variance=label in varying)
            for label, task in card.by_label.items()
        },
    )


def _with_shares_of_people(card: Card, published: Mapping[str, float], entry: EntryDocument) -> Card:
    """Return the card with risks that can be read off a masked table, in which nobody can count people."""
    release, before = card.highest_risk
    certain, guessable = _share(card.certain) or 0.0, round(card.guessable, _SHARE_DIGITS)
    if entry.people is not None:
        certain, guessable = (share_of_people(each, entry.people) for each in (card.certain, card.guessable))
    if (entry.rows_per_person or 1) > 1 and "k" in card.reached:
        k = _without_people(card.reached, published, entry).get("k")
        release = None if release is None or k is None else 1 / k
    highest = release, None if before is None else _share(min(before, HIGHEST_SAID))
    return replace(card, certain=certain, guessable=guessable, highest_risk=highest)


def _without_people(
    reached: Mapping[str, float], published: Mapping[str, float], entry: EntryDocument
) -> dict[str, float]:
    """Return measured privacy with the entry's `k` if that counts people, whom a masked table does not show."""
    if (entry.rows_per_person or 1) == 1:
        return dict(reached)
    hidden = {name: number for name, number in reached.items() if name != "k"}
    return hidden | ({"k": published["k"]} if "k" in reached and "k" in published else {})


def _task(task: CardTask, privacy: Mapping[str, float], *, states_variance: bool) -> CardTask:
    auc, raw_auc = (None if each is None else round(each, _AUC_DIGITS) for each in (task.auc, task.raw_auc))
    rmse = _error(task.rmse) if states_variance else None
    return replace(task, kept=_share(task.kept), privacy=privacy, auc=auc, raw_auc=raw_auc, rmse=rmse)


def _limits(cost: LimitsCost) -> LimitsCost:
    return replace(cost, kept=round(cost.kept, _SHARE_DIGITS), without=round(cost.without, _SHARE_DIGITS))


def is_public(card: Mapping[str, Any]) -> bool:
    """Return whether the JSON of a card has no exact numbers, unlike the provider's and older cards."""
    labels = card.get("labels")
    counted = labels.values() if isinstance(labels, Mapping) else ()
    exact = any(not isinstance(each, Mapping) or each.get("released") is not None for each in counted)
    return not exact and card.get("plan_digest") is None


def _share(share: float | None) -> float | None:
    """Return a share in whole percent; other shares than 0 and 1 are at least half a percent from both."""
    if share is None:
        return None
    rounded = round(share, _SHARE_DIGITS)
    if rounded == 1 and Share(share).whole != Share(1).whole:
        return 1 - _LITTLE
    return _LITTLE if share > 0 and not rounded else rounded


_LITTLE: Final = 0.005


def _left_out(exact: int | None, configuration: Configuration | None) -> int | None:
    """Return the entry's number of records that a configuration leaves out; `None` if it counts none of them."""
    if not exact or configuration is None:
        return exact if exact == 0 else None
    return configuration.suppressed or None


def _reason(exact: int | None, published: int | None) -> str:
    """Return why a number of left-out records is not published; empty if it is, or is unknown."""
    return _NOT_COUNTED if exact is not None and published is None else ""


def _is_told(name: str, published: Mapping[str, float]) -> bool:
    """Whether a promise may be published: a measurable one only in the entry's form."""
    return name in published or name not in CRITERIA or not CRITERIA[name].is_measured


def _labels(
    labels: Mapping[str, CardLabel], entry: EntryDocument, chosen: Configuration | None
) -> dict[str, CardLabel]:
    """Return the published count of each label value as it is shown, and its share of the table and of the release.

    A value that neither the entry nor the masked table shows is left out: a card names nothing else.
    """
    label, _ = label_shown(entry.label, {} if chosen is None else chosen.maskings)
    published = dict(zip(label.domain, label.histogram, strict=True))
    total = max(1, sum(published.values()))
    return {
        value: CardLabel(
            published.get(value) or None,
            None,
            _share(published[value] / total) if value in published else None,
            _share(each.share_released),
        )
        for value, each in labels.items()
        if value in published or each.released
    }


def _choice(choice: CardChoice, configuration: Configuration | None) -> CardChoice:
    return replace(
        choice,
        suppressed=(suppressed := _left_out(choice.suppressed, configuration)),
        suppressed_reason=_reason(choice.suppressed, suppressed),
        suppressed_cells=None if configuration is None else configuration.suppressed_cells,
        kept=_share(choice.kept),
        at_most=_share(choice.at_most),
        predicted=_interval(choice.predicted),
    )


def _interval(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    value, low, high = (round(each, _SHARE_DIGITS) for each in (interval.value, interval.low, interval.high))
    return Interval(value, low, high)


def _auc(measured: CardAuc, *, states_variance: bool) -> CardAuc:
    auc, low, high = (round(each, _AUC_DIGITS) for each in (measured.auc, measured.low, measured.high))
    return replace(measured, auc=auc, low=low, high=high, rmse=_error(measured.rmse) if states_variance else None)


def _error(rmse: float | None) -> float | None:
    return None if rmse is None else float(f"{rmse:.1e}")


def _comparison(comparison: Comparison) -> Comparison:
    releases = tuple(replace(release, kept=_interval(release.kept)) for release in comparison.releases)
    return replace(comparison, held_out=round(comparison.held_out, -1), releases=releases)


def without_values(reason: str) -> str:
    """Return the reason why a column is never shared, without the values that a draft quotes for its provider."""
    what, excepted, _ = reason.partition(", except ")
    return f"{what}, and texts that are none" if excepted and what in {"numbers", "dates"} else reason
