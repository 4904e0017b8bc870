"""Disclosure control: what a provider did to the counts of its entry so that they reveal less."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from aegis_sdk.wire.attribute import TOLERANCE, Attribute, Label, Masking, RoundingBase
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import Fault, Location
from aegis_sdk.wire.pair import Pair
from aegis_sdk.wire.values import COUNT_MAX, PositiveNumber

LEAST_SCALE = 1.0
"""The least scale of noise, in records, that covers a count: that of epsilon 1."""


class DisclosureControl(Request):
    """Controls that were applied to all count tables of an entry. Each table declares its own noise and rounding."""

    min_cell: Annotated[int, Field(ge=2, le=COUNT_MAX)] | None = Field(
        default=None,
        description="Before any rounding, masked values were merged until no count except 0 was below this",
    )
    rounded_to: RoundingBase | None = Field(
        default=None, description="Every count was rounded up or down at random to a multiple of this base"
    )
    epsilon: PositiveNumber | None = Field(
        default=None,
        description="Differential privacy budget that all tables spent together; neighbouring tables differ by one "
        "record more or less",
    )
    split: Literal["equal", "cube_root"] | None = Field(
        default=None,
        description="How epsilon was split over the tables: into equal parts (`equal`), or in proportion to the cube "
        "root of their numbers of cells (`cube_root`)",
    )
    open_answers: bool = Field(
        default=False,
        description="Whoever sees the entry reads full answers about it: only with `epsilon` and no other control, "
        "since what is computed from such counts reveals no more than they do",
    )


def control_faults(
    control: DisclosureControl | None, label: Label, attributes: Sequence[Attribute], pairs: Sequence[Pair]
) -> Iterator[Fault]:
    """The faults of tables that do not declare a control applied to all, and of parts that exceed the budget."""
    if control is None:
        return
    if control.open_answers and (control.epsilon is None or control.rounded_to or control.min_cell):
        detail = "Needs counts that noise covers: `epsilon`, and neither `rounded_to` nor `min_cell`"
        yield ("disclosure_control", "open_answers"), detail
    declaring = list(_declaring(label, attributes))
    if control.open_answers:
        yield from _faint_noise(declaring)
    if control.epsilon is not None:
        yield from _budget_faults(control.epsilon, declaring)
    if control.rounded_to is not None:
        for location, table in declaring:
            if table.rounded_to != control.rounded_to:
                yield location, f"Does not declare `rounded_to` {control.rounded_to}, as `disclosure_control` does"
    if control.epsilon is not None or control.rounded_to is not None:
        for location in _exact(attributes, pairs):
            yield location, "These counts are exact, but `disclosure_control` says all were changed: leave them out"


def _faint_noise(declaring: Sequence[tuple[Location, Label | Masking]]) -> Iterator[Fault]:
    """The faults of tables whose noise is so small that full answers would give the counts away."""
    for location, table in declaring:
        if table.noise is not None and table.noise.scale < LEAST_SCALE:
            detail = f"`open_answers` needs noise of a scale of at least {LEAST_SCALE:g}, that of epsilon 1"
            yield (*location, "noise", "scale"), detail


def _budget_faults(epsilon: float, declaring: Sequence[tuple[Location, Label | Masking]]) -> Iterator[Fault]:
    """The faults of tables without noise, and of parts that sum to more than the budget."""
    parts = []
    for location, table in declaring:
        if table.noise is None:
            yield location, "Declares no `noise`, but `disclosure_control` has an epsilon"
        else:
            parts.append(table.noise.spent)
    if sum(parts) > epsilon * (1 + TOLERANCE):
        yield ("disclosure_control", "epsilon"), "The epsilons of the tables sum to more than this"


def _declaring(label: Label, attributes: Sequence[Attribute]) -> Iterator[tuple[Location, Label | Masking]]:
    """Every table of counts that can declare what was done to it: the label's, and those of maskings."""
    yield ("label",), label
    for place, attribute in enumerate(attributes):
        for index, masking in enumerate(attribute.maskings):
            if masking.joint is not None:
                yield ("attributes", place, "maskings", index), masking


def _exact(attributes: Sequence[Attribute], pairs: Sequence[Pair]) -> Iterator[Location]:
    """The locations of counts that cannot declare anything, and so are exact."""
    for place, attribute in enumerate(attributes):
        fields = (("histogram", attribute.histogram), ("joint", attribute.joint))
        yield from (("attributes", place, field) for field, counts in fields if counts is not None)
    yield from (("pairs", index) for index in range(len(pairs)))
