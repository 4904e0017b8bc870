"""Training and testing of models on a table and on its releases, in every fold, until time is up."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from time import monotonic
from typing import Any

import numpy as np

from aegis_provider.check.estimates import (
    Estimate,
    accuracy,
    auc,
    r_squared,
    root_mean_square,
    weighted_auc,
)
from aegis_provider.check.masked_records import (
    USUAL,
    CheckedRecords,
    Choose,
    ChosenAnew,
    Fold,
    Labels,
    MaskedRecords,
    Refit,
    Refitted,
    fitting_of,
    folds_of,
    is_fitted,
)
from aegis_provider.classifiers import (
    AUC,
    CHANCE,
    NOTHING,
    R2,
    RAW,
    REGRESSORS,
    CheckResult,
    Interval,
    LabelCheck,
    Matrix,
    Performance,
)
from aegis_provider.draft import refitted
from aegis_provider.errors import PlanError, TableError, refuse_without
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.processes import Progress, results
from aegis_provider.release.apply import refuse_masked_elsewhere
from aegis_provider.table import Source, open_table


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a model.

    `probabilities`: (records, classes) By the model of the fold that tests the record; `on_trained`: (folds,) The AUC
    of each fold's model on its training records.
    """

    probabilities: Matrix
    on_trained: Sequence[float]


@dataclass(frozen=True, eq=False)
class Training:
    """The training and test data, and limits.

    `tables`: by name, a function that returns a table's records in a fold; may be called often; `end`: the time, by the
    monotonic clock, at which training ends; `numbers`: (records,) what is predicted if the label is a number.
    """

    labels: Labels
    folds: Sequence[Fold]
    tables: Mapping[str, Callable[[int], MaskedRecords]]
    end: float
    progress: Progress
    models: Sequence[str] = USUAL
    numbers: Matrix | None = None

    def predictions(self) -> Iterator[tuple[str, str, Predictions | None]]:
        """Yield each model with each table and its predictions, or `None` if time was up.

        All models of the first table come first, since other tables are compared with it, and are masked meanwhile.
        """
        names = list(self.tables)
        every = [*product(self.models, names[:1]), *product(self.models, names[1:])]
        trained: deque[Matrix | Labels] = deque()
        with closing(results(self._calls(every, trained), len(self.labels), self.end)) as found:
            yield from self._collected(every, found, trained)

    def _calls(
        self, every: Sequence[tuple[str, str]], trained: deque[Matrix | Labels]
    ) -> Iterator[Callable[[], Matrix | None]]:
        """Yield the calls of `_call`; none trains that would end too late if it took as long as the longest."""
        longest = 0.0
        for (model, table), place in product(every, range(len(self.folds))):
            call = self._call(model, table, place, trained, self.end - longest)
            began = monotonic()
            yield call
            longest = max(longest, monotonic() - began)

    def _collected(
        self, every: Sequence[tuple[str, str]], found: Iterator[Matrix | None], trained: deque[Matrix | Labels]
    ) -> Iterator[tuple[str, str, Predictions | None]]:
        done = 0
        for model, table in every:
            columns = int(self.labels.max()) + 1 if self.numbers is None else 1
            probabilities, on_trained = np.zeros((len(self.labels), columns)), []
            for fold in self.folds:
                said, labels = next(found), trained.popleft()
                if said is not None:
                    probabilities[fold.test] = said[: len(fold.test)]
                    on_trained.append(self._on_trained(said[len(fold.test) :], labels))
                done += 1
                self.progress(done, len(every) * len(self.folds))
            whole = len(on_trained) == len(self.folds)
            yield model, table, Predictions(probabilities, on_trained) if whole else None

    def _on_trained(self, said: Matrix, labels: Matrix | Labels) -> float:
        """Return the AUC of predictions of the training records, given their classes, or `R^2`, given their numbers."""
        if self.numbers is not None:
            variance = float(labels.var())
            return 1 - float(np.mean((said[:, 0] - labels) ** 2)) / variance if variance > 0 else 0.0
        # A release may leave out a whole class.
        held, classes = np.unique(labels, return_inverse=True)
        trained_on = weighted_auc(said[:, held.astype(np.intp)], classes) if len(held) > 1 else None
        return CHANCE if trained_on is None else trained_on.value

    def _call(
        self, model: str, table: str, place: int, trained: deque[Matrix | Labels], end: float
    ) -> Callable[[], Matrix | None]:
        """Return a call that trains on all folds but one, and predicts the records of that one, unless it is too late.

        The call also predicts its training records; their classes are added to `trained`.
        """
        if table != NOTHING and monotonic() >= end:
            trained.append(self.labels[:0])
            return _nothing
        fold, records = self.folds[place], self.tables[table](place)
        train = fold.train[records.shown[fold.train]]
        fitting = fitting_of(model, records.features, self.labels, train, fold, self.numbers)
        trained.append(fitting.labels if fitting.numbers is None else fitting.numbers)
        return partial(replace(fitting, also_trained=True).probabilities_before, end)


def _nothing() -> None:
    """Train nothing."""


_SEED = 0
_OF_DEFAULT = 2
"""How many times the time of another label the default one gets, which has more to train."""
_FEWEST_FOLDS = 2

# With this many tested records, the interval of a share of the AUC is a few percent wide.
_ENOUGH_TESTED = 5_000


def check(
    table: Source,
    plan: Plan,
    configurations: Sequence[str],
    *,
    further: Sequence[str] = (),
    seconds: float = 45.0,
    folds: int = 5,
    refit: Refit | None = None,
    choose: Choose | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _fits: None,
) -> CheckResult:
    """Train models on a table and its releases, and test how well they predict the label of held-out records.

    Logistic regression and gradient boosting are cross-validated; of a label that is a number, ridge and boosted
    regression, with `R^2` in the place of the AUC. All tables have the same folds, so their numbers
    are paired; all records of a person are in one fold. `RAW` has the plan's attributes unmasked. A release is
    tested on masked records, including those that it leaves out; models are not trained on these. A larger table is
    sampled to 50,000 records. Equal arguments give equal results, unless time runs out. Of several labels, the default
    one is checked in this way; each other one is predicted by gradient boosting from the table and from the winner's
    release, as it was chosen.

    Args:
        configurations: The ids of the configurations: first the winner, then others to compare with it.
        further: The ids of further configurations for which only the kept share is estimated, after all else: by the
            best model for the unmasked table, tested on the first folds that have 5,000 records or more.
        seconds: Training ends after this time; in one process, none begins that would end later if it took as long as
            the longest. The result lists what is unfinished.
        refit: Refits maskings that are fitted to the label to the training records of each fold, since they have seen
            the label of the test records; by default as they are drafted, of people if the plan counts these.
        choose: Repeats the choice of `configurations` with the training records of each fold, if the label of all
            records chose them: the best of many looks better on these than it is. The numbers then describe releases
            chosen in this way.

    Raises:
        AegisError: scikit-learn is not installed.
        PlanError: A configuration is unknown, named twice, or masked elsewhere, or there are fewer than two folds.
        TableError: The table cannot be read or does not fit the plan, or its label cannot be predicted.
    """
    chosen = _chosen(plan, configurations, further, folds)
    refuse_without("check")
    end, of_default = monotonic() + seconds, _OF_DEFAULT / (_OF_DEFAULT + len(plan.other_labels))
    how: dict[str, Any] = {"folds": folds, "delimiter": delimiter, "memory_limit": memory_limit, "progress": progress}
    first = monotonic() + of_default * seconds
    result = _of_default(
        table, plan, chosen, len(configurations), first, seconds, USUAL, refit=refit, choose=choose, **how
    )
    by_label = {}
    for place, label in enumerate(plan.other_labels, start=1):
        share = max(0.0, end - monotonic()) / (len(plan.other_labels) - place + 1)
        by_label[label] = _of_label(table, plan, label, configurations[0], share, **how)
    return replace(result, by_label=by_label)


def _of_label(table: Source, plan: Plan, label: str, winner: str, seconds: float, **how: Any) -> LabelCheck:  # noqa: ANN401 - as for `check`
    """Check one label that is not the default one."""
    about = plan.with_default(label)
    if winner not in {each.id for each in about.configurations}:
        return LabelCheck("", None, None, f"{winner} does not show it")
    try:
        end = monotonic() + seconds
        found = _of_default(table, about, (about.configuration(winner),), 1, end, seconds, USUAL[-1:], **how)
    except TableError as error:
        return LabelCheck("", None, None, str(error))
    model = found.best_model or ""
    raw, own = found.of(RAW, model), found.of(winner, model)
    if raw is None or own is None:
        return LabelCheck("", None, None, "no time was left to train a model")
    return LabelCheck(model, raw.auc, own.auc, scale=found.scale, rmse=None if found.scale == AUC else own.accuracy)


def _of_default(
    table: Source,
    plan: Plan,
    chosen: Sequence[Configuration],
    compared: int,
    end: float,
    seconds: float,
    models: Sequence[str],
    *,
    folds: int,
    refit: Refit | None = None,
    choose: Choose | None = None,
    delimiter: str,
    memory_limit: str,
    progress: Progress,
) -> CheckResult:
    """Check the default label; `compared`: how many of the configurations are compared, before the further ones."""
    every, shown_as = chosen, chosen[0].maskings.get(plan.label, IDENTITY)
    chosen = [each for each in every if each.maskings.get(plan.label, IDENTITY) == shown_as]
    compared -= sum(each not in chosen for each in every[:compared])
    configurations, further = ([each.id for each in of] for of in (chosen[:compared], chosen[compared:]))
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        records = CheckedRecords.read(opened, plan, folds, _SEED, shown_as)
        masked = {configuration.id: cache(partial(records.masked, configuration)) for configuration in chosen}
        refit = refit or partial(refitted, rows=records.counted.rows)
        split, fitted = folds_of(records.labels, folds, _SEED, records.people), _fitted(plan, chosen)
        refitted_there = Refitted(records, chosen, refit, split)
        released: dict[str, Callable[[int], MaskedRecords]] = {
            name: partial(refitted_there.masked, whole, name) for name, whole in masked.items()
        }
        if choose is not None:
            best = chosen[:compared]
            again = ChosenAnew(records, best, choose, refit if _fitted(plan) else None, split)
            released |= {each.id: partial(again.masked, rank) for rank, each in enumerate(best)}
        first = {configuration: released[configuration] for configuration in configurations}
        as_it_is = cache(records.as_it_is)
        nothing = MaskedRecords((), np.ones(len(records.labels), dtype=bool))
        tables = {RAW: lambda _place: as_it_is(), **first, NOTHING: lambda _place: nothing}
        models = models if records.numbers is None else tuple(REGRESSORS)[-len(models) :]
        training = Training(records.labels, split, tables, end, progress, models, records.numbers)
        estimates, unfinished = _estimates(training)
        rest = replace(training, folds=_enough(training.folds), tables={each: released[each] for each in further})
        shares = _shares(estimates, rest)
        finished = [name for name in configurations if any(name in by_table for by_table in estimates.values())]
        left_out = {name: int((~masked[name]().shown).sum()) for name in finished}
    return CheckResult(
        label=plan.label,
        configurations=tuple(configurations),
        performances=tuple(_performances(estimates, configurations[0], is_number=records.numbers is not None)),
        unfinished=unfinished,
        seconds=seconds,
        folds=folds,
        records=len(records.labels),
        of_records=records.counted.records,
        classes=len(np.unique(records.labels)),
        rare=records.rare,
        left_out=left_out,
        shares=shares,
        refitted=fitted,
        chosen_anew=choose is not None,
        fewest=int(np.bincount(records.labels).min()),
        scale=AUC if records.numbers is None else R2,
        shown_as=shown_as,
        apart=tuple(each.id for each in every if each not in chosen),
    )


@dataclass(frozen=True, eq=False)
class _Estimates:
    """The AUC and the accuracy of a model on a table; `first`: the AUC on as many folds as a share needs."""

    auc: Estimate
    accuracy: Estimate
    first: Estimate


def _estimates(training: Training) -> tuple[dict[str, dict[str, _Estimates]], dict[str, tuple[str, ...]]]:
    """Train the models. Return the estimates by model and table, and the unfinished tables by model."""
    estimates: dict[str, dict[str, _Estimates]] = {}
    unfinished: dict[str, tuple[str, ...]] = {}
    labels, folds, numbers = training.labels, training.folds, training.numbers
    for model, name, predictions in training.predictions():
        if predictions is None:
            unfinished[model] = (*unfinished.get(model, ()), name)
        else:
            probabilities, first = predictions.probabilities, _enough(folds)
            if numbers is not None:
                predicted = probabilities[:, 0]
                whole, some = (
                    r_squared(predicted, numbers, labels, of, predictions.on_trained) for of in (folds, first)
                )
                errors = replace(root_mean_square(predicted, numbers, labels), excess=whole.excess)
                estimates.setdefault(model, {})[name] = _Estimates(whole, errors, some)
                continue
            whole = auc(probabilities, labels, folds, predictions.on_trained)
            estimates.setdefault(model, {})[name] = _Estimates(
                whole,
                replace(accuracy(probabilities, labels), excess=whole.excess),
                replace(auc(probabilities, labels, first), excess=whole.excess),
            )
    return estimates, unfinished


def _enough(folds: Sequence[Fold]) -> Sequence[Fold]:
    """Return the first folds with enough test records, or all."""
    tested = np.cumsum([len(fold.test) for fold in folds])
    return folds[: 1 + int(np.searchsorted(tested, _ENOUGH_TESTED))]


def _shares(estimates: Mapping[str, Mapping[str, _Estimates]], rest: Training) -> dict[str, Interval]:
    """Return the kept shares of the AUC, or of `R^2`, by the best model for the unmasked table, also on the `rest`."""
    nothing = CHANCE if rest.numbers is None else 0.0
    raw = {model: by_table[RAW] for model, by_table in estimates.items() if RAW in by_table}
    best = max(raw, key=lambda model: raw[model].auc.value, default="")
    if not best or min(raw[best].auc.value, raw[best].first.value) <= nothing:
        return {}
    further, _ = _estimates(replace(rest, models=(best,)))
    shares = {
        **{name: each.auc.share_of(raw[best].auc, nothing) for name, each in estimates[best].items()},
        **{name: each.first.share_of(raw[best].first, nothing) for name, each in further.get(best, {}).items()},
    }
    return {name: share.interval(-np.inf, np.inf) for name, share in shares.items() if name not in (RAW, NOTHING)}


def _chosen(plan: Plan, configurations: Sequence[str], further: Sequence[str], folds: int) -> list[Configuration]:
    """Return the configurations to check, the further ones last."""
    if not configurations:
        raise PlanError("name a configuration to check")
    if folds < _FEWEST_FOLDS:
        raise PlanError(f"there must be at least {_FEWEST_FOLDS} folds, not {folds}")
    names = [*configurations, *further]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise PlanError(f"configuration {name!r} is named twice")
    chosen = [plan.configuration(each) for each in names]
    for configuration in chosen:
        refuse_masked_elsewhere(plan, configuration)
    return chosen


def _fitted(plan: Plan, chosen: Sequence[Configuration] | None = None) -> tuple[str, ...]:
    """Return the attributes with maskings fitted to the label, or those of them that a configuration masks."""
    return tuple(
        attribute.name
        for attribute in plan.attributes
        if attribute.fitted_to_label
        and (chosen is None or any(is_fitted(attribute, configuration) for configuration in chosen))
    )


def _performances(
    estimates: Mapping[str, Mapping[str, _Estimates]], winner: str, *, is_number: bool
) -> Iterator[Performance]:
    for model, by_table in estimates.items():
        for table, one in by_table.items():
            to_raw = by_table.get(RAW) if table != RAW else None
            to_winner = by_table.get(winner) if table != winner else None
            yield Performance(
                table,
                model,
                one.auc.interval(-np.inf if is_number else 0.0),
                one.accuracy.interval(0.0, np.inf if is_number else 1.0),
                None if to_raw is None else (one.auc - to_raw.auc).interval(),
                None if to_winner is None else (one.auc - to_winner.auc).interval(),
            )
