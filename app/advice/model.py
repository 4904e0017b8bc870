"""Questions about entries, answers, and the references for computing them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from aegis_advisor.measures import MEASURES
from aegis_advisor.reconstruction import Certificate
from app.entries.model.configurations import GENERATED, MASKED_ONLY
from app.platform.database.arrays import PackedArray
from app.platform.queue.model import Problem
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy


class Status(StrEnum):
    """The status of an advice."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether the status is final."""
        return self in (Status.SUCCEEDED, Status.FAILED)


class View(StrEnum):
    """The level of detail of a caller's answer: all, or only what does not disclose the counts."""

    FULL = "full"
    COARSE = "coarse"


class ReferenceKind(StrEnum):
    """The reference: one for each attribute, pooled from all maskings, or one for each masking, as in the paper."""

    POOLED = "pooled"
    OWN = "own"


DEVIATION, EXPECTED, PRICE, SUPPRESSED = "deviation", "expected", "price", "suppressed"
"""The axes of a frontier besides privacy criteria."""

USUAL: Final = ""
"""Stands for the measure of a question that names none: the usual one of the version that is asked."""


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """A consumer's question, with all defaults filled in; None means all attributes, weights of 1, no requirements.

    Members that older questions lack when they are read from their stored JSON get their defaults.

    Attributes:
        measure: `USUAL` until it is known which version is asked.
        bias_correction: None until the measure is known, for the measure's default.
        at_least: the required lower limits, for privacy criteria where higher is better.
        at_most: the required upper limits, for privacy criteria where lower is better.
        unit: `PERSON` if these limits are about people; None if promises of records meet them, too.
        label: the column to predict; None for the entry's default label, also where the asker named it.
        target: the masking of the label that is to be predicted; None for the label as it is.
        frontier: the axes on which configurations are compared besides, each with the numbers that are better, `higher`
            or `lower`; None if no frontier is wanted.
        policy: the requirements of the service and of the entry's tenant at the time of the question. They are part of
            it, so that answers from before a change of policy are not reused.
    """

    measure: str
    attributes: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = None
    at_least: Mapping[str, float] | None = None
    at_most: Mapping[str, float] | None = None
    reference: ReferenceKind = ReferenceKind.POOLED
    rounding_seed: int | None = None
    limit: int | None = 20
    bias_correction: bool | None = False
    policy: RequiredPrivacy = NOTHING_REQUIRED
    kinds: tuple[str, ...] = MASKED_ONLY
    unit: str | None = None
    label: str | None = None
    target: str | None = None
    frontier: tuple[tuple[str, str], ...] | None = None

    def by(self, measure: str) -> "AdviceQuestion":
        """The question by this measure, corrected as is the measure's default unless it says how."""
        corrected, known = self.bias_correction, MEASURES.get(measure)
        if corrected is None and measure != USUAL:
            # Declared utilities are not corrected: overfitting inflates utility measured on the training records and
            # lowers it on held-out ones.
            corrected = not self.ranks_declared and known is not None and known.corrected_by_default
        return replace(self, measure=measure, bias_correction=corrected)

    @property
    def required(self) -> RequiredPrivacy:
        """The privacy that it requires itself."""
        return RequiredPrivacy(self.at_least or {}, self.at_most or {}, self.unit)

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes of its frontier; empty if none is wanted."""
        return tuple(name for name, _ in self.frontier or ())

    @property
    def ranks_declared(self) -> bool:
        """Whether it includes generated configurations, so that all are ranked by declared utilities."""
        return GENERATED in self.kinds

    def digest(self) -> bytes:
        """SHA-256 of the question, 32 bytes: equal for equal questions, independent of the order of names."""
        # Defaults are omitted, so that digests are the same as before these members existed.
        new = {"policy": bool(self.policy), "kinds": self.kinds != MASKED_ONLY, "unit": self.unit is not None}
        new |= {"label": self.label is not None, "target": self.target is not None}
        new |= {"frontier": self.frontier is not None}
        asked = {name: value for name, value in asdict(self).items() if new.get(name, True)}
        if self.policy and self.policy.unit is None:
            del asked["policy"]["unit"]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of stored references out of those that an advice needs, one for each scored attribute."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Advice:
    """A question with its answer.

    Attributes:
        result: compressed JSON with the contract's names; None until the advice has succeeded.
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
    """A reference as stored: the arrays of the advisor's reference by name, its bounds and its certificate."""

    attribute: int
    arrays: Mapping[str, PackedArray]
    information_bound: float | None
    certificate: Certificate
    ceilings: Mapping[str, float]
