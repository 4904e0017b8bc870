"""Which released and real records are compared, so that no model is tested on what it was trained on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import TableError
from aegis_provider.fidelity.plain import PlainRecords, stacked
from aegis_provider.fidelity.result import Tested
from aegis_provider.records import SHARE, Records
from aegis_provider.released import Opened, Released
from aegis_provider.released.opening import FEWEST

_FOR_DRAWING, _FOR_TESTING = 1, 2


@dataclass(frozen=True, eq=False)
class Parts:
    """The records that are compared.

    Attributes:
        released: The release; without the tested records, if their rows can be known.
        real: The real records that it was made of, without the tested ones.
        tested: Real records that models are tested on.
        tested_on: What these are to the release.
    """

    released: PlainRecords
    real: PlainRecords
    tested: PlainRecords
    tested_on: Tested

    @property
    def found(self) -> float:
        """The share of the tested records that the release shows exactly, in the columns that it has."""
        tested = self.tested.only(self.released.names)
        rows = np.stack([each.of_record for each in stacked([self.released, tested]).columns], axis=1)
        _, of_record = np.unique(np.nan_to_num(rows, nan=np.inf), axis=0, return_inverse=True)
        released, mine = np.split(of_record.reshape(-1), [len(self.released)])
        return float(np.isin(mine, released).mean())


def parts_of(opened: Opened, name: str, seed: int) -> Parts:
    """Return the records to compare.

    Models are tested on held-out records whose attributes no record has that the release was made of. Equal records
    are on one side: if a record's attributes were on both, those with its label value would be missing where models
    learn, and only those, so that models which learn well would do badly.

    If there are no such records, a fifth of the real ones is drawn for the test, and their rows are taken out of the
    release, if its rows are in the table's order.

    Args:
        opened: The release and its table.
        name: The name of the release.
        seed: The seed of all that is drawn.

    Raises:
        TableError: There are too few records.
    """
    released = PlainRecords.released(opened.released, np.random.default_rng([seed, _FOR_DRAWING]))
    new = _new(opened.held_out, opened.seen, opened.label)
    if new.sum() >= FEWEST:
        parts = Parts(
            released,
            PlainRecords.real(opened.seen),
            PlainRecords.real(opened.held_out.take(new)),
            Tested.UNSEEN,
        )
    else:
        parts = _drawn(opened, released, np.random.default_rng([seed, _FOR_TESTING]))
    for what, records in ((f"{name}: {{}} records", parts.released), ("{} real records to test on", parts.tested)):
        if len(records) < FEWEST:
            raise TableError(f"{what.format(len(records))}; a comparison needs at least {FEWEST}")
    return parts


def _drawn(opened: Opened, released: PlainRecords, rng: np.random.Generator) -> Parts:
    tested = rng.random(len(opened.seen)) < SHARE
    rows = rows_in_order(opened.released, opened.seen)
    real, tests = (PlainRecords.real(opened.seen.take(each)) for each in (~tested, tested))
    if rows is None:
        return Parts(released, real, tests, Tested.RELEASED)
    return Parts(released.take(~tested[rows]), real, tests, Tested.TAKEN_OUT)


def _new(records: Records, others: Records, label: str) -> NDArray[np.bool_]:
    """(records,) Return whether none of the others has the attributes of a record."""
    places = [
        np.stack([column.places for column in each.columns if column.name != label], axis=1)
        for each in (records, others)
    ]
    _, of_record = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    mine, theirs = np.split(of_record.reshape(-1), [len(records)])
    return ~np.isin(mine, theirs)


def rows_in_order(released: Released, records: Records) -> NDArray[np.intp] | None:
    """(released,) Return the place of the real record that each released one masks, if both are in the same order.

    Real records may be left out. Of records that are masked alike, the first is taken.

    Returns:
        The places; `None` if they are not in the same order, or not masked but made up.
    """
    meanings = [
        [frozenset() if isinstance(each, float) else frozenset(each.tolist()) for each in column.meanings]
        for column in released.columns
    ]
    originals = list(zip(*(records.column(name).places.tolist() for name in released.names), strict=True))
    places, at = [], 0
    for codes in zip(*(each.codes.tolist() for each in released.columns), strict=True):
        allowed = [each[code] for each, code in zip(meanings, codes, strict=True)]
        while at < len(originals) and not all(map(frozenset.__contains__, allowed, originals[at])):
            at += 1
        if at == len(originals):
            return None
        places.append(at)
        at += 1
    return np.array(places, dtype=np.intp)
