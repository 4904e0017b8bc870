"""Answers which configuration is best."""

from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, RootModel

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer, Problem, Uuid
from aegis_sdk.wire.examples import EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE
from aegis_sdk.wire.values import UtcTime
from aegis_sdk.wire.worth import Expected

AdviceStatus = str
"""`queued`, `running`, `succeeded` or `failed`; a client treats an unknown status as unfinished."""


ABOUT: Final = (
    "What sets it apart from the other configurations of its entry, in at most 80 characters, such as `age in 8 bands, "
    "tenure in 16, 12 columns left out`; null: not known"
)
"""The description of a configuration's name in answers."""


class CoarseRow(Answer):
    """One row of the ranking in a coarse answer."""

    configuration: str = Field(description="Id of the configuration")
    about: str | None = Field(default=None, description=ABOUT)
    kind: str = Field(
        default="masked", description="`masked` or `generated`; only in answers to questions about generated ones"
    )
    rank: int | None = Field(default=None, description="From 1; configurations tied with the best share its rank")
    utility_share: float | None = Field(
        default=None,
        description="Approximate share of the unmasked attributes' utility that it keeps: 1 is all, 0 is no better "
        "than dropping them. Given only for uncorrected `mutual_information` with the reference `pooled` and for "
        "declared transfer utilities; otherwise null, as in the coarse answer about a single attribute",
    )
    deviation_share: float | None = Field(default=None, description="1 minus `utility_share`")
    expected: Expected | None = Field(
        default=None,
        description="What a model should reach on this masked table, to two digits in a coarse answer. Given for the "
        "first 20 rows of answers by joint measures, where the counts are known; otherwise null. If it is an axis of "
        "the `frontier`, rows without which that would be incomplete come first among the 20",
    )


class RankedConfiguration(CoarseRow):
    """One row of the ranking."""

    deviation: float = Field(description="Weighted mean deviation of its maskings; smaller is better")
    utility: float = Field(description="Weighted mean utility of its maskings")
    standard_error: float | None = Field(
        default=None,
        description="Upper bound on the standard error of the utility, with the records as a sample; null: not "
        "known. For a joint measure, only the error from declared noise and rounding: the value computed from "
        "exact counts is usually within two of these errors; null if all counts are exact",
    )
    difference_error: float | None = Field(
        default=None,
        description="Upper bound on the standard error of the difference between its deviation and the best one; "
        "null: not known",
    )
    low: float | None = Field(default=None, description="Lower limit of a declared utility's 95 % interval")
    high: float | None = Field(default=None, description="Upper limit of a declared utility's 95 % interval")


class CoarseScore(Answer):
    """How much of an attribute's utility one masking keeps, in a coarse answer."""

    kept: str | None = Field(
        default=None,
        description="Share of the attribute's utility: `none` (up to 5 %), `little` (35 %), `some` (65 %), `much` "
        "(95 %) or `all`; null where `utility_share` is null for all rows",
    )


class MaskingScore(CoarseScore):
    """The utility of one masking of an attribute, and its deviation from the reference."""

    utility: float = Field(
        description="The measure of the masked attribute, less the certain bias from random rounding of counts"
    )
    deviation: float = Field(description="Its distance from the reference utility")
    source: str = Field(description="Source of the utility: `counts`, `fitted`, `reference` or `definition`")
    standard_error: float | None = Field(
        default=None, description="Standard error of the utility, with the records as a sample; null: not known"
    )
    bias: float | None = Field(
        default=None,
        description="Expected excess of a sample's utility over that of its population, plus the possible bias from "
        "rounding",
    )


class Misfit(Answer):
    """Difference between the counts of a masking and those that the reference implies."""

    largest: float = Field(description="Largest difference of a count, as a fraction of the records")
    standardised: float | None = Field(
        default=None,
        description="Root mean square of the differences, each divided by its standard deviation: about 1 or less if "
        "the declaration is true; null for exact counts",
    )


class Reconstruction(Answer):
    """The certificate of a reconstruction: how the reference joint counts of an attribute were computed."""

    method: str = Field(description="Method, such as `closed_form`")
    atoms: int = Field(description="Number of groups of values that no mapping distinguishes")
    iterations: int = Field(description="Number of iterations")
    residual: float = Field(description="Largest difference from a margin, as a fraction of the records")
    converged: bool = Field(description="Whether the residual is within the tolerance")
    misfits: dict[str, Misfit] = Field(
        default_factory=dict,
        description="By masking id: the misfit of each masking with inexact counts and, without convergence, of "
        "those with exact counts",
    )
    support_known: bool = Field(default=False, description="Whether the empty cells are determined")


class CoarseAttribute(Answer):
    """One attribute in a coarse answer."""

    name: str = Field(description="Name of the attribute")
    maskings: dict[str, CoarseScore] = Field(
        default_factory=dict, description="How much each masking that the configurations use keeps"
    )


class AttributeAdvice(Answer):
    """The results for one attribute."""

    name: str = Field(description="Name of the attribute")
    knowledge: str = Field(
        description="What is known of the unmasked attribute: `joint`, `histogram` or `no_histogram`"
    )
    reference_utility: float = Field(
        description="The measure of the unmasked attribute, as far as it is known, less the certain bias from rounding"
    )
    reference_estimated: bool = Field(
        default=False,
        description="Whether `reference_utility` depends on which cells are empty, which the counts leave open",
    )
    bound: str | None = Field(
        default=None,
        description="Kind of the bound `bound_value`: `exact`, `lower` or `upper`; null: none",
    )
    bound_value: float | None = Field(default=None, description="A certified bound on the true utility")
    lower_bound: float | None = Field(default=None, description="The true utility is at least this; null: not known")
    upper_bound: float | None = Field(default=None, description="The true utility is at most this; null: not known")
    maskings: dict[str, MaskingScore] = Field(
        default_factory=dict, description="Score of each masking that the configurations use"
    )
    reconstruction: Reconstruction | None = Field(default=None, description="How the reference was computed")


class JointAdvice(Answer):
    """The results of a joint measure."""

    reference_utility: float = Field(description="The utility that deviations are measured from")
    reference_source: str = Field(
        default="known",
        description="`published`: `reference_utility` is the utility of the unmasked table, as its provider "
        "published it (`joint_trace`); `known`: it is a known part of that utility, which may be higher",
    )
    known_utility: float | None = Field(
        default=None, description="The highest utility that is known or estimated from counts"
    )
    lower_bound: float | None = Field(
        default=None, description="The true utility of all unmasked attributes is at least this; null: not known"
    )
    dimensions: int = Field(
        description="For the best configuration: the number of masked values with records, minus one for each "
        "attribute, minus linear dependencies"
    )
    interactions: float | None = Field(
        default=None,
        description="For the best configuration: the part of its utility that comes from interactions of two "
        "attributes, which linear models cannot use. It can exceed the utility, because bias correction can make "
        "the other part negative. null: the measure ignores interactions",
    )


class CoarseTransfer(Answer):
    """The basis of a ranking by declared transfer utilities."""

    source: str = Field(default="declared", description="`declared`: numbers that only the provider has computed")
    left_out: int = Field(
        description="Number of configurations of these kinds that meet `require` and `policy`, but declare no transfer "
        "utility by this measure of all attributes that are scored"
    )


class AttributeTransferAdvice(Answer):
    """Transfer utility of one attribute in the best configuration."""

    name: str = Field(description="Name of the attribute")
    utility: float = Field(description="Its transfer utility")
    low: float = Field(description="Lower limit of its 95 % interval")
    high: float = Field(description="Upper limit of its 95 % interval")
    reference_utility: float = Field(description="The best one declared for this attribute")
    deviation: float = Field(description="The difference between the two")


class TransferAdvice(CoarseTransfer):
    """The basis of a ranking by declared transfer utilities, and the results of the best configuration."""

    records: int = Field(description="Number of held-out records")
    reference_utility: float = Field(
        description="The utility that deviations are measured from: for each attribute the best one declared, be it "
        "for a configuration of the entry or for the unmasked records"
    )
    attributes: list[AttributeTransferAdvice] = Field(
        default_factory=list, description="By attribute; empty for a joint measure"
    )


class FrontierAxis(Answer):
    """One axis of a frontier."""

    name: str = Field(
        description="As in the question, `deviation` first; in coarse answers `rank`, the rank among all that meet the "
        "requirements, is in its place"
    )
    better: str = Field(description="Which numbers are better: `higher` or `lower`")
    unit: str | None = Field(default=None, description="The unit, such as `bit`, `AUC` or the currency of prices")
    unstated: int = Field(
        description="Number of configurations that meet the requirements but have no number on this axis; none of "
        "them is on the frontier. `expected` is known of 20 at most"
    )


class FrontierPoint(Answer):
    """A configuration that no other beats."""

    configuration: str = Field(description="Id of the configuration, which a data request can name")
    about: str | None = Field(default=None, description=ABOUT)
    values: dict[str, float] = Field(
        description="Its number on each axis, by name. In coarse answers, `suppressed` is rounded up, so that no "
        "number of records follows"
    )


class Knee(Answer):
    """The point of a frontier where the trade turns: beyond it, gains cost more."""

    configuration: str = Field(description="Id of the configuration")
    why: str = Field(description="Why it is the knee, in a sentence")


class AdviceFrontier(Answer):
    """The configurations that no other beats: none is as good on every axis and better on one."""

    axes: list[FrontierAxis] = Field(description="The axes")
    points: list[FrontierPoint] = Field(
        description="The configurations in the order of their utility, the best first; equal ones are all listed, at "
        "most 10,000"
    )
    knee: Knee | None = Field(
        default=None,
        description="The point farthest from the line between the first and the last, on the better side, with each "
        "axis scaled to 0..1; null without points",
    )


class Progress(Answer):
    """Progress of an advice, which needs a reference for each scored attribute."""

    done: int = Field(description="Number of scored attributes that have a reference")
    total: int = Field(description="Number of scored attributes")


class AnsweredLabel(Answer):
    """The label of an answer, where it is not the entry's default one as it is."""

    name: str = Field(description="Name of the label")
    listed: bool = Field(
        description="Whether it is one of the entry's `labels`; if not, the answer is an estimate from its pair counts"
    )
    target: str | None = Field(
        default=None,
        exclude_if=lambda target: target is None,
        description="The masking of the label that is predicted, if the question names one",
    )
    left_out: int = Field(
        description="Number of configurations that do not compete because they drop the label or mask it so that "
        "counts do not tell what they show, are generated, or show it less finely than `target`"
    )


class AdviceHead(Answer):
    """The fields of every answer, full or coarse."""

    model_config = ConfigDict(protected_namespaces=())

    id: Uuid = Field(description="Id of the advice")
    status: AdviceStatus = Field(description="`queued`, `running`, `succeeded` or `failed`")
    progress: Progress | None = Field(default=None, description="Progress; null once the advice is finished")
    entry: EntryVersion = Field(description="The version of the entry that the question is about")
    stale: bool = Field(
        default=False,
        description="Whether you see a newer version of the entry than this advice is about; ask again for advice on "
        "that version",
    )
    request: dict[str, Any] = Field(title="Question", description="The question with all defaults filled in")
    policy: dict[str, float] | None = Field(
        default=None,
        description="The privacy that the service or the entry's tenant required of every configuration at the time "
        "of the question, in addition to `require`, by criterion; null: none",
    )
    policy_unit: str | None = Field(default=None, description="`person`: `policy` counts people; null: records")
    label: AnsweredLabel | None = Field(
        default=None, description="The label, where it is not the entry's default one or is masked; null: it is"
    )
    configuration: str | None = Field(default=None, description="The best configuration: the first of `tied`")
    about: str | None = Field(default=None, description=ABOUT)
    tied: list[str] | None = Field(
        default=None, description="Every configuration as good as the best, in order; at most 10,000"
    )
    considered: int | None = Field(
        default=None,
        description="Number of configurations that meet `require` and `policy` and, where the ranking is by declared "
        "transfer utilities, declare them",
    )
    ranking_basis: str | None = Field(
        default=None,
        description="`exact`: proven to be the ranking by true deviation; `estimated`: an estimate of it",
    )
    indistinguishable: list[str] | None = Field(
        default=None,
        description="The best configuration and all others whose deviation is within 1.96 standard errors of the "
        "best's (95 %), in the order of the ranking; at most 10,000. Null: not known, as with the reference "
        "`own` and for joint measures",
    )
    indistinguishable_count: int | None = Field(
        default=None, description="Number of indistinguishable configurations, including those beyond 10,000"
    )
    unit: str | None = Field(default=None, description="Unit of utilities and deviations: `bit`, `fraction` or null")
    better: str | None = Field(default=None, description="Which utilities are better: `higher` or `lower`")
    model_version: str | None = Field(default=None, description="Version of the mathematical model that answered")
    created_at: UtcTime = Field(description="When the question was first asked (RFC 3339, UTC)")
    frontier: AdviceFrontier | None = Field(
        default=None, description="The best trades; only if the question has a `frontier`"
    )
    problem: Problem | None = Field(default=None, description="Why the advice failed; null otherwise")


class Advice(AdviceHead):
    """The full answer to a question. Its result fields are null until the status is `succeeded`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE]}, protected_namespaces=())

    view: Literal["full"] = Field(default="full", description="The whole answer")
    deviation: float | None = Field(default=None, description="The deviation of the best configuration")
    ranking: list[RankedConfiguration] | None = Field(default=None, description="Best first, up to `limit` rows")
    expected: Expected | None = Field(
        default=None,
        description="What a model should reach on the unmasked table, if its counts or its trace (`joint_trace`) are "
        "published; otherwise null",
    )
    attributes: list[AttributeAdvice] | None = Field(default=None, description="Results for each attribute")
    joint: JointAdvice | None = Field(
        default=None, description="Results for the attributes together; null unless the measure is a joint one"
    )
    transfer: TransferAdvice | None = Field(
        default=None, description="Results by declared transfer utilities; only if `kinds` has `generated`"
    )
    elapsed_ms: float | None = Field(default=None, description="Duration of the computation, in milliseconds")


class CoarseAdvice(AdviceHead):
    """The answer for callers who may not read the counts: the order and coarse shares."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_COARSE_ADVICE]}, protected_namespaces=())

    view: Literal["coarse"] = Field(default="coarse", description="The order and coarse shares")
    ranking: list[CoarseRow] | None = Field(default=None, description="Best first, up to `limit` rows")
    attributes: list[CoarseAttribute] | None = Field(
        default=None, description="How much is kept of each attribute; empty where `utility_share` is null for all rows"
    )
    transfer: CoarseTransfer | None = Field(
        default=None, description="About declared transfer utilities; only if `kinds` has `generated`"
    )


class AdviceAnswer(RootModel[Annotated[Advice | CoarseAdvice, Field(discriminator="view")]]):
    """The answer that the caller may read: full for providers of the entry's tenant and for operators, else coarse."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE]})
