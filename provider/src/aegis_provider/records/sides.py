"""The two sides of a table: records that a generator learns from, and records that it never sees.

The side of a record follows from the values of its attributes alone, so that equal records are on one side, and whoever
has the table finds the same sides again. Nobody learns a value from that. The label does not count: if records that
differ in it alone were on different sides, those with the label of a held-out record would be missing where models
learn, and only those, so that models which learn well would do badly.
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
"""The share of the records that is held out unless another is asked for."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The records that are learnt from, and those that are held out."""

    training: Records
    held_out: Records


def sides_of(records: Records, share: float = SHARE) -> Sides:
    """Hold out about this share of the combinations of attributes, with all records that have them."""
    held_out = held_out_of(records, share)
    return Sides(records.take(~held_out), records.take(held_out))


def held_out_of(records: Records, share: float = SHARE, purpose: str = "") -> NDArray[np.bool_]:
    """(records,) Return whether a record is held out; for another purpose, others are."""
    names = records.attributes
    first, of_record = records.distinct(names)
    texts = [[records.column(name).domain.texts[at] for at in records.column(name).places[first]] for name in names]
    return np.array([_hash([purpose, *each]) < share for each in zip(*texts, strict=True)], dtype=bool)[of_record]


def learnt(records: Records, plan: Plan) -> Records:
    """Return the records with the columns that a generator learns from, which decide what it holds out."""
    never = {attribute.name for attribute in plan.attributes if not attribute.is_generable}
    return Records(tuple(column for column in records.columns if column.name not in never))


def held_out_share(plan: Plan | None, asked: float | None) -> float:
    """Return the share of the records to hold out: the one asked for, that of the plan, or a fifth.

    Raises:
        PlanError: It is not the plan's, by which all figures of its releases are compared.
    """
    if asked is not None and plan is not None and plan.holdout is not None and asked != plan.holdout:
        raise PlanError(
            f"{plan.source}: states the holdout {plan.holdout:g}, not {asked:g}: tables that learn from other records "
            "cannot be compared; leave --holdout out, or change the plan"
        )
    stated = None if plan is None else plan.holdout
    return next(each for each in (asked, stated, SHARE) if each is not None)


def validated_of(records: Records, share: float, seed: int) -> NDArray[np.bool_]:
    """(records,) Return which training records models are compared with while they learn from the others.

    These are all records with some combinations of attributes. Where combinations repeat so much that theirs are too
    many or too few, records are drawn one by one.
    """
    chosen = held_out_of(records, share, f"validation {seed}")
    if share / 2 <= chosen.mean() <= 2 * share:
        return chosen
    return np.random.default_rng([seed, _FOR_VALIDATION]).random(len(records)) < share


def validated_by_coin(records: int, share: float) -> NDArray[np.bool_]:
    """(records,) Return about this share of the records, each by a coin of the system's secure source.

    No coin looks at a record, and none follows from a seed: one record more changes nothing for the others, which
    `validated_of` does not promise. Differential privacy needs that.
    """
    return np.random.default_rng(secrets.randbits(128)).random(records) < share


def _hash(texts: Sequence[str]) -> float:
    """Return a number in [0, 1) that the texts determine."""
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / (1 << 64)
