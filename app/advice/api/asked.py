"""Conversion of questions from the contract to the domain."""

import msgspec

from aegis_advisor.measures import MEASURES
from aegis_sdk import wire
from app.advice.model.advice import AdviceQuestion
from app.tenants.api import required_privacy


def question_of(asked: wire.Question) -> AdviceQuestion:
    """A validated question in the domain's form; without a limit, with as many rows as answers may have."""
    required = None if asked.require is None else required_privacy(asked.require)
    limit = asked.limit if isinstance(asked, wire.AdviceRequest) else None
    members = asked.model_dump(exclude={"require"}) | {
        "at_least": None if required is None else required.at_least,
        "at_most": None if required is None else required.at_most,
        "limit": wire.ROWS if limit is None else limit,
        "bias_correction": _wants_correction(asked),
    }
    return msgspec.convert(members, AdviceQuestion)


def _wants_correction(asked: wire.Question) -> bool:
    """Whether to correct the bias: as in the question, or else the measure's default.

    Declared utilities are not corrected: overfitting inflates utility measured on the training records and lowers it on
    held-out ones.
    """
    if asked.bias_correction is not None:
        return asked.bias_correction
    if "generated" in asked.kinds:
        return False
    return asked.measure in MEASURES and MEASURES[asked.measure].corrected_by_default
