"""Questions which configuration is best."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field

from aegis_sdk.wire.configuration import PRIVACY_CRITERIA, Privacy, unit_faults
from aegis_sdk.wire.documents import LONG_OBJECT, Answer, CheckedRequest, Fault, Uuid, refuse
from aegis_sdk.wire.examples import EXAMPLE_ADVICE_REQUEST, EXAMPLE_HEAD
from aegis_sdk.wire.values import Count, DistinctIdentifiers, Identifier, Number, Unit, UtcTime, repeats

KINDS: Final = ("masked", "generated")
"""The kinds of configurations."""


def _none_if_empty(value: dict[str, float] | None) -> dict[str, float] | None:
    """Sort the names. An empty object means the same as no field, so it becomes None."""
    return dict(sorted(value.items())) if value else None


def _in_order(value: list[str]) -> list[str]:
    """Sort the kinds; each may be named once."""
    refuse("kinds", repeats(value))
    return [kind for kind in KINDS if kind in value]


def _named_once(value: list[str]) -> list[str]:
    refuse("frontier", repeats(value))
    return value


AXES: Final[Mapping[str, Literal["higher", "lower"]]] = {
    **PRIVACY_CRITERIA,
    "suppressed": "lower",
    "expected": "higher",
    "price": "lower",
    "deviation": "lower",
}
"""The axes of a frontier that a question can name, and which numbers of each are better."""

ROWS = 10_000
"""The largest number of rows in a ranking."""


class Question(CheckedRequest):
    """A question about an entry. Every field has a default.

    Equal questions become equal instances with equal JSON: defaults are filled in, attributes and weights are sorted
    by name, an empty object becomes null, and 1 and 1.0 are the same number.
    """

    measure: Identifier | None = Field(
        default=None,
        description="Id of a measure; `GET /v1/measures` lists them. null: `joint` where the entry has the counts of "
        "pairs that this takes, and otherwise, or with weights or the reference `own`, `mutual_information`. Answers "
        "name it",
    )
    label: Identifier | None = Field(
        default=None,
        exclude_if=lambda label: label is None,
        description="The column to predict: one of the entry's `labels`, or another attribute whose counts with all "
        "others are published as `pairs`. The other labels are then attributes. null: the default label, whose name "
        "asks the same. Answers have this member only for another label",
    )
    target: Identifier | None = Field(
        default=None,
        exclude_if=lambda target: target is None,
        description="A masking of the label, or `identity`: how well is this coarser label predicted? Configurations "
        "whose label is not as fine are left out. null: each configuration is compared by its own masked label with "
        "the label as it is. Answers have this member only if it is given",
    )
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
    unit: Unit | None = Field(
        default=None,
        exclude_if=lambda unit: unit is None,
        description="`person`: the promises in `require` must count people, as those of entries with this `unit` do. "
        "null: records; people are at least as many records. Answers have this member only if it is given",
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

    def _faults(self) -> Iterator[Fault]:
        yield from unit_faults(self.unit, self.require)
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
    frontier: (
        Annotated[
            list[Literal[tuple(AXES)]],  # type: ignore[valid-type]  # the names are computed
            Field(min_length=2, max_length=3),
            AfterValidator(_named_once),
        ]
        | None
    ) = Field(
        default=None,
        exclude_if=lambda frontier: frontier is None,
        description="Two or three axes: the answer then has the configurations that no other beats on these and in "
        "utility. They are privacy criteria; `suppressed`, the share of records left out; `expected`, what a model "
        "should reach, for joint measures; `price`; and `deviation`, the utility, which is always an axis. Answers "
        "have this member only if it is given",
    )

    def _faults(self) -> Iterator[Fault]:
        if self.rounding_seed is not None and self.reference == "pooled":
            yield ("rounding_seed",), 'A seed needs the reference "own"'
        yield from super()._faults()


_EXAMPLE: Final[dict[str, Any]] = {
    "advice": "0197f3a2-7b42-7c0d-9e15-6a1d2c3b4e5f",
    "tenant": "insurer",
    "entry": {"id": EXAMPLE_HEAD["id"], "version": 1},
    "request": EXAMPLE_ADVICE_REQUEST,
    "view": "coarse",
    "asked_at": "2026-03-01T12:00:00Z",
}


class AskedVersion(Answer):
    """The version of an entry in a question."""

    id: Uuid = Field(description="Id of the entry")
    version: int = Field(description="Version number, from 1")


class QuestionRecord(Answer):
    """A question of a tenant."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    advice: Uuid = Field(description="Id of the advice, as the tenant knows it")
    tenant: str = Field(description="Tenant that asked")
    entry: AskedVersion = Field(description="The entry")
    request: dict[str, Any] = Field(title="Question", description="The question, as `AdviceRequest`")
    view: str = Field(description="Level of detail of the tenant's answer: `full` or `coarse`")
    asked_at: UtcTime = Field(description="Time of the first call (RFC 3339, UTC)")


class QuestionPage(Answer):
    """A page of questions, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE], "next_page_token": None}]})

    items: list[QuestionRecord] = Field(description="The questions")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")
