"""Disclosure control: how a provider changed the counts of its entry so that they reveal less."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from aegis_sdk.wire.attribute import TOLERANCE, Attribute, Label, Masking, RoundingBase
from aegis_sdk.wire.documents import Fault, Location, Request
from aegis_sdk.wire.examples import EXAMPLE_JOINT_TRACE
from aegis_sdk.wire.pairs import LabelAssociation, Pair
from aegis_sdk.wire.values import COUNT_MAX, Number, PositiveNumber

Declaring = Label | Masking | Pair | LabelAssociation
"""Anything that can declare its own noise."""

LEAST_SCALE = 1.0
"""The least scale of noise, in records, that hides a count: that of epsilon 1."""

LEAST_BASE = 2
"""The least base of rounding, and limit on counts, that hides a record."""


class DisclosureControl(Request):
    """Controls that were applied to all count tables of an entry. Each table declares its own noise and rounding."""

    min_cell: Annotated[int, Field(ge=2, le=COUNT_MAX)] | None = Field(
        default=None,
        description="Lower limit on all counts except 0, before any rounding of all counts (`rounded_to`): masked "
        "values were merged or, where impossible, the table was rounded to multiples of this number, as it "
        "declares",
    )
    rounded_to: RoundingBase | None = Field(
        default=None, description="Every count was rounded up or down at random to a multiple of this base"
    )
    rounding: Literal["once"] | None = Field(
        default=None,
        description="`once`: the counts of each attribute by its values and the label were rounded once, with the "
        "same sums for every attribute. Every table that declares no `rounded_to` of its own is a sum of such "
        "counts, so these tables agree with each other exactly. Numbers of suppressed records and cells were "
        "rounded with one common threshold. In pair counts, masked values with few records by these counts are "
        "counted with neighbours (`counted_with`). Pairs with another label (`labels`), as it is, are tables of counts "
        "with a label: rounded once for this label, they declare none. Needs `rounded_to`",
    )
    epsilon: PositiveNumber | None = Field(
        default=None,
        description="Differential privacy budget spent by all tables together; neighbouring tables differ by one "
        "added or removed record",
    )
    split: Literal["equal", "cube_root"] | None = Field(
        default=None,
        description="How epsilon was split over the tables: into equal parts (`equal`), or in proportion to the cube "
        "root of their numbers of cells (`cube_root`)",
    )
    open_answers: bool = Field(
        default=False,
        description="Everyone who sees the entry gets full answers about it; only with `epsilon` and no other "
        "control, since results computed from such counts reveal no more than the counts",
    )


def control_faults(
    control: DisclosureControl | None,
    label: Label,
    attributes: Sequence[Attribute],
    pairs: Sequence[Pair],
    rows: int = 1,
    labels: Sequence[str] = (),
) -> Iterator[Fault]:
    """The faults of tables that do not declare a control of all counts, and of parts that exceed the budget.

    `rows`: the most records of one person, of an entry that counts people. `labels`: its labels, the default one first.
    """
    if control is None:
        return
    if control.open_answers and (control.epsilon is None or control.rounded_to or control.min_cell):
        detail = "Needs noise in all counts: `epsilon`, and neither `rounded_to` nor `min_cell`"
        yield ("disclosure_control", "open_answers"), detail
    if control.rounding is not None and (control.rounded_to is None or control.epsilon is not None):
        yield ("disclosure_control", "rounding"), "Needs `rounded_to`, and cannot be combined with epsilon"
    declaring = list(_declaring(label, attributes, pairs))
    # The associations are not counts, but computed from counts.
    noisy = [*declaring, *_associations(pairs)]
    if control.open_answers:
        yield from _faint_noise(noisy, LEAST_SCALE * rows)
    if control.epsilon is not None:
        yield from _budget_faults(control.epsilon, noisy)
    if control.rounded_to is not None:
        yield from _rounding_faults(control, noisy, labels)
    if (control.epsilon is not None or control.rounded_to is not None) and not control.rounding:
        exact = "These numbers are exact, but `disclosure_control` says all were changed: leave them out"
        fields = [(place, field) for place in range(len(attributes)) for field in ("histogram", "joint")]
        given = ((place, field) for place, field in fields if getattr(attributes[place], field) is not None)
        yield from ((("attributes", *location), exact) for location in given)


def _rounding_faults(
    control: DisclosureControl, declaring: Sequence[tuple[Location, Declaring]], labels: Sequence[str]
) -> Iterator[Fault]:
    """The faults of tables that do not declare the rounding. If it was drawn once, only pairs of no label have to."""
    for location, table in declaring:
        of_one = isinstance(table, Label | Masking) or (isinstance(table, Pair) and table.is_with_label(labels))
        drawn_once = control.rounding is not None and of_one and table.rounded_to is None
        if table.rounded_to != control.rounded_to and not drawn_once:
            yield location, f"Does not declare `rounded_to` {control.rounded_to}, as `disclosure_control` does"


def _faint_noise(declaring: Sequence[tuple[Location, Declaring]], least: float) -> Iterator[Fault]:
    """The faults of tables whose noise is too small for full answers to hide the counts."""
    for location, table in declaring:
        if table.noise is not None and table.noise.scale < least:
            detail = f"`open_answers` needs noise of a scale of at least {least:g}, that of epsilon 1"
            yield (*location, "noise", "scale"), detail


def person_faults(
    rows: int,
    control: DisclosureControl | None,
    label: Label,
    attributes: Sequence[Attribute],
    pairs: Sequence[Pair],
) -> Iterator[Fault]:
    """The faults of controls that hide a record, but not a person with this many, of an entry that counts people.

    A person more changes a count by up to `rows`, so what one record needs is multiplied by it: the least base of
    rounding and limit on counts, and the epsilon that noise spends.
    """
    least = LEAST_BASE * rows
    why = f"Is below {least}: {LEAST_BASE} for each of the {rows} records that a person may have (`rows_per_person`)"
    bases = [] if control is None else [("min_cell", control.min_cell), ("rounded_to", control.rounded_to)]
    yield from ((("disclosure_control", name), why) for name, base in bases if base is not None and base < least)
    declaring = list(_declaring(label, attributes, pairs))
    for location, counts in declaring:
        if counts.rounded_to is not None and counts.rounded_to < least:
            yield (*location, "rounded_to"), why
    noisy: list[tuple[Location, Declaring]] = [*declaring, *_associations(pairs)]
    for location, table in noisy:
        noise = table.noise
        if noise is not None and noise.spent * (1 + TOLERANCE) < (least := rows * noise.sensitivity) / noise.scale:
            detail = f"Give an `epsilon` of at least {least} / `scale`: a person may have {rows} records"
            yield (*location, "noise"), detail


def _budget_faults(epsilon: float, declaring: Sequence[tuple[Location, Declaring]]) -> Iterator[Fault]:
    """The faults of tables without noise, and of parts that sum to more than the budget."""
    parts = []
    for location, table in declaring:
        if table.noise is None:
            yield location, "Declares no `noise`, but `disclosure_control` has an epsilon"
        else:
            parts.append(table.noise.spent)
    if sum(parts) > epsilon * (1 + TOLERANCE):
        yield ("disclosure_control", "epsilon"), "The epsilons of the tables sum to more than this"


def _declaring(
    label: Label, attributes: Sequence[Attribute], pairs: Sequence[Pair]
) -> Iterator[tuple[Location, Label | Masking | Pair]]:
    """Every table of counts that can declare noise and rounding: of the label, of maskings, and of pairs."""
    yield ("label",), label
    for place, attribute in enumerate(attributes):
        for index, masking in enumerate(attribute.maskings):
            if masking.joint is not None:
                yield ("attributes", place, "maskings", index), masking
    yield from ((("pairs", index), pair) for index, pair in enumerate(pairs) if pair.joint is not None)


def _associations(pairs: Sequence[Pair]) -> Iterator[tuple[Location, LabelAssociation]]:
    for index, pair in enumerate(pairs):
        if pair.with_label is not None:
            yield ("pairs", index, "with_label"), pair.with_label
        yield from ((("pairs", index, "with_labels", name), one) for name, one in pair.with_labels.items())


_NEARLY = 1e-6
"""Multiples of a decimal fraction are not exact in binary."""


class JointTrace(Request):
    """The joint utility of all unmasked attributes: one number, only for the provider and the service."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_JOINT_TRACE]})

    value: Number = Field(
        description="Pillai's trace of all unmasked attributes and the label, adjusted for the number of values (the "
        "measure `joint` with its default correction), at least 0 and at least that of any single attribute. "
        "Rare values may have been merged first, independently of the configurations"
    )
    rounded_to: PositiveNumber | None = Field(
        default=None, description="The value was rounded to a multiple of this; null: it is exact"
    )


def trace_faults(trace: JointTrace | None, control: DisclosureControl | None) -> Iterator[Fault]:
    """The faults of a trace that is not a multiple of its base, or lacks a control of all counts."""
    if trace is None:
        return
    if trace.rounded_to is not None and not is_multiple(trace.value, trace.rounded_to):
        yield ("value",), f"Is not a multiple of {trace.rounded_to:g} (`rounded_to`)"
    if control is None:
        return
    if control.epsilon is not None:
        yield (), "Was computed from exact counts, but `disclosure_control` declares noise in all: leave it out"
    elif trace.rounded_to is None and (control.rounded_to is not None or control.min_cell is not None):
        yield ("rounded_to",), "This number is exact, but `disclosure_control` says that all were changed: round it"


def is_multiple(number: float, base: float) -> bool:
    """Whether a number is a multiple of a base; true if the base is within the number's floating-point precision."""
    multiple = number / base
    return isfinite(multiple) and abs(multiple - round(multiple)) <= _NEARLY * max(1.0, abs(multiple))
