"""Transfer utilities, declared by a provider: the utility of rules learned from releases on held-out real records."""

from collections.abc import Iterator, Mapping
from math import log2
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator

from aegis_sdk.wire.disclosure_control import DisclosureControl, is_multiple
from aegis_sdk.wire.documents import LONG_OBJECT, Fault, Location, Request, fault, refuse_unknown
from aegis_sdk.wire.examples import EXAMPLE_HOLDOUT
from aegis_sdk.wire.values import COUNT_MAX, PositiveNumber, exact_integer

Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
"""A number from 0 to 1."""

Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(exact_integer)]
"""Any number, negative ones included."""


class Estimate(Request):
    """A number measured on a sample, with its 95 % interval."""

    value: Finite = Field(description="The number")
    low: Finite = Field(description="Lower limit of its 95 % interval")
    high: Finite = Field(description="Upper limit of its 95 % interval")

    @model_validator(mode="after")
    def _is_in_its_interval(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise fault(f"The value, {self.value:g}, must lie in its interval, from {self.low:g} to {self.high:g}")
        return self

    def numbers(self) -> Iterator[tuple[str, float]]:
        """The value and the limits, by name."""
        yield from (("value", self.value), ("low", self.low), ("high", self.high))


ATTRIBUTE_MEASURES: Final = ("mutual_information", "chi_square", "g3")
"""The measures for transfer utilities of single attributes; chi-square is divided by the records."""

TRANSFER_MEASURES: Final = (*ATTRIBUTE_MEASURES, "joint")
"""All measures for transfer utilities."""

_SLACK = 1e-9
"""Relative tolerance of limits, which are computed from logarithms."""


def _measures_only(value: dict[str, Estimate]) -> dict[str, Estimate]:
    """Refuse each name that is not a measure for transfer utilities."""
    refuse_unknown("transfer", value, ATTRIBUTE_MEASURES, "An attribute has no transfer utility by this measure")
    return value


AttributeTransfer = Annotated[
    dict[str, Estimate],
    LONG_OBJECT,
    AfterValidator(_measures_only),
    Field(json_schema_extra={"propertyNames": {"enum": list(ATTRIBUTE_MEASURES)}}),
]
"""The transfer utilities of one attribute by measure."""


class Transfer(Request):
    """The utility of a rule learned from a release on the held-out records (`docs/model.md`).

    Only the entry's owners read these numbers; others read shares to two digits.
    """

    attributes: Annotated[dict[str, AttributeTransfer], LONG_OBJECT] = Field(
        default_factory=dict,
        description="By attribute and measure: mutual information in bits (negative: worse than nothing), chi-square "
        "over the number of records, and g3",
    )
    joint: Estimate | None = Field(
        default=None, description="Of all attributes together, by the measure `joint` without correction"
    )

    def figures(self) -> Iterator[tuple[Location, str, Estimate]]:
        """Each estimate with its place and its measure."""
        for attribute, by_measure in self.attributes.items():
            for measure, figure in by_measure.items():
                yield ("attributes", attribute, measure), measure, figure
        if self.joint is not None:
            yield ("joint",), "joint", self.joint


class Holdout(Request):
    """The real records for evaluating all transfer utilities of the entry; no release was made from them."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_HOLDOUT]})

    records: Annotated[int, Field(ge=1, le=COUNT_MAX)] = Field(description="Number of held-out records")
    unmasked: Transfer | None = Field(
        default=None,
        description="The transfer utilities of the unmasked training records; null: shares are relative to the best "
        "of any configuration",
    )
    majority_error: Score | None = Field(
        default=None,
        description="Share of the held-out records without their most frequent label: the `g3` of guessing without "
        "attributes; needed for utilities by `g3`",
    )
    rounded_to: PositiveNumber | None = Field(
        default=None, description="All transfer utilities were rounded to multiples of this; null: they are exact"
    )


def holdout_faults(holdout: Holdout | None, control: DisclosureControl | None) -> Iterator[Fault]:
    """The faults of held-out records whose numbers are not rounded as declared, or lack a control of all counts."""
    if holdout is None:
        return
    if holdout.rounded_to is not None and not is_multiple(holdout.majority_error or 0.0, holdout.rounded_to):
        yield ("majority_error",), f"Is not a multiple of {holdout.rounded_to:g} (`rounded_to`)"
    if control is None:
        return
    if control.epsilon is not None:
        yield (), "Transfer utilities depend on exact counts, but `disclosure_control` declares noise: leave them out"
    elif holdout.rounded_to is None and (control.rounded_to is not None or control.min_cell is not None):
        yield ("rounded_to",), "These numbers are exact, but `disclosure_control` says all were changed: round them"


def transfer_faults(
    transfer: Transfer, holdout: Holdout | None, attributes: Mapping[str, Any], labels: int, records: int
) -> Iterator[Fault]:
    """The faults of a release's transfer utilities; `records` is an upper bound on the release's records."""
    if holdout is None:
        yield (), "Transfer utilities need the entry's `holdout`"
        return
    for name in (name for name in transfer.attributes if name not in attributes):
        yield ("attributes", name), "The entry has no such attribute"
    for location, measure, figure in transfer.figures():
        if measure == "g3" and holdout.majority_error is None:
            yield location, "Needs the `majority_error` of the entry's `holdout`, from which shares by g3 are computed"
        least, most = figure_limits(measure, labels, records, holdout.records)
        for name, number in figure.numbers():
            if not least - _SLACK <= number <= most + _SLACK:
                detail = f"Is {number:g}, but by {measure} it lies between {least:.6g} and {most:.6g}"
                yield (*location, name), detail
            elif holdout.rounded_to is not None and not is_multiple(number, holdout.rounded_to):
                yield (*location, name), f"Is not a multiple of {holdout.rounded_to:g} (`rounded_to` of the holdout)"


def figure_limits(measure: str, labels: int, records: int, held_out: int) -> tuple[float, float]:
    """The lower and upper limits of a transfer utility; `docs/model.md` derives them.

    An additive rule may predict any number, so `joint` has no lower limit.
    `records` is an upper bound on the release's records.
    """
    if measure == "g3":
        return 0.0, 1.0
    if measure == "mutual_information":
        return -2 * log2(records + 2) - log2(labels), log2(labels)
    return -2.0 * held_out if measure == "chi_square" else -float(COUNT_MAX), labels - 1.0
