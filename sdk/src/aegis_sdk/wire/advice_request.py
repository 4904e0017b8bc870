"""Questions: which configuration is best."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from aegis_sdk.wire.bounded import LONG_OBJECT
from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.examples import EXAMPLE_ADVICE_REQUEST
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.sizes import ROWS
from aegis_sdk.wire.values import Count, DistinctIdentifiers, Identifier, Number, repeats

KINDS: Final = ("masked", "generated")
"""The kinds of configurations."""


def _none_if_empty(value: dict[str, float] | None) -> dict[str, float] | None:
    """Sort the names. An empty object means the same as no field, so it becomes None."""
    return dict(sorted(value.items())) if value else None


def _in_order(value: list[str]) -> list[str]:
    """Sort the kinds; each may be named once."""
    refuse("kinds", repeats(value))
    return [kind for kind in KINDS if kind in value]


class Question(Request):
    """A question about an entry. Every field but `measure` has a default.

    Equal questions become equal instances with equal JSON: defaults are filled in, attributes and weights are sorted
    by name, an empty object becomes null, and 1 and 1.0 are the same number.
    """

    measure: Identifier = Field(description="Id of a measure; `GET /v1/measures` lists them")
    attributes: Annotated[DistinctIdentifiers, AfterValidator(sorted)] | None = Field(
        default=None, description="Score only these attributes; null: all"
    )
    weights: Annotated[Annotated[dict[str, Number], LONG_OBJECT] | None, AfterValidator(_none_if_empty)] = Field(
        default=None, description="Weight of each attribute, 1 by default; the weights are normalised"
    )
    require: Annotated[Privacy | None, AfterValidator(_none_if_empty)] = Field(
        default=None,
        description="Consider only configurations that promise this privacy: lower limits for `k`, `l` and the like, "
        "upper limits for `t`, `epsilon` and the like",
    )
    kinds: Annotated[list[Literal["masked", "generated"]], Field(min_length=1), AfterValidator(_in_order)] = Field(
        default=["masked"],
        exclude_if=lambda kinds: kinds == ["masked"],
        description="The kinds of configurations to rank. With `generated`, all are ranked by the transfer utilities "
        "that their provider declares, and configurations without any are left out. Answers have this member "
        "only then",
    )
    bias_correction: bool | None = Field(
        default=None,
        description="Subtract the measure's bias in small samples, if it is known (`GET /v1/measures`); null: the "
        "measure's default (`corrected_by_default`)",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("question", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if self.attributes is None or self.weights is None:
            return
        for name in sorted(self.weights.keys() - set(self.attributes)):
            yield ("weights", name), "This attribute is not in `attributes`"
        if all(self.weights.get(name, 1) == 0 for name in self.attributes):
            yield ("weights",), "All weights are zero"


class AdviceRequest(Question):
    """Asks which configuration loses the least predictive utility."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE_REQUEST]})

    reference: Literal["pooled", "own"] = Field(
        default="pooled",
        description="`pooled`: one reference for each attribute; `own`: one for each masking, as first published",
    )
    rounding_seed: Count | None = Field(default=None, description="Seed of the rounding; only with `own`")
    limit: Annotated[int, Field(ge=0, le=ROWS)] | None = Field(
        default=20, description="Number of ranking rows; 0: none, null: the largest number that answers have"
    )

    def _faults(self) -> Iterator[Fault]:
        if self.rounding_seed is not None and self.reference == "pooled":
            yield ("rounding_seed",), 'A seed needs the reference "own"'
        yield from super()._faults()
