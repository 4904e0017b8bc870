"""The two sides of a table: training records of a generator, and held-out records.
The side of a record depends only on the values of its attributes, so that equal records are on one side, and the sides
can be recomputed from the table. This discloses no value. The label is ignored: if records that differ only in the
label were on different sides, the training records would lack exactly the records with the label of a held-out one, and
models that learn well would do badly.
"""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import PlanError
from aegis_provider.plan.model import Plan
from aegis_provider.records.records import Records

_FOR_VALIDATION: Final = 4

SHARE: Final = 0.2
"""The default share of held-out records."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The training and the held-out records."""

    training: Records
    held_out: Records


def sides_of(records: Records, share: float = SHARE) -> Sides:
    """Hold out about this share of the combinations of attributes, with all their records."""
    held_out = held_out_of(records, share)
    return Sides(records.take(~held_out), records.take(held_out))


def held_out_of(records: Records, share: float = SHARE, purpose: str = "") -> NDArray[np.bool_]:
    """(records,) Return whether each record is held out; the choice differs by purpose."""
    names = records.attributes
    first, of_record = records.distinct(names)
    texts = [[records.column(name).domain.texts[at] for at in records.column(name).places[first]] for name in names]
    return np.array([_hash([purpose, *each]) < share for each in zip(*texts, strict=True)], dtype=bool)[of_record]


def learnt(records: Records, plan: Plan) -> Records:
    """Return the records with the columns that a generator learns from, which determine the held-out records."""
    never = {attribute.name for attribute in plan.attributes if not attribute.is_generable}
    return Records(tuple(column for column in records.columns if column.name not in never))


def held_out_share(plan: Plan | None, asked: float | None) -> float:
    """Return the share of records to hold out: the requested one, that of the plan, or a fifth.

    Raises:
        PlanError: It differs from the plan's, which makes all its releases comparable.
    """
    if asked is not None and plan is not None and plan.holdout is not None and asked != plan.holdout:
        raise PlanError(
            f"{plan.source}: states the holdout {plan.holdout:g}, not {asked:g}: tables that learn from other records "
            "cannot be compared; omit --holdout, or change the plan"
        )
    stated = None if plan is None else plan.holdout
    return next(each for each in (asked, stated, SHARE) if each is not None)


def validated_of(records: Records, share: float, seed: int) -> NDArray[np.bool_]:
    """(records,) Return whether each training record is used for validation.
    These are all records with some combinations of attributes. If combinations repeat so often that their numbers of
    records are too large or too small, records are drawn one by one.
    """
    chosen = held_out_of(records, share, f"validation {seed}")
    if share / 2 <= chosen.mean() <= 2 * share:
        return chosen
    return np.random.default_rng([seed, _FOR_VALIDATION]).random(len(records)) < share


def validated_by_coin(records: int, share: float) -> NDArray[np.bool_]:
    """(records,) Return about this share of the records, each by a coin of the system's secure random source.
    Coins depend neither on records nor on a seed, so an additional record changes nothing for the others, unlike in
    `validated_of`. Differential privacy requires this.
    """
    return np.random.default_rng(secrets.randbits(128)).random(records) < share


def _hash(texts: Sequence[str]) -> float:
    """Return a number in [0, 1) determined by the texts."""
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / (1 << 64)
