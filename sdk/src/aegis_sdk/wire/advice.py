"""The question for the best configuration, and its answer."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from aegis_sdk.wire.bounded import LONG_OBJECT
from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.configuration import Privacy
from aegis_sdk.wire.documents import Answer, Request
from aegis_sdk.wire.examples import EXAMPLE_ADVICE, EXAMPLE_ADVICE_REQUEST
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.problem import Problem
from aegis_sdk.wire.values import Count, DistinctIdentifiers, Identifier, Number

AdviceStatus = str
"""`queued`, `running`, `succeeded` or `failed`; a client takes what it does not know for unfinished."""


def _none_if_empty(value: dict[str, float] | None) -> dict[str, float] | None:
    """Nothing weighted or required is the same question as no such field; names come in one order."""
    return dict(sorted(value.items())) if value else None


class AdviceRequest(Request):
    """Which configuration loses least predictive utility? Everything but `measure` has a default.

    Equal questions become equal instances, whose JSON is equal too: defaults are filled in, attributes and
    weights are sorted by name, an empty object is null, and 1 and 1.0 are one number.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE_REQUEST]})

    measure: Identifier = Field(description="Id of a measure, as `GET /v1/measures` lists them")
    attributes: Annotated[DistinctIdentifiers, AfterValidator(sorted)] | None = Field(
        default=None, description="Score these attributes only; null: all of them"
    )
    weights: Annotated[Annotated[dict[str, Number], LONG_OBJECT] | None, AfterValidator(_none_if_empty)] = Field(
        default=None, description="Weight per attribute, 1 where none is given; they are normalised"
    )
    require: Annotated[Privacy | None, AfterValidator(_none_if_empty)] = Field(
        default=None,
        description="Only configurations that vouch for that much: `k`, `l` at least; `t`, `epsilon` at most",
    )
    reference: Literal["pooled", "own"] = Field(
        default="pooled", description="One reference per attribute, or each masking's own as first published"
    )
    rounding_seed: Count | None = Field(default=None, description="Seed of the rounding; with `own` only")
    limit: Count | None = Field(default=20, description="Rows of the ranking; 0 none, null all")
    bias_correction: bool | None = Field(
        default=None,
        description="Take the measure less its bias in small samples, where `GET /v1/measures` has one; null: as the "
        "measure does by default (`corrected_by_default`)",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("question", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if self.rounding_seed is not None and self.reference == "pooled":
            yield ("rounding_seed",), 'A seed goes with the reference "own"'
        if self.attributes is None or self.weights is None:
            return
        for name in sorted(self.weights.keys() - set(self.attributes)):
            yield ("weights", name), "The attribute is not selected"
        if all(self.weights.get(name, 1) == 0 for name in self.attributes):
            yield ("weights",), "All weights are zero"


class RankedConfiguration(Answer):
    """A row of the ranking."""

    configuration: str = Field(description="Id of the configuration")
    deviation: float = Field(description="Weighted mean of the deviations of its maskings; smaller is better")
    utility: float = Field(description="Weighted mean of the utilities of its maskings")
    standard_error: float | None = Field(
        default=None, description="Of the utility, at most; the records are taken for a sample; null: not known"
    )
    difference_error: float | None = Field(
        default=None, description="Standard error, at most, of its deviation less that of the best; null: not known"
    )


class MaskingScore(Answer):
    """What one masking of an attribute keeps and loses."""

    utility: float = Field(description="The measure on the masked attribute")
    deviation: float = Field(description="Its distance from the reference utility")
    source: str = Field(description="Where the utility comes from: `counts`, `fitted`, `reference` or `definition`")
    standard_error: float | None = Field(default=None, description="Of the utility; the records are taken for a sample")


class Misfit(Answer):
    """How far the counts of a view are from what the reference makes of them."""

    largest: float = Field(description="Largest difference of a count, as a fraction of the records")
    standardised: float | None = Field(
        default=None,
        description="Root mean square of the differences over their standard deviations: about 1, or less, where the "
        "declaration is true; null for exact counts",
    )


class Reconstruction(Answer):
    """How the reference joint counts of an attribute were found: the certificate of the solution."""

    method: str = Field(description="Method, such as `closed_form`")
    atoms: int = Field(description="Groups of values that no mapping tells apart")
    iterations: int = Field(description="Iterations it took")
    residual: float = Field(description="Largest deviation from a margin, as a fraction of the records")
    converged: bool = Field(description="Whether the residual is within the tolerance")
    misfits: dict[str, Misfit] = Field(
        default_factory=dict,
        description="By masking: views whose counts are uncertain; if nothing converged, exact ones too",
    )
    support_known: bool = Field(default=False, description="Whether it is certain which cells are empty")


class AttributeAdvice(Answer):
    """What was found for one attribute."""

    name: str = Field(description="Name of the attribute")
    knowledge: str = Field(description="What is known unmasked: `joint`, `histogram` or `no_histogram`")
    reference_utility: float = Field(description="The measure of the unmasked attribute, as well as it is known")
    reference_estimated: bool = Field(
        default=False, description="Depends on which cells are empty, which is uncertain here"
    )
    bound: str | None = Field(
        default=None,
        description="What `bound_value` is to the true utility: `exact`, `lower`, `upper`; null: nothing",
    )
    bound_value: float | None = Field(default=None, description="A certified bound on the true utility")
    lower_bound: float | None = Field(default=None, description="The true utility is no less; null: nothing is certain")
    upper_bound: float | None = Field(default=None, description="The true utility is no more; null: nothing is certain")
    maskings: dict[str, MaskingScore] = Field(
        default_factory=dict, description="Score per masking that the configurations use"
    )
    reconstruction: Reconstruction | None = Field(default=None, description="How the reference was found")


class JointAdvice(Answer):
    """What a measure that takes attributes together found of them."""

    reference_utility: float = Field(
        description="The most that is known or estimated to be there: deviations are measured from it"
    )
    lower_bound: float | None = Field(
        default=None, description="The true utility of all unmasked attributes is no less; null: nothing is certain"
    )
    dimensions: int = Field(
        description="Of the best configuration: masked values that have records, less one for each attribute, less "
        "those that depend on others"
    )


class Progress(Answer):
    """How far an advice is: before it is answered, each attribute that it scores needs its reference."""

    done: int = Field(description="Scored attributes whose reference is there")
    total: int = Field(description="Scored attributes")


class Advice(Answer):
    """The answer. The result fields are null until the status is `succeeded`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE]}, protected_namespaces=())

    id: str = Field(description="Id of the advice")
    status: AdviceStatus = Field(description="`queued`, `running`, `succeeded` or `failed`")
    progress: Progress | None = Field(default=None, description="How far it is; null once it is finished")
    entry: EntryVersion = Field(description="The version of the entry that was asked about")
    request: dict[str, Any] = Field(description="The question as understood, defaults filled in")
    configuration: str | None = Field(default=None, description="The best configuration: the first of `tied`")
    deviation: float | None = Field(default=None, description="Its deviation")
    tied: list[str] | None = Field(default=None, description="Every configuration as good as the best, in order")
    considered: int | None = Field(default=None, description="Configurations that `require` left")
    ranking_basis: str | None = Field(
        default=None, description="`exact`: provably the ranking by true deviation; `estimated`: an estimate"
    )
    indistinguishable: list[str] | None = Field(
        default=None,
        description="Configurations whose deviation is within 1.96 standard errors of the best's (95 %), in the order "
        "of the ranking, the best among them; the first 10,000. Null: not known, with the reference `own` or by a "
        "measure that takes several attributes together",
    )
    indistinguishable_count: int | None = Field(default=None, description="How many of these there are")
    ranking: list[RankedConfiguration] | None = Field(default=None, description="Best first, up to `limit` rows")
    attributes: list[AttributeAdvice] | None = Field(default=None, description="What was found per attribute")
    joint: JointAdvice | None = Field(
        default=None, description="What was found of the attributes together; null but for measures that take them so"
    )
    unit: str | None = Field(default=None, description="Unit of utilities and deviations: `bit`, `fraction` or null")
    better: str | None = Field(default=None, description="Which utilities are better: `higher` or `lower`")
    model_version: str | None = Field(default=None, description="Version of the mathematics that answered")
    created_at: datetime = Field(description="When the question was first asked (RFC 3339, UTC)")
    elapsed_ms: float | None = Field(default=None, description="Time that the computation took, in milliseconds")
    problem: Problem | None = Field(default=None, description="Why it failed, if it did")
