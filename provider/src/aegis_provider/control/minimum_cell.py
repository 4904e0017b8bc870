"""The minimum cell count: masked values are merged before counting, and remaining small counts are rounded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from aegis_provider.control.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    refuse_parameter,
    valid_promises,
)
from aegis_provider.control.dependent_rounding import rounded_up
from aegis_provider.control.lasting import LastingRandomness, cell_names
from aegis_provider.control.noisy_association import key_of
from aegis_provider.control.rounded_pairs import rounded_pairs
from aegis_provider.control.rounded_statistics import rounded_association, rounded_traces
from aegis_provider.control.rounding import RandomRounding, drawn_for
from aegis_provider.counting.merged_table import Merging
from aegis_provider.counting.merging import is_small
from aegis_provider.plan.model import Roles
from aegis_provider.processes import Progress
from aegis_sdk.wire import Attribute, EntryDocument, Masking


@dataclass(frozen=True)
class MinimumCell(Control):
    """A control that leaves no nonzero count below `least` in any table.

    Masked values are merged before the table is counted (`merging`), so that no count with the label is small. Counts
    that cannot be merged are rounded to multiples of the minimum: those of a masking without a mapping, and of pairs.

    Attributes:
        least: The smallest count allowed, apart from 0.
        merge_rare_labels: Whether label values with fewer records are merged; otherwise the table is refused.
        chance: The randomness, as in `RandomRounding`.
        beside: The knowledge beyond the entry.

    Raises:
        ControlError: The minimum is not a valid count of at least 2.
    """

    least: int
    merge_rare_labels: bool = False
    chance: LastingRandomness = field(default_factory=LastingRandomness, compare=False, repr=False)
    beside: Beside = field(default_factory=Beside, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_parameter("minimum cell count", self.least)

    @property
    def merging(self) -> Merging:
        """The merging before the table is counted."""
        return Merging(self.least, self.merge_rare_labels)

    def declared(self) -> dict[str, Any]:
        """Return the minimum, which applies to the counts before any rounding."""
        return {"min_cell": self.least}

    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""
        return f"a minimum cell count of {self.least}"

    def knowing(self, beside: Beside) -> Self:
        """Return the control with the merged values, and whether all counts will be rounded anyway."""
        return replace(self, beside=beside)

    def drawing_from(self, chance: LastingRandomness) -> Self:
        """Return the control with this randomness."""
        return replace(self, chance=chance)

    def of_people(self, rows: int) -> Self:
        """Return the control with the records of as many people, who have at most `rows` each."""
        return replace(self, least=self.least * rows)

    def conflict_with(self, other: Control) -> str | None:
        """Return why a base that is smaller than the minimum cannot be combined with it."""
        if isinstance(other, RandomRounding) and other.base < self.least:
            return (
                f"rounding to multiples of {other.base} shows counts below the minimum cell count of {self.least}; "
                f"choose a base of {self.least} or more, or leave it out"
            )
        return None

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """Return the entry with no nonzero count below the minimum in any table, and the changes.

        The associations of pairs with the label are rounded: with large pair counts, they could still disclose a count
        of 1 of three columns.

        Raises:
            ControlError: The entry was counted without merging.
        """
        known = self.beside
        merged = {(each.attribute, each.masking) for each in known.merged}
        vouched = valid_promises(entry.masked, merged, roles)
        attributes, rounded = [], []
        for attribute in entry.attributes:
            maskings = []
            for masking in attribute.maskings:  # a masking without a mapping cannot be merged
                is_rounded = not known.rounds and masking.mapping is None and has_small(masking.joint, self.least)
                maskings.append(self._rounded(masking, attribute.name, entry) if is_rounded else masking)
                rounded += [f"{attribute.name}, {masking.id}"] * is_rounded
            attributes.append(attribute.model_copy(update={"maskings": maskings}))
        _refuse_small(attributes, self.least)
        trace = {} if known.rounds else rounded_traces(entry, known.told, 0, self.chance.of("joint_trace"))
        changed = {"attributes": attributes, "configurations": list(vouched.configurations), **trace}
        held = entry.model_copy(update=changed)
        changes = Changes(
            merged=known.merged,
            label=known.label,
            rounded=tuple(rounded),
            privacy=vouched.lost,
            recount=vouched.recount,
        )
        held, later = self._pairs(held)
        return held, changes.followed_by(later)

    def suppressed(self, number: int) -> int | None:
        """Return the number if it is 0 or at least the minimum."""
        return None if 0 < number < self.least else number

    def _rounded(self, masking: Masking, attribute: str, entry: EntryDocument) -> Masking:
        counts = np.array(masking.joint, dtype=np.int64)
        names = cell_names(masking.domain, entry.label.domain)
        drawn = self.chance.of("masking", attribute, drawn_for(masking))
        up = rounded_up(counts.ravel(), self.least, drawn, names).reshape(counts.shape)
        joint = (counts - counts % self.least + self.least * up).tolist()  # each count separately
        # Rounded down, since a masking cannot count more records than there are.
        fewer = None if masking.records is None else max(self.least, masking.records - masking.records % self.least)
        records = {} if fewer is None else {"records": fewer}
        return masking.model_copy(update={"rounded_to": self.least, "joint": joint, **records})

    def _pairs(self, entry: EntryDocument) -> tuple[EntryDocument, Changes]:
        """Return the entry with rounded small pair counts and associations, and the changes."""
        if "pairs" not in entry.model_fields_set or self.beside.rounds:
            return entry, Changes()
        pairs = rounded_pairs(entry, self.least, self.chance)
        told = []
        for pair in pairs.pairs:
            if pair.with_label is None:
                told.append(pair)
                continue
            exact = self.beside.told.frequent.get(key_of(pair), pair.with_label)
            drawn = self.chance.of("with label", *sorted(pair.attributes))
            rounded = rounded_association(
                exact.chi_square, exact.combinations, entry.label.histogram, self.least, drawn
            )
            told.append(pair.model_copy(update={"with_label": rounded}))
        return entry.model_copy(update={"pairs": told}), Changes(tables=pairs.left_out, rounded=pairs.rounded)


def has_small(counts: Sequence[Any] | None, least: int) -> bool:
    """Return whether a table or list of counts has a nonzero count below `least`; false without counts."""
    return counts is not None and bool(is_small(np.atleast_2d(np.array(counts, dtype=np.int64)), least).any())


def _refuse_small(attributes: Sequence[Attribute], least: int) -> None:
    """Reject an entry whose masked values were not merged before it was counted."""
    for attribute in attributes:
        mapped = (masking.joint for masking in attribute.maskings if masking.mapping is not None)
        if any(has_small(counts, least) for counts in (attribute.histogram, attribute.joint, *mapped)):
            raise ControlError(
                f"{attribute.name!r} has counts below {least}: masked values are merged while the table is counted, by "
                "prepare_entry"
            )
