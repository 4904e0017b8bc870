"""What a provider did to the counts of its entry, so that they give away less."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from aegis_sdk.wire.attribute import TOLERANCE, Attribute, Label, Masking, RoundingBase
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import Fault, Location
from aegis_sdk.wire.pair import PairCounts
from aegis_sdk.wire.values import COUNT_MAX, PositiveNumber


class DisclosureControl(Request):
    """The controls that all count tables of an entry went through; each table declares its own noise and rounding."""

    min_cell: Annotated[int, Field(ge=2, le=COUNT_MAX)] | None = Field(
        default=None, description="Before any rounding, no count but 0 was below this: masked values were merged"
    )
    rounded_to: RoundingBase | None = Field(
        default=None, description="Every count was rounded at random to a multiple of this base, up or down"
    )
    epsilon: PositiveNumber | None = Field(
        default=None,
        description="Budget of differential privacy that all tables took together; neighbouring tables differ by one "
        "record more or less",
    )
    split: Literal["equal", "cube_root"] | None = Field(
        default=None,
        description="How epsilon was split over the tables: in equal parts, or by the cube root of their cells",
    )


def control_faults(
    control: DisclosureControl | None, label: Label, attributes: Sequence[Attribute], pairs: Sequence[PairCounts]
) -> Iterator[Fault]:
    """The faults of tables that do not declare what was done to all, and of parts of a budget that exceed it."""
    if control is None:
        return
    declaring = list(_declaring(label, attributes))
    if control.epsilon is not None:
        yield from _budget_faults(control.epsilon, declaring)
    if control.rounded_to is not None:
        for location, table in declaring:
            if table.rounded_to != control.rounded_to:
                yield location, f"Does not declare `rounded_to` {control.rounded_to}, as `disclosure_control` does"
    if control.epsilon is not None or control.rounded_to is not None:
        for location in _exact(attributes, pairs):
            yield location, "Such counts are exact, and `disclosure_control` says that all were changed: leave them out"


def _budget_faults(epsilon: float, declaring: Sequence[tuple[Location, Label | Masking]]) -> Iterator[Fault]:
    """Tables without noise, and parts that add up to more than the budget."""
    parts = []
    for location, table in declaring:
        if table.noise is None:
            yield location, "Declares no `noise`, and `disclosure_control` has an epsilon"
        else:
            parts.append(table.noise.spent)
    if sum(parts) > epsilon * (1 + TOLERANCE):
        yield ("disclosure_control", "epsilon"), "The tables' epsilons add up to more"


def _declaring(label: Label, attributes: Sequence[Attribute]) -> Iterator[tuple[Location, Label | Masking]]:
    """What has counts and fields that declare what was done to them."""
    yield ("label",), label
    for place, attribute in enumerate(attributes):
        for index, masking in enumerate(attribute.maskings):
            if masking.joint is not None:
                yield ("attributes", place, "maskings", index), masking


def _exact(attributes: Sequence[Attribute], pairs: Sequence[PairCounts]) -> Iterator[Location]:
    """Where counts are that cannot declare anything."""
    for place, attribute in enumerate(attributes):
        fields = (("histogram", attribute.histogram), ("joint", attribute.joint))
        yield from (("attributes", place, field) for field, counts in fields if counts is not None)
    yield from (("pairs", index) for index in range(len(pairs)))
