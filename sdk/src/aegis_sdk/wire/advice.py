"""The answer to the question of which configuration is best."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE
from aegis_sdk.wire.problem import Problem
from aegis_sdk.wire.values import UtcTime, Uuid

AdviceStatus = str
"""`queued`, `running`, `succeeded` or `failed`; a client treats an unknown status as unfinished."""


class CoarseRow(Answer):
    """One row of the ranking in a coarse view."""

    configuration: str = Field(description="Id of the configuration")
    kind: str = Field(
        default="masked", description="`masked` or `generated`; only in answers to questions about generated ones"
    )
    rank: int | None = Field(default=None, description="From 1; those that tie with the best share its rank")
    utility_share: float | None = Field(
        default=None,
        description="About how much it keeps of what the unmasked attributes tell: 1 is all, 0 is no more than if they "
        "were dropped. Only by uncorrected `mutual_information` with the reference `pooled`, or of declared transfer "
        "utilities; else null, as it is in a coarse view of a single attribute",
    )
    deviation_share: float | None = Field(default=None, description="The rest: 1 minus `utility_share`")


class RankedConfiguration(CoarseRow):
    """One row of the ranking."""

    deviation: float = Field(description="Weighted mean deviation of its maskings; smaller is better")
    utility: float = Field(description="Weighted mean utility of its maskings")
    standard_error: float | None = Field(
        default=None,
        description="Upper bound on the standard error of the utility, with the records as a sample; null: not known. "
        "For a measure that takes several attributes together, only what the declared inexactness of counts (noise, "
        "rounding) adds: the value by exact counts is mostly within two of them; null if all counts are exact",
    )
    difference_error: float | None = Field(
        default=None,
        description="Upper bound on the standard error of its deviation minus the best's; null: not known",
    )
    low: float | None = Field(default=None, description="Lower limit of a declared utility's 95 % interval")
    high: float | None = Field(default=None, description="Upper limit of a declared utility's 95 % interval")


class CoarseScore(Answer):
    """How much of an attribute one masking keeps, in a coarse view."""

    kept: str | None = Field(
        default=None,
        description="How much of what the attribute tells: `none` (up to 5 %), `little` (35 %), `some` (65 %), "
        "`much` (95 %) or `all`; null where `utility_share` is null for all rows",
    )


class MaskingScore(CoarseScore):
    """The utility of one masking of an attribute, and how far it deviates from the reference."""

    utility: float = Field(
        description="The measure of the masked attribute, without what random rounding of counts surely adds to it"
    )
    deviation: float = Field(description="Its distance from the reference utility")
    source: str = Field(description="Where the utility comes from: `counts`, `fitted`, `reference` or `definition`")
    standard_error: float | None = Field(
        default=None, description="Standard error of the utility, with the records as a sample; null: not known"
    )
    bias: float | None = Field(
        default=None,
        description="How much the utility of a sample exceeds that of its population on average, with what rounding "
        "perhaps adds",
    )


class Misfit(Answer):
    """How far the counts of a view are from the counts that the reference implies."""

    largest: float = Field(description="Largest difference of a count, as a fraction of the records")
    standardised: float | None = Field(
        default=None,
        description="Root mean square of the differences, each divided by its standard deviation: about 1 or less if "
        "the declaration is true; null for exact counts",
    )


class Reconstruction(Answer):
    """How the reference joint counts of an attribute were found: the certificate of the reconstruction."""

    method: str = Field(description="Method, such as `closed_form`")
    atoms: int = Field(description="Number of groups of values that no mapping tells apart")
    iterations: int = Field(description="Number of iterations")
    residual: float = Field(description="Largest difference from a margin, as a fraction of the records")
    converged: bool = Field(description="Whether the residual is within the tolerance")
    misfits: dict[str, Misfit] = Field(
        default_factory=dict,
        description="By masking id: the misfit of each view with uncertain counts; without convergence, of exact "
        "views too",
    )
    support_known: bool = Field(default=False, description="Whether it is certain which cells are empty")


class CoarseAttribute(Answer):
    """One attribute in a coarse view."""

    name: str = Field(description="Name of the attribute")
    maskings: dict[str, CoarseScore] = Field(
        default_factory=dict, description="What each masking that the configurations use keeps"
    )


class AttributeAdvice(Answer):
    """The results for one attribute."""

    name: str = Field(description="Name of the attribute")
    knowledge: str = Field(
        description="What is known of the unmasked attribute: `joint`, `histogram` or `no_histogram`"
    )
    reference_utility: float = Field(
        description="The measure of the unmasked attribute, as far as it is known, without what rounding surely adds"
    )
    reference_estimated: bool = Field(
        default=False,
        description="Whether `reference_utility` depends on which cells are empty, which is uncertain here",
    )
    bound: str | None = Field(
        default=None,
        description="How `bound_value` bounds the true utility: `exact`, `lower` or `upper`; null: not at all",
    )
    bound_value: float | None = Field(default=None, description="A certified bound on the true utility")
    lower_bound: float | None = Field(default=None, description="The true utility is at least this; null: not known")
    upper_bound: float | None = Field(default=None, description="The true utility is at most this; null: not known")
    maskings: dict[str, MaskingScore] = Field(
        default_factory=dict, description="Score of each masking that the configurations use"
    )
    reconstruction: Reconstruction | None = Field(default=None, description="How the reference was found")


class JointAdvice(Answer):
    """The results of a measure that takes the attributes together."""

    reference_utility: float = Field(description="The utility that deviations are measured from")
    reference_source: str = Field(
        default="known",
        description="`published`: `reference_utility` is what the unmasked table tells, as its provider published it "
        "(`joint_trace`); `known`: it is what is known to be there, and the table may tell more",
    )
    known_utility: float | None = Field(
        default=None, description="The highest utility that is known or estimated from counts"
    )
    lower_bound: float | None = Field(
        default=None, description="The true utility of all unmasked attributes is at least this; null: not known"
    )
    dimensions: int = Field(
        description="For the best configuration: masked values that have records, minus one for each attribute, minus "
        "those that depend on others"
    )
    interactions: float | None = Field(
        default=None,
        description="For the best configuration: how much of its utility is told only by pairs of attributes together. "
        "A linear model gains nothing from it. It can exceed the utility, whose other part may be below 0 once it is "
        "corrected. null: the measure does not see interactions",
    )


class CoarseTransfer(Answer):
    """What a ranking by declared transfer utilities says about itself."""

    source: str = Field(default="declared", description="`declared`: the provider's own numbers, computed by it alone")
    left_out: int = Field(
        description="Number of configurations of these kinds that meet `require` and `policy`, but declare no transfer "
        "utility by this measure of all attributes that are scored"
    )


class AttributeTransferAdvice(Answer):
    """What the best configuration tells of held-out records by one attribute."""

    name: str = Field(description="Name of the attribute")
    utility: float = Field(description="Its transfer utility")
    low: float = Field(description="Lower limit of its 95 % interval")
    high: float = Field(description="Upper limit of its 95 % interval")
    reference_utility: float = Field(description="The best that is declared of this attribute")
    deviation: float = Field(description="The distance of the two")


class TransferAdvice(CoarseTransfer):
    """What a ranking by declared transfer utilities says about itself, and about the best configuration."""

    records: int = Field(description="Number of held-out records")
    reference_utility: float = Field(
        description="The utility that deviations are measured from: the best that any configuration of the entry, or "
        "the unmasked records, declare of each attribute"
    )
    attributes: list[AttributeTransferAdvice] = Field(
        default_factory=list, description="By attribute; empty for a measure that takes attributes together"
    )


class Progress(Answer):
    """Progress of an advice: each attribute that it scores needs a reference first."""

    done: int = Field(description="Number of scored attributes that have a reference")
    total: int = Field(description="Number of scored attributes")


class AdviceHead(Answer):
    """The fields of every answer, full or coarse."""

    model_config = ConfigDict(protected_namespaces=())

    id: Uuid = Field(description="Id of the advice")
    status: AdviceStatus = Field(description="`queued`, `running`, `succeeded` or `failed`")
    progress: Progress | None = Field(default=None, description="Progress; null once it is finished")
    entry: EntryVersion = Field(description="The version of the entry that the question is about")
    stale: bool = Field(
        default=False,
        description="Whether you see a newer version of the entry than this advice is about; ask again to get advice "
        "on that",
    )
    request: dict[str, Any] = Field(title="Question", description="The question with all defaults filled in")
    policy: dict[str, float] | None = Field(
        default=None,
        description="The privacy that the service or the entry's tenant requires of every configuration besides "
        "`require`, by criterion, as it was when this was asked; null: none",
    )
    configuration: str | None = Field(default=None, description="The best configuration: the first of `tied`")
    tied: list[str] | None = Field(
        default=None, description="Every configuration as good as the best, in order; at most 10,000"
    )
    considered: int | None = Field(
        default=None,
        description="Number of configurations that meet `require` and `policy`; of those ranked by declared transfer "
        "utilities, that declare them",
    )
    ranking_basis: str | None = Field(
        default=None,
        description="`exact`: provably the ranking by true deviation; `estimated`: an estimate of it",
    )
    indistinguishable: list[str] | None = Field(
        default=None,
        description="The best configuration and all others whose deviation is within 1.96 standard errors of the "
        "best's (95 %), in the order of the ranking; at most 10,000. Null: not known, which is so with the reference "
        "`own` and for a measure that takes several attributes together",
    )
    indistinguishable_count: int | None = Field(
        default=None, description="Number of indistinguishable configurations, those beyond 10,000 included"
    )
    unit: str | None = Field(default=None, description="Unit of utilities and deviations: `bit`, `fraction` or null")
    better: str | None = Field(default=None, description="Which utilities are better: `higher` or `lower`")
    model_version: str | None = Field(default=None, description="Version of the mathematical model that answered")
    created_at: UtcTime = Field(description="When the question was first asked (RFC 3339, UTC)")
    problem: Problem | None = Field(default=None, description="Why the advice failed; null otherwise")


class Advice(AdviceHead):
    """The full answer to a question. Its result fields are null until the status is `succeeded`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE]}, protected_namespaces=())

    view: Literal["full"] = Field(default="full", description="The whole answer")
    deviation: float | None = Field(default=None, description="The deviation of the best configuration")
    ranking: list[RankedConfiguration] | None = Field(default=None, description="Best first, up to `limit` rows")
    attributes: list[AttributeAdvice] | None = Field(default=None, description="Results for each attribute")
    joint: JointAdvice | None = Field(
        default=None, description="Results for the attributes together; null unless the measure takes them together"
    )
    transfer: TransferAdvice | None = Field(
        default=None, description="Results by declared transfer utilities; only if `kinds` has `generated`"
    )
    elapsed_ms: float | None = Field(default=None, description="Duration of the computation, in milliseconds")


class CoarseAdvice(AdviceHead):
    """The answer for consumers and other tenants: the order and coarse shares."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_COARSE_ADVICE]}, protected_namespaces=())

    view: Literal["coarse"] = Field(default="coarse", description="The order and coarse shares")
    ranking: list[CoarseRow] | None = Field(default=None, description="Best first, up to `limit` rows")
    attributes: list[CoarseAttribute] | None = Field(
        default=None, description="What is kept per attribute; empty where `utility_share` is null for all rows"
    )
    transfer: CoarseTransfer | None = Field(
        default=None, description="Of declared transfer utilities; only if `kinds` has `generated`"
    )


class AdviceAnswer(RootModel[Annotated[Advice | CoarseAdvice, Field(discriminator="view")]]):
    """The answer in the caller's view: full for providers of the entry's tenant and for operators, else coarse."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE]})
