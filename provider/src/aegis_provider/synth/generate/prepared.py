"""Prepares the records of a table for learning, and draws generated ones from a model of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.errors import TableError, nearest, shortened
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.records import (
    Column,
    Records,
    Sides,
    sides_of,
    validated_by_coin,
    validated_of,
)
from aegis_provider.synth.generate.dependencies import Dependencies, typed
from aegis_provider.synth.generate.levels import FEWEST, Codes, Levels, Texts, levels_of
from aegis_provider.synth.generate.methods.method import (
    Consistent,
    Knobs,
    LearningTask,
    Method,
    Model,
    Private,
)
from aegis_provider.synth.generate.pairs import Pairs
from aegis_sdk.cli.signals import held_back

_SALIENCY: Final = 3


def privacy_weights(attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """(columns,) The weights in the plan, by default 1; 0 for the label, the last column."""
    stated = [attribute.privacy_weight for attribute in attributes]
    return np.array([*(1.0 if weight is None else weight for weight in stated), 0.0])


def importance_weights(
    plan: Plan, attributes: Sequence[Attribute], codes: Codes, sizes: Sequence[int], seed: int
) -> NDArray[np.float64]:
    """(columns,) The weights in the plan, by default those by saliency, or 1; 0 for the label."""
    given = [attribute.importance for attribute in attributes]
    stated = np.array([*(np.nan if weight is None else weight for weight in given), 0.0])
    unstated = np.isnan(stated)
    if not unstated.any():
        return stated
    if not plan.saliency:
        return np.where(unstated, 1.0, stated)
    from aegis_provider.synth.generate.networks import importance_of  # noqa: PLC0415 - an extra, and slow to load

    with held_back():
        importance = importance_of(codes, sizes, np.random.default_rng([seed, _SALIENCY]))
    return np.where(unstated, importance, stated)


_FEWEST_RECORDS: Final = 100
_VALIDATED: Final = 0.1
_FOR_RECORDS, _FOR_VALUES = 5, 6
_ROUNDS: Final = 50
_SAME_LEVELS: Final = 5
"""Rounds in which only numbers within their levels are drawn again, so that the shares of levels stay."""


@dataclass(frozen=True)
class Wish:
    """A request for generated records.

    Attributes:
        records: The number of records; by default as many as training records.
        label_shares: The share of each label value; by default, labels are drawn by the shares of the training records,
            since exact shares would disclose their numbers.
        holdout: The share of the table's records to hold out; by default that of the plan, or a fifth.
        seed: The seed; by default random, so that runs differ.
        seconds: The time limit, from reading the table to the last model. A method that learns in one step ignores it,
            and there is always one model.
    """

    records: int | None = None
    label_shares: Mapping[str, float] | None = None
    holdout: float | None = None
    seed: int | None = None
    seconds: float = 240.0


@dataclass(frozen=True, eq=False)
class Prepared:
    """The records of a table, prepared for learning.

    Attributes:
        validation: (records, columns) The levels of the validation records.
        combinations: The number of combinations of attributes in all records; of people, if it is known whose they are.
        usual: The default number of generated records: that of the training records, approximately with a guarantee.
        like: The training columns by name, whose types generated ones have.
        dependencies: The columns that follow from others; none with a guarantee, since they are found in the records.
        pairs: The pairs of values that a record may have; `None` if any.
        fewest: The fewest records of a value of the label.
    """

    task: LearningTask
    validation: Codes
    labels: Sequence[str]
    held_out: int
    combinations: int
    usual: int
    like: Mapping[str, Column] = field(default_factory=dict)
    dependencies: Dependencies = field(default_factory=Dependencies)
    pairs: Pairs | None = None
    fewest: int = FEWEST

    @classmethod
    def of(
        cls,
        records: Records,
        plan: Plan,
        attributes: Sequence[Attribute],
        method: Method,
        knobs: Knobs,
        holdout: float,
        seed: int,
        name: str,
        rows: int = 1,
    ) -> "Prepared":
        """Split the records, group their values into levels, and weigh the columns.

        With a guarantee, all of this depends only on the plan, on each record by itself, on coins independent of
        records, and on the method's private statistics.

        Args:
            rows: The most records of a person, by which the fewest records of a level or leaf are multiplied.

        Raises:
            TableError: There are too few records, or fewer than two label values with enough records.
        """
        sides = sides_of(records, holdout)
        if isinstance(method, Private) and method.guarantee(knobs):
            return cls._privately(records, sides, attributes, plan, method, knobs)
        if sides.training.number < _FEWEST_RECORDS:
            unit = "records" if records.people is None else "people"
            raise TableError(
                f"{name}: {sides.training.number} {unit} to learn from are too few; {_FEWEST_RECORDS} are needed"
                + (", and --holdout 0 holds none out" if records.number >= _FEWEST_RECORDS else "")
            )
        fewest = FEWEST * rows
        dependencies = Dependencies.of(sides.training.columns, fewest)
        training = Records(tuple(dependencies.learnt(sides.training.columns)))
        levels = [levels_of(column, fewest) for column in training.columns]
        label = training.columns[-1]
        frequent = [place for place in range(len(label.domain)) if label.counts[place] >= fewest]
        if len(frequent) < 2:  # noqa: PLR2004 - one class
            raise TableError(
                f"{name}: the label {shortened(plan.label)} has fewer than two values with {fewest} records among "
                f"the {len(sides.training):,} to learn from, so there is nothing to predict; choose another label"
                + (", or --holdout 0" if len(sides.held_out) else "")
            )
        codes = _codes(levels, training)
        validated = validated_of(sides.training, _VALIDATED, seed)
        sizes = [each.size for each in levels]
        quasi = np.array([*(attribute.name in plan.quasi_identifiers for attribute in attributes), False])
        learnt = codes[~validated]
        importance = np.zeros(len(levels))
        if knobs.value > 0:
            importance = importance_weights(plan, attributes, learnt, sizes, seed)
        pairs, supports = None, {}
        if isinstance(method, Consistent):
            pairs = Pairs.of(sides.training.columns, method.fewest_together * rows)
            supports = pairs.supports(sides.training.columns, levels, {each.column for each in dependencies.formulas})
        task = LearningTask(levels, learnt, quasi, privacy_weights(attributes), importance, knobs, supports, rows)
        texts = [""] * levels[-1].size
        for place, level in enumerate(levels[-1].of_value):
            texts[level] = label.domain.texts[place] if place in frequent else texts[level]
        combinations, held_out = len(records.persons(records.attributes)[0]), len(sides.held_out)
        like = {each.name: each for each in sides.training.columns}
        return cls(
            task, codes[validated], texts, held_out, combinations, len(learnt), like, dependencies, pairs, fewest
        )

    @classmethod
    def _privately(
        cls,
        records: Records,
        sides: Sides,
        attributes: Sequence[Attribute],
        plan: Plan,
        method: Private,
        knobs: Knobs,
    ) -> "Prepared":
        training, types = sides.training, [*(attribute.value_type for attribute in attributes), None]
        validated = validated_by_coin(len(training), _VALIDATED)
        if training.people is not None:
            validated = validated[training.persons(())[1]]  # one coin a person
        noticed = method.noticed(training.take(~validated).columns, types, knobs)
        quasi = np.array([*(attribute.name in plan.quasi_identifiers for attribute in attributes), False])
        learnt, validation = (_codes(noticed.levels, training.take(each)) for each in (~validated, validated))
        no_importance = np.zeros(len(noticed.levels))  # it would follow from the records
        task = LearningTask(noticed.levels, learnt, quasi, privacy_weights(attributes), no_importance, knobs)
        combinations = len(records.persons(records.attributes)[0])
        return cls(task, validation, noticed.labels, len(sides.held_out), combinations, noticed.records)

    def weights(self) -> dict[str, tuple[float, float]]:
        """Return by attribute the weights for privacy and for value; 0 for unused ones."""
        privacy = np.where(self.task.quasi_identifiers, self.task.privacy_weights, 0) * (self.task.knobs.privacy > 0)
        both = zip(self.task.levels[:-1], privacy, self.task.importance, strict=False)
        return {each.name: (float(one), float(two)) for each, one, two in both}

    def generated(self, model: Model, wish: Wish, seed: int, *, guaranteed: bool) -> pa.Table:
        """Return the texts of generated records by column.

        Raises:
            TableError: See `sampled`.
        """
        rng, of_values = np.random.default_rng([seed, _FOR_RECORDS]), np.random.default_rng([seed, _FOR_VALUES])
        records = self.usual if wish.records is None else wish.records
        if guaranteed and wish.label_shares is None:
            codes = model.sample(records, rng)
        else:
            codes = self.sampled(model, self._quotas(records, wish.label_shares, rng), rng)
        texts = self._texts(codes, of_values)
        for attempt in range(_ROUNDS):
            again = self._contradictory(texts)
            if not again.any():
                break
            if attempt >= _SAME_LEVELS:
                labels = np.bincount(codes[again, -1], minlength=len(self.labels))
                codes[again] = self.sampled(model, labels, rng)
            for name, redrawn in self._texts(codes[again], of_values).items():
                texts[name][again] = redrawn
        return pa.table({name: pa.array(each, pa.string()) for name, each in texts.items()})

    def _texts(self, codes: Codes, rng: np.random.Generator) -> dict[str, Texts]:
        """Return (records,) values of these levels by column, those that follow from others after these."""
        both = zip(self.task.levels, codes.T, strict=True)
        return self.dependencies.drawn({each.name: each.decoder.drawn(one, rng) for each, one in both}, self.like)

    def _contradictory(self, texts: Mapping[str, Texts]) -> NDArray[np.bool_]:
        """(records,) Return whether each record has a pair of values that no record may have."""
        if self.pairs is None:
            return np.zeros(len(next(iter(texts.values()))), dtype=bool)
        return self.pairs.lacking({name: typed(self.like[name], each) for name, each in texts.items()})

    def sampled(self, model: Model, quotas: Codes, rng: np.random.Generator) -> Codes:
        """Return (records, columns) generated levels with these numbers of each label value.

        By default, labels are drawn by the shares of the training records, since exact numbers would disclose how many
        people have each. With differential privacy, which those shares would break, the model draws the labels.

        Raises:
            TableError: The model hardly ever generates a requested label value.
        """
        parts, missing = [], quotas.copy()
        for _ in range(_ROUNDS):
            drawn = model.sample(int(max(2 * missing.sum(), 1_000)), rng)
            for level in np.flatnonzero(missing):
                rows = np.flatnonzero(drawn[:, -1] == level)[: missing[level]]
                parts.append(drawn[rows])
                missing[level] -= len(rows)
            if not missing.any():
                return np.asarray(rng.permutation(np.concatenate(parts)))
        lacking = self.labels[int(missing.argmax())]
        raise TableError(
            f"the model hardly ever generates the label value {shortened(lacking)}; request other label shares, more "
            "seconds or a larger epsilon"
        )

    def _quotas(self, records: int, label_shares: Mapping[str, float] | None, rng: np.random.Generator) -> Codes:
        """(levels of the label,) The number of records to generate of each."""
        if label_shares is None:
            counts = np.bincount(self.task.codes[:, -1], minlength=len(self.labels))
            return np.asarray(rng.multinomial(records, counts / counts.sum()), dtype=np.intp)
        unknown = [share for share in label_shares if share not in self.labels]
        if unknown:
            instead = nearest(unknown[0], [text for text in self.labels if text])
            raise TableError(f"the label has no value {shortened(unknown[0])} with {self.fewest} records; {instead}")
        shares = np.array([label_shares.get(text, 0.0) for text in self.labels])
        exact = records * shares / shares.sum()
        quotas = np.floor(exact).astype(np.intp)
        quotas[np.argsort(quotas - exact, kind="stable")[: records - int(quotas.sum())]] += 1
        return np.asarray(quotas)


def _codes(levels: Sequence[Levels], records: Records) -> Codes:
    return np.asarray(np.stack([each.encode(one) for each, one in zip(levels, records.columns, strict=True)], axis=1))
