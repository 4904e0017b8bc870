"""The result of a check: how well models predict the label from the table and from its releases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

RAW: Final = "(as it is)"
NOTHING: Final = "(nothing shared)"

#: The AUC of a constant model.
CHANCE: Final = 0.5

_FEW: Final = 40
"""With fewer records of a class, intervals cover the AUC in 92 to 94 % of tables, not 95 (`docs/model.md`)."""


@dataclass(frozen=True)
class Interval:
    """A measured value and the limits of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Performance:
    """How well a model predicts the label from a table.

    Attributes:
        table: The id of a configuration, `RAW` or `NOTHING`.
        auc: The area under the ROC curve; with more than two classes, the mean of each against the rest, weighted by
            the records of the class.
        accuracy: The share of records whose most probable class is the true one.
        to_raw: The AUC minus that of `RAW`; `None` for `RAW` itself, or if it did not finish.
        to_winner: The AUC minus that of the first configuration; `None` for that itself, or if it did not finish.
    """

    table: str
    model: str
    auc: Interval
    accuracy: Interval
    to_raw: Interval | None = None
    to_winner: Interval | None = None


@dataclass(frozen=True)
class CheckResult:
    """The result of `check`.

    Attributes:
        configurations: The ids of the configurations checked; the first is the winner.
        performances: The results, by model, then in the order `RAW`, configurations, `NOTHING`.
        unfinished: By model, the tables whose training did not finish in time.
        seconds: The time limit.
        records: Number of records used, out of the `of_records` of the table.
        classes: Number of label values predicted.
        rare: Label values with too few records for the folds, and their numbers of records; these are not used.
        left_out: By configuration, how many of the used records its release leaves out. Models are tested on
            these, but not trained on them.
        shares: By configuration that finished, further ones included, its AUC above chance as a share of
            `RAW`'s, by the best model.
        refitted: The attributes whose maskings were refitted to the label in each fold.
        chosen_anew: Whether the configurations were chosen anew in each fold.
        fewest: Number of used records of the rarest class.
    """

    label: str
    configurations: tuple[str, ...]
    performances: tuple[Performance, ...]
    unfinished: Mapping[str, tuple[str, ...]]
    seconds: float
    folds: int
    records: int
    of_records: int
    classes: int
    rare: Mapping[str, int]
    left_out: Mapping[str, int]
    shares: Mapping[str, Interval] = field(default_factory=dict)
    refitted: tuple[str, ...] = ()
    chosen_anew: bool = False
    fewest: int = _FEW

    @property
    def winner(self) -> str:
        """The first configuration."""
        return self.configurations[0]

    @property
    def models(self) -> tuple[str, ...]:
        """The models with a result."""
        return tuple(dict.fromkeys(performance.model for performance in self.performances))

    @property
    def best_model(self) -> str | None:
        """The model that predicts best from the unmasked table; `None` if none finished."""
        raw = [performance for performance in self.performances if performance.table == RAW]
        return max(raw, key=lambda each: each.auc.value).model if raw else None

    def of(self, table: str, model: str) -> Performance | None:
        """Return the performance of the model on the table, or `None` if it did not finish."""
        return next(
            (
                performance
                for performance in self.performances
                if (performance.table, performance.model) == (table, model)
            ),
            None,
        )

    def share(self, table: str) -> float | None:
        """Return the AUC above chance as a share of `RAW`'s, by the best model; `None` if unknown."""
        share = self.shares.get(table)
        return None if share is None else share.value

    @property
    def held(self) -> bool | None:
        """Whether no configuration has a significantly higher AUC than the winner; `None` if unknown."""
        return not any(rival.difference.low > 0 for rival in self._rivals) if self._rivals else None

    @property
    def verdict(self) -> str:
        """Whether the advice held, in a sentence."""
        if len(self.configurations) == 1:
            return f"only {self.winner} was checked: name other configurations after it to see whether the advice held"
        if not self._rivals:
            return f"whether the advice held is not known: the models were not trained within {self.seconds:g} seconds"
        return self._judged() + (", of what was finished in time" if self.unfinished else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the AUCs and their intervals, a sentence each."""
        anew = "the search was repeated in each fold, without the labels of the records tested"
        few = f"fewer than {_FEW} records have the rarest label, so the 95 % intervals are slightly too narrow"
        trained = any(performance.table != NOTHING for performance in self.performances)
        return (*[anew] * (trained and self.chosen_anew), *[few] * (trained and self.fewest < _FEW))

    def _judged(self) -> str:
        beyond_chance = [rival for rival in self._rivals if rival.difference.low > 0]
        best = max(beyond_chance or self._rivals, key=lambda each: each.difference.value)
        if best.difference.value <= 0:
            return f"the advice held: {self.winner} has the highest AUC of the configurations checked"
        limits = f"{best.difference.low:.4f} to {best.difference.high:.4f}"
        higher = f"{best.table} has a higher AUC than {self.winner}, by {best.difference.value:.4f} ({limits})"
        if beyond_chance:
            return f"the advice did not hold: {higher}, with {best.model}"
        return f"the advice held: {higher}, with {best.model}, which may be chance"

    @property
    def _rivals(self) -> list["_Rival"]:
        """The configurations that can be compared with the winner, by each model."""
        rivals = [performance for performance in self.performances if performance.table in self.configurations[1:]]
        return [_Rival(rival.table, rival.model, rival.to_winner) for rival in rivals if rival.to_winner is not None]


@dataclass(frozen=True)
class _Rival:
    """A configuration with the difference of its AUC from the winner's, by one model."""

    table: str
    model: str
    difference: Interval
