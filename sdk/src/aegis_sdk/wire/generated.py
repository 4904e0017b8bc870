"""Generated configurations: tables drawn from a model, offered beside masked ones."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from aegis_sdk.wire.bounded import LONG_OBJECT
from aegis_sdk.wire.configuration import ATTACKS, Privacy
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.estimate import Estimate, Score
from aegis_sdk.wire.examples import EXAMPLE_GENERATED
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.transfer import Transfer
from aegis_sdk.wire.values import COUNT_MAX, CountList, Identifier, Number

GUARANTEES: Final = (*ATTACKS, "epsilon")
"""The privacy criteria that a generated configuration may promise."""


class Attack(Estimate):
    """The success rate of an attack on the release, as measured by its provider (`aegis risk --against`)."""

    value: Score = Field(description="Share of the attacked people; of `membership`, the AUC")
    low: Score = Field(description="Lower limit of its 95 % interval")
    high: Score = Field(description="Upper limit of its 95 % interval")
    chance: Score | None = Field(default=None, description="Success rate of guessing without the release")


class AttributeWeight(Request):
    """The weights of one attribute in the terms for privacy and value."""

    privacy: Score = Field(default=0.0, description="From 0 to 1")
    importance: Score = Field(default=0.0, description="From 0 to 1")


class GenerationWeights(Request):
    """The requested weights of privacy and value in the method."""

    privacy: Number = Field(default=0.0, description="The weight of the term for privacy")
    value: Number = Field(default=0.0, description="The weight of the term for value")
    attributes: Annotated[dict[str, AttributeWeight], LONG_OBJECT] = Field(
        default_factory=dict, description="The weights of attributes within these terms; shown to owners only"
    )


def _known_attacks(value: dict[str, Attack]) -> dict[str, Attack]:
    unknown = (name for name in value if name not in ATTACKS)
    refuse("attacks", (((name,), f"Unknown attack; use one of {', '.join(ATTACKS)}") for name in unknown))
    return value


def _known_guarantees(value: dict[str, float]) -> dict[str, float]:
    """Refuse each criterion that generated tables do not have, and each limit on an attack that is not a share."""
    other = f"A generated table promises {', '.join(GUARANTEES)}"
    refuse("privacy", (((name,), other) for name in value if name not in GUARANTEES))
    shares = ((name, number) for name, number in value.items() if name in ATTACKS and number > 1)
    refuse("privacy", (((name,), f"Is {number:g}, but must be a share of at most 1") for name, number in shares))
    return value


class GeneratedConfiguration(Request):
    """A table drawn from a model. Its records describe no real person, and its counts are of this table only.

    Each promised limit is at least the upper limit measured, so each attack with a promise is in `attacks`.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_GENERATED]})

    id: Identifier = Field(description="Unique within the entry")
    kind: Literal["generated"] = Field(description="A table drawn from a model")
    records: Annotated[int, Field(ge=1, le=COUNT_MAX)] = Field(description="Number of generated records")
    histogram: CountList = Field(description="Number of generated records with each label value")
    method: Identifier = Field(description="The method, such as `wgan-gp`")
    weights: GenerationWeights | None = Field(default=None, description="Weights requested of the method; null: none")
    privacy: Annotated[Privacy, AfterValidator(_known_guarantees)] | None = Field(
        default=None,
        description="Privacy that the provider promises: upper limits on the success of `reidentification`, "
        "`attribute_disclosure` and `membership`, and an `epsilon` of differential privacy",
    )
    delta: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] | None = Field(
        default=None, description="The delta that belongs to `epsilon`; null: 0"
    )
    attacks: Annotated[dict[str, Attack], AfterValidator(_known_attacks)] = Field(
        default_factory=dict,
        description="Measured success of the attacks with a promise",
        json_schema_extra={"propertyNames": {"enum": list(ATTACKS)}},
    )
    transfer: Transfer | None = Field(
        default=None, description="Utility of rules learned from it on held-out real records"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse("configuration", self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if sum(self.histogram) != self.records:
            yield ("histogram",), f"Sums to {sum(self.histogram)}, but the table has {self.records} records"
        vouched = self.privacy or {}
        if self.delta is not None and "epsilon" not in vouched:
            yield ("delta",), "Needs an `epsilon` in `privacy`, but there is none"
        for name in (name for name in ATTACKS if name in vouched):
            measured = self.attacks.get(name)
            if measured is None:
                yield ("privacy", name), "Promised without a measurement: add this attack to `attacks`"
            elif measured.high > vouched[name]:
                detail = f"Is {vouched[name]:g}, below the measured upper limit, {measured.high:g}"
                yield ("privacy", name), detail


def generated_faults(generated: GeneratedConfiguration, attributes: Mapping[str, Any], labels: int) -> Iterator[Fault]:
    """The faults of a generated configuration in an entry with these attributes and this number of label values."""
    if len(generated.histogram) != labels:
        yield ("histogram",), f"Has {len(generated.histogram)} numbers, but the label has {labels} values"
    weighted = generated.weights.attributes if generated.weights is not None else {}
    for name in (name for name in weighted if name not in attributes):
        yield ("weights", "attributes", name), "The entry has no such attribute"
