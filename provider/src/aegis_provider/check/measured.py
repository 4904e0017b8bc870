"""What an entry states of a check: how well a model predicts the label from each configuration."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

from aegis_provider.classifiers import AUC, RAW, CheckResult, Interval, Performance
from aegis_provider.errors import EntryError
from aegis_provider.plan.model import Plan
from aegis_sdk import wire
from aegis_sdk.wire import EntryDocument, Estimate, Measured

# More digits than the interval justifies would make equal numbers look different.
_DIGITS: Final = 4
# With controlled counts, as on the card: more digits of an AUC disclose how many records it compares.
_FEW_DIGITS: Final = 3


def refuse_other_entry(entry: EntryDocument, plan: Plan, configurations: Sequence[str]) -> None:
    """Refuse an entry to which the numbers of these configurations do not belong.

    Raises:
        EntryError: The entry has another label or other maskings, its label is a number in only one of entry and plan,
            or its counts have noise, which measured numbers would bypass.
    """
    if entry.label.name != plan.label:
        raise EntryError(f"the entry's label is {entry.label.name!r}, but the plan's is {plan.label!r}")
    if entry.label.scores is None and plan.label in plan.binned:
        raise EntryError(f"the plan has bins of the label {plan.label!r}, but the entry has none: summarize again")
    if entry.label.noise is not None or (entry.disclosure_control and entry.disclosure_control.epsilon is not None):
        raise EntryError("the entry's counts have noise, but a measured number has none: do not add it to this entry")
    published = {configuration.id: configuration for configuration in entry.masked}
    for name in configurations:
        if name not in published:
            raise EntryError(f"the entry does not list the configuration {name!r}; name another, or summarize again")
        if published[name].maskings != dict(plan.configuration(name).maskings):
            raise EntryError(f"the entry masks {name!r} differently from the plan; use the plan that matches it")


def with_measured(entry: EntryDocument, plan: Plan, result: CheckResult) -> EntryDocument:
    """Return the entry with the AUC of each checked configuration, by the best model for the unmasked table.

    Of a label that is a number, `R^2`, at least 0, and the error if the entry states the number's variance, which both
    tell. Configurations whose training did not finish stay unchanged.

    Raises:
        EntryError: The entry has another label or other maskings, or its counts have noise.
    """
    refuse_other_entry(entry, plan, result.configurations)
    model = result.best_model
    raw = None if model is None else result.of(RAW, model)
    if model is None or raw is None:
        return entry
    measured = {
        name: _measured(entry, one, raw, result.scale)
        for name in result.configurations
        if (one := result.of(name, model)) is not None
    }
    configurations = [
        each.model_copy(update={"measured": measured[each.id]})
        if isinstance(each, wire.Configuration) and each.id in measured
        else each
        for each in entry.configurations or ()
    ]
    return entry.model_copy(update={"configurations": configurations})


def _measured(entry: EntryDocument, one: Performance, raw: Performance, scale: str) -> Measured:
    """Return what an entry states of a model, no more precisely than its counts allow."""
    rounded = partial(round, ndigits=_DIGITS if entry.disclosure_control is None else _FEW_DIGITS)
    own, low, high, of_raw = (rounded(max(0.0, each)) for each in (*_limits(one.auc), raw.auc.value))
    if scale == AUC:
        return Measured(model=one.model, auc=own, low=low, high=high, raw_auc=of_raw)
    error, scores = None, entry.label.scores
    if scores is not None and scores.variance is not None and one.accuracy.value > 0:
        digits = 1 - math.floor(math.log10(one.accuracy.value))
        value, least, most = (round(each, digits) for each in _limits(one.accuracy))
        error = Estimate(value=value, low=least, high=most)
    return Measured(model=one.model, r2=own, low=low, high=high, raw_r2=of_raw, rmse=error)


def _limits(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high
