"""The minimum cell count: removes small counts by merging masked values, or leaves out the tables that have them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import numpy as np

from aegis_provider.control.control import (
    Changes,
    Control,
    ControlError,
    MergedMasking,
    MergedValues,
    refuse_parameter,
)
from aegis_provider.control.merging import folded, is_small, merged_groups
from aegis_provider.control.pair_counts import controlled_pairs
from aegis_provider.control.promises import Roles, still_vouched
from aegis_provider.control.shared_counts import shared_unmasked
from aegis_provider.counting.counted_table import MaskedDomain
from aegis_provider.errors import shortened
from aegis_provider.masking import Mapped
from aegis_provider.progress import Progress
from aegis_provider.table.values import MISSING, ValueType
from aegis_sdk.wire import IDENTITY, Attribute, Configuration, EntryDocument, Label, Masking, MaskingFunction

_ORDERED: Final = {str(each) for each in ValueType} - {str(ValueType.STRING)}

_LISTED: Final = 3
_LENGTH: Final = 60
_SHOWN: Final = 40


@dataclass(frozen=True)
class MinimumCell(Control):
    """A control that leaves no nonzero count below `least` in any table.

    Raises:
        ControlError: The minimum is not a valid count of at least 2.
    """

    least: int

    def __post_init__(self) -> None:
        refuse_parameter("minimum cell count", self.least)

    def declared(self) -> dict[str, Any]:
        """Return the minimum, which applies to the counts before any rounding."""
        return {"min_cell": self.least}

    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""
        return f"a minimum cell count of {self.least}"

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """Return the entry with no nonzero count below the minimum in any table, and the changes.

        If a masking has a small count, its masked values are merged. If that is impossible or would leave only one
        masked value, the masking is left out together with the configurations that use it. Unmasked joint counts with a
        small count are left out together with the configurations that share the attribute unmasked. Histograms and
        pair counts are left out on their own.

        Raises:
            ControlError: A value of the label is rare, or no configuration is left.
        """
        _refuse_rare_labels(entry.label, self.least)
        shared = shared_unmasked(entry)
        merged_attributes = [
            _without_small_counts(each, self.least, unmasked=each.name in shared) for each in entry.attributes
        ]
        merged = tuple(one for each in merged_attributes for one in each.merged)
        gone = tuple((each.attribute.name, masking) for each in merged_attributes for masking in each.left_out)
        reasons = _reasons(entry.configurations or [], gone)
        vouched = still_vouched(
            self._configurations_left(entry, reasons), {(each.attribute, each.masking) for each in merged}, roles
        )
        attributes = [each.attribute for each in merged_attributes]
        changed = {"attributes": attributes, "configurations": list(vouched.configurations)}
        controlled = entry.model_copy(update=changed)
        tables = [table for each in merged_attributes for table in each.tables]
        if "pairs" in entry.model_fields_set:
            pairs, small = controlled_pairs(entry, controlled, self.least)
            controlled = controlled.model_copy(update={"pairs": pairs})
            tables += [f"pair counts of {text}" for text in small]
            told = sum(pair.with_label is not None for pair in entry.pairs)
            tables += [f"what {told} pairs tell of the label together (with_label)"] * bool(told)
        maskings = tuple(item for item in gone if item[1] != IDENTITY)
        return controlled, Changes(merged, maskings, reasons, tuple(tables), vouched.lost, vouched.recount)

    def suppressed(self, records: int) -> int | None:
        """Return the number if it is 0 or at least the minimum."""
        return None if 0 < records < self.least else records

    def _configurations_left(self, entry: EntryDocument, reasons: Mapping[str, str]) -> list[Configuration]:
        left = [each for each in entry.configurations or [] if each.id not in reasons]
        if not left:
            raise ControlError(
                f"a minimum cell count of {self.least} leaves none of the {len(reasons)} configurations: each uses a "
                f"masking that is left out ({next(iter(reasons.values()))}); choose a smaller minimum or coarser "
                "maskings"
            )
        return left


@dataclass(frozen=True)
class _MergedAttribute:
    """An attribute after its small counts were removed.

    Attributes:
        merged: Its maskings with merged masked values.
        left_out: Its maskings, possibly `identity`, that configurations can no longer use.
        tables: Its tables that were left out, in words.
    """

    attribute: Attribute
    merged: tuple[MergedMasking, ...]
    left_out: tuple[str, ...]
    tables: tuple[str, ...]


def _refuse_rare_labels(label: Label, least: int) -> None:
    for text, records in zip(label.domain, label.histogram, strict=True):
        if records < least:
            raise ControlError(
                f"the label {label.name!r} is {shortened(text)} in {records} records, fewer than the minimum cell "
                f"count of {least}; merge rare label values in the table or choose a smaller minimum"
            )


def _without_small_counts(attribute: Attribute, least: int, *, unmasked: bool) -> _MergedAttribute:
    maskings, merged, left_out = [], [], []
    for masking in attribute.maskings:
        if not has_small(masking.joint, least):
            maskings.append(masking)
        elif (coarser := _merged(attribute, masking, least)) is None:
            left_out.append(masking.id)
        else:
            maskings.append(coarser[0])
            merged.append(coarser[1])
    words = {"histogram": "histogram", "joint": "unmasked joint counts"}
    small = [each for each in words if has_small(getattr(attribute, each), least)]
    kept = attribute.model_copy(update={"maskings": maskings, **dict.fromkeys(small)})
    tables = [each for each in small if each != "joint" or unmasked]
    gone = (*left_out, *[IDENTITY] * ("joint" in tables))
    return _MergedAttribute(kept, tuple(merged), gone, tuple(f"{words[each]} of {kept.name}" for each in tables))


def has_small(counts: Sequence[Any] | None, least: int) -> bool:
    """Return whether a table or list of counts has a nonzero count below `least`; false without counts."""
    return counts is not None and bool(is_small(np.atleast_2d(np.array(counts, dtype=np.int64)), least).any())


def _merged(attribute: Attribute, masking: Masking, least: int) -> tuple[Masking, MergedMasking] | None:
    """Return the masking as a mapping with merged values, and what was merged; `None` if nothing can be merged."""
    if masking.mapping is None:
        return None
    joint, texts = np.array(masking.joint, dtype=np.int64), masking.domain
    ordered = _is_ordered(attribute, masking.domain, masking.mapping)
    groups = merged_groups(joint, least, ordered=ordered, missing=texts[0] == MISSING)
    if groups is None:
        return None
    merged = _texts_of(texts, groups.tolist(), ordered=ordered)
    became = {text: each.text for each in merged for text in each.values}
    old = [became.get(text, text) for text in texts]
    masked = MaskedDomain.of([old[place] for place in masking.mapping])
    table = dict(zip(attribute.domain, (masked.texts[place] for place in masked.mapping), strict=True))
    place_of = {text: place for place, text in enumerate(masked.texts)}
    places = np.array([place_of[text] for text in old], dtype=np.intp)
    function = Mapped(table)
    coarser = {
        "function": MaskingFunction(name=function.name, parameters=function.parameters()),
        "domain": list(masked.texts),
        "mapping": list(masked.mapping),
        "joint": folded(joint, places).tolist(),
    }
    return masking.model_copy(update=coarser), MergedMasking(attribute.name, masking.id, merged, table)


def _is_ordered(attribute: Attribute, domain: Sequence[str], mapping: Sequence[int]) -> bool:
    """Return whether the values are ordered (numbers, dates, bins) and the masked values follow their order."""
    if attribute.type not in _ORDERED and attribute.discretization is None:
        return False
    pairs = zip(attribute.domain, mapping, strict=True)
    places = [place for text, place in pairs if text != MISSING and domain[place] != MISSING]
    return places == sorted(places)


def _texts_of(texts: Sequence[str], groups: Sequence[int], *, ordered: bool) -> tuple[MergedValues, ...]:
    members: dict[int, list[str]] = {}
    for text, group in zip(texts, groups, strict=True):
        members.setdefault(group, []).append(text)
    merged = [each for each in members.values() if len(each) > 1]
    names = merged_texts(merged, texts, ordered=ordered)
    return tuple(MergedValues(tuple(values), name) for values, name in zip(merged, names, strict=True))


def _reasons(configurations: Sequence[Configuration], gone: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return the reason for each configuration that uses something left out, by id."""
    without = frozenset(gone)
    return {each.id: "; ".join(reasons) for each in configurations if (reasons := list(_named(each.maskings, without)))}


def _named(maskings: Mapping[str, str], gone: frozenset[tuple[str, str]]) -> Iterator[str]:
    for name, masking in maskings.items():
        if (name, masking) in gone:
            yield f"shares {name} unmasked" if masking == IDENTITY else f"masks {name} by {masking}"


def merged_texts(groups: Iterable[Sequence[str]], known: Iterable[str], *, ordered: bool) -> list[str]:
    """Return a new, unique text for each group of two or more masked values, which are in order.

    If `ordered`, a group has only neighbours and is named by its first and last value. A missing value is named
    `missing`.
    """
    taken, texts = set(known), []
    for group in groups:
        text = _unlike(taken, _text(group, ordered=ordered))
        taken.add(text)
        texts.append(text)
    return texts


def _text(group: Sequence[str], *, ordered: bool) -> str:
    present = [text for text in group if text != MISSING]
    missing = ["missing"] * (len(present) < len(group))
    if ordered and len(present) > 1:
        return " or ".join([f"{_short(present[0])} to {_short(present[-1])}", *missing])
    listed = " or ".join([*present, *missing])
    if len(group) <= _LISTED and len(listed) <= _LENGTH:
        return listed
    others = len(present) - 1
    return " or ".join([_short(present[0]), *[f"{others} other{'s' * (others > 1)}"] * (others > 0), *missing])


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _unlike(taken: set[str], text: str) -> str:
    """Return the text, followed by a number if it is taken."""
    if text not in taken:
        return text
    return next(name for number in count(2) if (name := f"{text} ({number})") not in taken)
