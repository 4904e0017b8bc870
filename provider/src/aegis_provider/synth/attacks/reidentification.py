"""Re-identification by a neural network fitted to the release.

Source: Bagad et al., Data-Sharing Economy: Value-Addition from Data meets Privacy, WSDM 2021, section 3: for 1 % of the
records, the attacker knows some quasi-identifiers and predicts the others with a multi-layer perceptron. A person is
re-identified if the prediction is within epsilon of the truth. The paper's epsilon of 3 has no meaning without the unit
of its distance; the default here is the smallest epsilon within which at least 5 % of random pairs of real records lie.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.extras import needs_extra
from aegis_provider.records import Records, drawn
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.attacks.outcome import Outcome, share_of
from aegis_provider.synth.released import Released, ReleasedColumn
from aegis_sdk.reading import Share

NAME: Final = "re-identification"

_SHARE: Final = 0.01
_FEWEST: Final = 100
_FITTED: Final = 5_000
_EPOCHS: Final = 20
_BATCH: Final = 100
_HIDDEN: Final = (64,)
_PAIRS: Final = 10_000
_CHANCE: Final = 0.05
_INDICATORS: Final = 30
_ROUNDING: Final = 1e-9

Matrix = NDArray[np.float64]


def reidentification(case: Case, epsilon: float | None = None, known: int | None = None) -> Iterator[Outcome]:
    """Predict the unknown quasi-identifiers of targets from the known ones, for increasing numbers of known ones.
    Numbers are scaled to [0, 1] as in the distances. Categories have indicators, and the largest output is the
    prediction. The distance is Euclidean, with 0 or 1 for a category. The baseline is fitted to the release with
    shuffled columns, so that it knows value frequencies only.

    Args:
        case: The release under attack.
        epsilon: The distance of a hit.
        known: The number of known quasi-identifiers; by default every number is tried.
    """
    parts = [_Part.of(case.release.column(name)) for name in case.quasi_identifiers]
    rng = case.rng(NAME)
    order = rng.permutation(len(parts))
    parts = [parts[place] for place in order]
    for number in range(1, len(parts)) if known is None else [known]:
        yield _with_known(case, parts, number, epsilon, rng)


def _with_known(
    case: Case, parts: "Sequence[_Part]", known: int, epsilon: float | None, rng: np.random.Generator
) -> Outcome:
    given, asked = parts[:known], parts[known:]
    pairs = distances_of_pairs(asked, case.seen, rng)
    within = float(np.quantile(pairs, _CHANCE)) if epsilon is None else epsilon
    chance = float((pairs <= within + _ROUNDING).mean())
    rows = drawn(len(case.release), _FITTED, int(rng.integers(1 << 32)))
    release = case.release.take(rows)
    networks = [_fitted(each, given, asked, rng) for each in (release, release.shuffled(rng))]
    seen, held_out = case.targets(NAME, max(_FEWEST, round(_SHARE * len(case.seen))))

    def hits(network: Any, targets: Records) -> NDArray[np.bool_]:  # noqa: ANN401 - scikit-learn has no types
        predicted = network.predict(_inputs(given, targets)).reshape(len(targets), -1)
        return _apart(asked, predicted, targets) <= within + _ROUNDING

    success, baseline = (share_of(hits(each, seen)) for each in networks)
    return Outcome(
        NAME,
        f"knowing {known} of {len(parts)} quasi-identifiers",
        len(seen),
        "persons",
        success,
        baseline,
        share_of(hits(networks[0], held_out)) if len(held_out) else None,
        f"From {known} of {len(parts)} quasi-identifiers, the others are predicted within {within:.3g} for "
        f"{Share(success.value)} of the persons; {Share(chance)} of random pairs of real persons are as close.",
        {"epsilon": within, "random_pairs_as_close": chance, "known": known},
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """A quasi-identifier in the network's representation.

    Attributes:
        column: The released column.
        groups: (values,) The indicator of each category, separate ones for the most frequent; empty for numbers.
        size: Its number of inputs.
    """

    column: ReleasedColumn
    groups: NDArray[np.intp]
    size: int

    @classmethod
    def of(cls, column: ReleasedColumn) -> "_Part":
        if column.is_numeric:
            return cls(column, np.zeros(0, dtype=np.intp), 1 + (column.original.missing is not None))
        values = len(column.positions)
        groups = np.full(values, min(values, _INDICATORS) - 1, dtype=np.intp)
        frequent = np.argsort(-column.original.counts, kind="stable")[:_INDICATORS]
        groups[frequent] = np.arange(len(frequent))
        return cls(column, groups, len(frequent))

    def of_release(self, release: Released) -> Matrix:
        """(released, size) The inputs of released records, averaged over possible values."""
        column = release.column(self.column.name)
        if not column.is_numeric:
            return np.asarray(column.shares(self.groups, self.size)[column.codes])
        is_missing = np.isnan(column.positions).astype(np.intp)
        inputs = np.stack([column.middles, column.shares(is_missing, 2)[:, 1]], axis=1)
        return np.asarray(inputs[column.codes, : self.size])

    def of_records(self, records: Records) -> Matrix:
        """(records, size) The inputs of records of the original table."""
        places = records.column(self.column.name).places
        if not self.column.is_numeric:
            return np.asarray(np.eye(self.size)[self.groups[places]])
        at = self.column.positions[places]
        return np.asarray(np.stack([np.where(np.isnan(at), 0.5, at), np.isnan(at)], axis=1)[:, : self.size])

    def apart(self, one: Matrix, other: Matrix) -> Matrix:
        """(records,) The distances between two matrices of inputs: 0 or 1 for categories, and 1 if only one is
        missing.
        """
        if not self.column.is_numeric:
            return np.asarray(one.argmax(axis=1) != other.argmax(axis=1), dtype=np.float64)
        gaps = np.abs(one[:, 0].clip(0, 1) - other[:, 0].clip(0, 1))
        if self.size == 1:
            return np.asarray(gaps)
        missing = [np.round(each[:, 1]) >= 1 for each in (one, other)]
        return np.asarray(np.where(missing[0] | missing[1], (missing[0] != missing[1]).astype(np.float64), gaps))


def _inputs(parts: Sequence[_Part], records: Records) -> Matrix:
    return np.concatenate([part.of_records(records) for part in parts], axis=1)


def _fitted(release: Released, given: Sequence[_Part], asked: Sequence[_Part], rng: np.random.Generator) -> Any:  # noqa: ANN401 - scikit-learn has no types
    with needs_extra("synth"):
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra
        from sklearn.neural_network import MLPRegressor  # noqa: PLC0415 - an extra
    inputs, outputs = (np.concatenate([each.of_release(release) for each in side], axis=1) for side in (given, asked))
    network = MLPRegressor(
        hidden_layer_sizes=_HIDDEN,
        learning_rate_init=0.005,
        batch_size=min(_BATCH, len(inputs)),
        max_iter=_EPOCHS,
        n_iter_no_change=_EPOCHS,
        random_state=int(rng.integers(1 << 31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs suffice
        return network.fit(inputs, outputs if outputs.shape[1] > 1 else outputs[:, 0])


def _apart(parts: Sequence[_Part], predicted: Matrix, targets: Records) -> Matrix:
    """(targets,) The distances of predictions to the truth."""
    ends = np.cumsum([part.size for part in parts])[:-1]
    blocks = np.split(predicted, ends, axis=1)
    squares = [part.apart(block, part.of_records(targets)) ** 2 for part, block in zip(parts, blocks, strict=True)]
    return np.asarray(np.sqrt(np.sum(squares, axis=0)))


def distances_of_pairs(parts: Sequence[_Part], records: Records, rng: np.random.Generator) -> Matrix:
    """(pairs,) The distances of random pairs of records."""
    one, other = (records.take(rng.integers(0, len(records), _PAIRS)) for _ in range(2))
    return _apart(parts, _inputs(parts, one), other)
