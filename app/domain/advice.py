"""A question about an entry, its answer, and the references that it is computed from."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from aegis_advisor.reconstruction import Certificate
from app.domain.arrays import PackedArray


class Status(StrEnum):
    """How far an advice is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Nothing more will come of it."""
        return self in (Status.SUCCEEDED, Status.FAILED)


class ReferenceKind(StrEnum):
    """Against what configurations are measured: one pooled reference, or each its own, as first published."""

    POOLED = "pooled"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """What a consumer asks, defaults filled in; None means: all attributes, weight 1 each, nothing required.

    Attributes:
        at_least: what a configuration has to vouch for, by guarantee, where more is better.
        at_most: where less is.
    """

    measure: str
    attributes: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = None
    at_least: Mapping[str, float] | None = None
    at_most: Mapping[str, float] | None = None
    reference: ReferenceKind = ReferenceKind.POOLED
    rounding_seed: int | None = None
    limit: int | None = 20
    bias_correction: bool = False

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The question again from its fields as JSON."""
        names = stored["attributes"]
        return cls(
            measure=stored["measure"],
            attributes=None if names is None else tuple(names),
            weights=_floats(stored["weights"]),
            at_least=_floats(stored["at_least"]),
            at_most=_floats(stored["at_most"]),
            reference=ReferenceKind(stored["reference"]),
            rounding_seed=stored["rounding_seed"],
            limit=stored["limit"],
            bias_correction=stored.get("bias_correction", False),  # older questions have none
        )

    def digest(self) -> bytes:
        """SHA-256 of the question, (32,) bytes: equal for equal questions, whatever the order of their names."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).digest()


def _floats(numbers: Mapping[str, float] | None) -> dict[str, float] | None:
    # PostgreSQL gives a large float back as an integer of as many digits.
    return None if numbers is None else {name: float(number) for name, number in numbers.items()}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an advice failed: a stable slug and a sentence."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How many of the references that an advice needs, one for each attribute that it scores, are there."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Advice:
    """A question with its answer.

    Attributes:
        result: compressed JSON in the contract's names; None until it has succeeded.
    """

    id: str
    status: Status
    entry_id: str
    version: int
    version_id: int
    digest: str
    question: AdviceQuestion
    model_version: str
    created_at: datetime
    elapsed_ms: float | None = None
    result: bytes | None = None
    problem: Problem | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class PackedReference:
    """A reference as it is stored: the arrays of an advisor's reference by name, its bounds and its certificate."""

    attribute: int
    arrays: Mapping[str, PackedArray]
    information_bound: float | None
    certificate: Certificate
    ceilings: Mapping[str, float]
