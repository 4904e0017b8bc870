"""The minimum cell count: small counts are merged away, or what has them is left out with all that names it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from aegis_provider.control.controls import Changes, ControlError, MergedMasking, MergedValues
from aegis_provider.control.merged_text import merged_texts
from aegis_provider.control.merging import folded, is_small, merged_groups
from aegis_provider.control.pair_tables import controlled_pairs
from aegis_provider.control.promises import Roles, still_vouched
from aegis_provider.counting.counted_table import MaskedDomain
from aegis_provider.errors import shortened
from aegis_provider.masking import Mapped
from aegis_provider.plan.model import IDENTITY
from aegis_provider.table.values import MISSING, ValueType

_ORDERED: Final = {str(each) for each in ValueType} - {str(ValueType.STRING)}


@dataclass(frozen=True)
class _Held:
    """An attribute without small counts: its `maskings`, which were merged and left out, and which tables were."""

    attribute: dict[str, Any]
    merged: tuple[MergedMasking, ...]
    left_out: tuple[str, ...]
    tables: tuple[str, ...]


def hold_min_cell(entry: Mapping[str, Any], least: int, roles: Roles) -> tuple[dict[str, Any], Changes]:
    """The entry with no count but 0 below `least` in any of its tables, and what that took.

    Of a masking with such a count, masked values are merged; if none can be, or only one would be left, the masking is
    left out with the configurations that name it. So are unmasked joint counts, with the configurations that share the
    attribute unmasked. A histogram, and pair counts, are left out by themselves.
    Raises `ControlError` for a rare value of the label, and where no configuration is left.
    """
    _refuse_rare_labels(entry["label"], least)
    held = [_held(each, least) for each in entry["attributes"]]
    attributes = [each.attribute for each in held]
    merged = tuple(one for each in held for one in each.merged)
    gone = _left_out(held)
    reasons = _reasons(entry["configurations"], gone)
    left = [each for each in entry["configurations"] if each["id"] not in reasons]
    if not left:
        raise ControlError(
            f"of the {len(reasons)} configurations none is left with a minimum cell count of {least}, as each names a "
            f"masking that is left out ({next(iter(reasons.values()))}); take a smaller one, or coarser maskings"
        )
    vouched = still_vouched(left, {(each.attribute, each.masking) for each in merged}, roles)
    controlled = {**entry, "attributes": attributes, "configurations": list(vouched.configurations)}
    tables = [table for each in held for table in each.tables]
    if "pairs" in entry:
        pairs, small = controlled_pairs(entry, controlled, least)
        controlled["pairs"] = pairs
        tables += [f"pair counts of {text}" for text in small]
    maskings = tuple(item for item in gone if item[1] != IDENTITY)
    return controlled, Changes(merged, maskings, reasons, tuple(tables), vouched.lost, vouched.recount)


def _refuse_rare_labels(label: Mapping[str, Any], least: int) -> None:
    for text, records in zip(label["domain"], label["histogram"], strict=True):
        if records < least:
            raise ControlError(
                f"the label {label['name']!r} is {shortened(text)} in {records} records, fewer than the minimum cell "
                f"count of {least}; merge such values in the table, or take a smaller minimum"
            )


def _held(attribute: Mapping[str, Any], least: int) -> _Held:
    name, maskings, merged, left_out = attribute["name"], [], [], []
    for masking in attribute["maskings"]:
        if not has_small(masking.get("joint"), least):
            maskings.append(masking)
        elif (found := _merged(attribute, masking, least)) is None:
            left_out.append(masking["id"])
        else:
            maskings.append(found[0])
            merged.append(found[1])
    tables = tuple(each for each in ("histogram", "joint") if has_small(attribute.get(each), least))
    kept = {field: value for field, value in attribute.items() if field not in tables}
    words = {"histogram": "histogram", "joint": "unmasked joint counts"}
    return _Held(
        {**kept, "maskings": maskings},
        tuple(merged),
        (*left_out, *[IDENTITY] * ("joint" in tables)),
        tuple(f"{words[table]} of {name}" for table in tables),
    )


def has_small(counts: Sequence[Any] | None, least: int) -> bool:
    """Whether there is a table, or list, of counts with one that is not 0 and below `least`."""
    return counts is not None and bool(is_small(np.atleast_2d(np.array(counts, dtype=np.int64)), least).any())


def _merged(
    attribute: Mapping[str, Any], masking: Mapping[str, Any], least: int
) -> tuple[dict[str, Any], MergedMasking] | None:
    """The masking as the mapping that it becomes, and which masked values were merged; `None` where none can be."""
    if "mapping" not in masking:
        return None
    joint, texts = np.array(masking["joint"], dtype=np.int64), masking["domain"]
    ordered = _is_ordered(attribute, masking)
    groups = merged_groups(joint, least, ordered=ordered, missing=texts[0] == MISSING)
    if groups is None:
        return None
    merged = _texts_of(texts, groups.tolist(), ordered=ordered)
    became = {text: each.text for each in merged for text in each.values}
    old = [became.get(text, text) for text in texts]
    masked = MaskedDomain.of([old[place] for place in masking["mapping"]])
    table = dict(zip(attribute["domain"], (masked.texts[place] for place in masked.mapping), strict=True))
    place_of = {text: place for place, text in enumerate(masked.texts)}
    places = np.array([place_of[text] for text in old], dtype=np.intp)
    function = Mapped(table)
    controlled = {
        **masking,
        "function": {"name": function.name, "parameters": function.parameters()},
        "domain": list(masked.texts),
        "mapping": list(masked.mapping),
        "joint": folded(joint, places).tolist(),
    }
    return controlled, MergedMasking(attribute["name"], masking["id"], merged, table)


def _is_ordered(attribute: Mapping[str, Any], masking: Mapping[str, Any]) -> bool:
    """Whether the values are ordered (numbers, dates, bins), and the masked values stand in their order."""
    if attribute["type"] not in _ORDERED and "discretization" not in attribute:
        return False
    pairs = zip(attribute["domain"], masking["mapping"], strict=True)
    places = [place for text, place in pairs if text != MISSING and masking["domain"][place] != MISSING]
    return places == sorted(places)


def _texts_of(texts: Sequence[str], groups: Sequence[int], *, ordered: bool) -> tuple[MergedValues, ...]:
    members: dict[int, list[str]] = {}
    for text, group in zip(texts, groups, strict=True):
        members.setdefault(group, []).append(text)
    merged = [each for each in members.values() if len(each) > 1]
    names = merged_texts(merged, texts, ordered=ordered)
    return tuple(MergedValues(tuple(values), name) for values, name in zip(merged, names, strict=True))


def _left_out(held: Sequence[_Held]) -> tuple[tuple[str, str], ...]:
    return tuple((each.attribute["name"], masking) for each in held for masking in each.left_out)


def _reasons(configurations: Sequence[Mapping[str, Any]], gone: Collection[tuple[str, str]]) -> dict[str, str]:
    """Why each configuration that names something left out is left out too, by id."""
    without = frozenset(gone)
    return {
        each["id"]: "; ".join(reasons)
        for each in configurations
        if (reasons := list(_named(each["maskings"], without)))
    }


def _named(maskings: Mapping[str, str], gone: frozenset[tuple[str, str]]) -> Iterator[str]:
    for name, masking in maskings.items():
        if (name, masking) in gone:
            yield f"shares {name} unmasked" if masking == IDENTITY else f"masks {name} by {masking}"
