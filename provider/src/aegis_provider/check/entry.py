"""The figures of a check in an entry."""

from collections.abc import Sequence

from aegis_provider.check.result import RAW, CheckResult, Performance
from aegis_provider.errors import EntryError
from aegis_provider.plan.model import Plan
from aegis_sdk.wire import Configuration, EntryDocument, Measured

# More digits than an interval justifies would only make equal figures look different.
_DIGITS = 4
# Where counts are controlled, as on the card: the digits of an AUC tell how many records it compares.
_FEW_DIGITS = 3


def refuse_other_entry(entry: EntryDocument, plan: Plan, configurations: Sequence[str]) -> None:
    """Reject an entry that the figures of these configurations do not belong in.

    Raises:
        EntryError: The entry has another label or other maskings, or its counts have noise, which figures measured on
            the records would bypass.
    """
    if entry.label.name != plan.label:
        raise EntryError(f"the entry's label is {entry.label.name!r}, but the plan's is {plan.label!r}")
    if entry.label.noise is not None or (entry.disclosure_control and entry.disclosure_control.epsilon is not None):
        raise EntryError("the entry's counts have noise, but a measured AUC has none: do not add it to this entry")
    published = {each.id: each for each in entry.masked}
    for name in configurations:
        if name not in published:
            raise EntryError(f"the entry does not list the configuration {name!r}; name another, or summarize again")
        if published[name].maskings != dict(plan.configuration(name).maskings):
            raise EntryError(f"the entry masks {name!r} otherwise than the plan does; use the plan that matches it")


def with_measured(entry: EntryDocument, plan: Plan, result: CheckResult) -> EntryDocument:
    """Return the entry with the AUC of each checked configuration, by the model that is best on the unmasked table.

    Configurations whose training was not finished are left as they are.

    Raises:
        EntryError: The entry has another label or other maskings, or its counts have noise.
    """
    refuse_other_entry(entry, plan, result.configurations)
    model = result.best_model
    raw = None if model is None else result.of(RAW, model)
    if model is None or raw is None:
        return entry
    found = {name: one for name in result.configurations if (one := result.of(name, model)) is not None}
    digits = _DIGITS if entry.disclosure_control is None else _FEW_DIGITS
    configurations = [
        _with(each, found[each.id], raw, digits) if isinstance(each, Configuration) and each.id in found else each
        for each in entry.configurations or ()
    ]
    return entry.model_copy(update={"configurations": configurations})


def _with(configuration: Configuration, one: Performance, raw: Performance, digits: int) -> Configuration:
    auc, low, high, raw_auc = (
        round(each, digits) for each in (one.auc.value, one.auc.low, one.auc.high, raw.auc.value)
    )
    measured = Measured(model=one.model, auc=auc, low=low, high=high, raw_auc=raw_auc)
    return configuration.model_copy(update={"measured": measured})
