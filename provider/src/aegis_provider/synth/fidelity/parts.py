"""Splits released and real records, so that no model is tested on its training records."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError, shortened
from aegis_provider.records import SHARE, Records
from aegis_provider.synth.fidelity.encoding import PlainRecords, stacked
from aegis_provider.synth.fidelity.learning import Lesson, records_of_rows
from aegis_provider.synth.fidelity.result import Relation
from aegis_provider.synth.released import Opened
from aegis_provider.synth.released.opening import FEWEST

_FOR_DRAWING, _FOR_TESTING = 1, 2
_LARGEST: Final = 1e100
_MASKED: Final = 0.95
"""A release of which a smaller share of rows may mask a record was made differently."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The records of a comparison.

    Attributes:
        released: The release, without the rows of test records if these can be identified.
        learnt: The same records as training data.
        real: The real records that it was made from, without test records.
        tested: The real test records.
        read: The test records in the form of the release's training data.
        tested_on: The relation of the test records to the release.
    """

    released: PlainRecords
    learnt: PlainRecords
    real: PlainRecords
    tested: PlainRecords
    read: PlainRecords
    tested_on: Relation

    def shown_in(self, released: PlainRecords) -> float:
        """Return the share of test records that occur exactly among released ones, in their columns."""
        tested = self.tested.only(released.names)
        rows = np.stack([column.of_record for column in stacked([released, tested]).columns], axis=1)
        _, of_record = np.unique(np.nan_to_num(rows, nan=np.inf), axis=0, return_inverse=True)
        theirs, mine = np.split(of_record.reshape(-1), [len(released)])
        return float(np.isin(mine, theirs).mean())


def parts_of(opened: Opened, name: str, seed: int) -> Parts:
    """Return the records to compare.
    Models are tested on the held-out records. If there are too few, a fifth of the real ones is drawn for tests, and
    their rows are removed from the release if each of its rows masks a record.

    Args:
        opened: The release and its table.
        name: The name of the release.
        seed: The seed of all draws.

    Raises:
        TableError: There are too few records.
    """
    released = PlainRecords.released(opened.released, np.random.default_rng([seed, _FOR_DRAWING]))
    if len(opened.held_out) >= FEWEST:
        split = _Split(np.ones(len(released), dtype=bool), opened.seen, opened.held_out, Relation.UNSEEN)
    else:
        split = _drawn(opened, np.random.default_rng([seed, _FOR_TESTING]))
    parts = split.parts(opened, released)
    for what, records in (("{} real records to test on", parts.tested), (f"{name}: {{}} records", parts.released)):
        if len(records) < FEWEST:
            raise TableError(f"{what.format(len(records))}; a comparison needs at least {FEWEST}")
        _refuse_huge(records)
    _refuse_huge(parts.real)
    return parts


def _refuse_huge(records: PlainRecords) -> None:
    """Refuse numbers whose squares, needed for distances, overflow."""
    for column in records.columns:
        if column.is_numeric and (np.abs(np.nan_to_num(column.of_record)) > _LARGEST).any():
            raise TableError(
                f"{shortened(column.name)} has numbers beyond {_LARGEST:g}, of which no distance can be computed; "
                "correct them, or make categories of them"
            )


@dataclass(frozen=True, eq=False)
class _Split:
    """The training rows of the release, the real training records, and the test records."""

    rows: NDArray[np.bool_]
    real: Records
    tested: Records
    tested_on: Relation

    def parts(self, opened: Opened, released: PlainRecords) -> Parts:
        lesson = Lesson.of(opened.released, released, opened.label)
        return Parts(
            released=released.take(self.rows),
            learnt=lesson.released.take(self.rows),
            real=PlainRecords.real(self.real),
            tested=PlainRecords.real(self.tested),
            read=lesson.read(self.tested),
            tested_on=self.tested_on,
        )


def _drawn(opened: Opened, rng: np.random.Generator) -> _Split:
    """Return the split without held-out records. Rows that match no record are not trained on, either."""
    tested = rng.random(len(opened.seen)) < SHARE
    records, relation = records_of_rows(opened.released, opened.seen, rng), Relation.RELEASED
    rows = np.ones(len(records), dtype=bool)
    if (records >= 0).mean() >= _MASKED:
        rows, relation = (records >= 0) & ~tested[records], Relation.TAKEN_OUT
    return _Split(rows, opened.seen.take(~tested), opened.seen.take(tested), relation)
