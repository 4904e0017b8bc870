"""Entries reduced to the tables that can declare inexact counts: those of the label, the maskings and the pairs."""

from collections.abc import Iterator
from itertools import count
from typing import Any, TypeAlias, TypeVar

from aegis_provider.control.control import ControlError
from aegis_provider.control.noisy_association import named
from aegis_sdk.wire import DROP, IDENTITY, SUPPRESSED, Attribute, EntryDocument, Masking, MaskingFunction, Pair

Declared: TypeAlias = tuple[list[list[int]], dict[str, Any]]
"""The counts of a table, and the fields that declare how they were changed."""

_Holder = TypeVar("_Holder", Masking, Pair)

_UNMASKED = "unmasked"


def only_declarable(entry: EntryDocument) -> tuple[EntryDocument, tuple[str, ...]]:
    """Return the entry without the tables that cannot declare inexact counts, and the names of these tables.

    Histograms and the numbers of suppressed records and cells are left out. The unmasked joint counts of an attribute
    become those of an extra masking that changes nothing and that no configuration uses, so that they remain available.
    """
    configurations = entry.masked
    tables = [f"histogram of {attribute.name}" for attribute in entry.attributes if attribute.histogram is not None]
    stated = (
        (configuration, name)
        for configuration in configurations
        for name in SUPPRESSED
        if getattr(configuration, name) is not None
    )
    tables += [f"{name} of {each.id}" for each, name in stated]
    changed = {
        "attributes": [_declarable(attribute) for attribute in entry.attributes],
        "configurations": [
            configuration.model_copy(update=dict.fromkeys(SUPPRESSED)) for configuration in configurations
        ],
    }
    return entry.model_copy(update=changed), tuple(tables)


def tables_of(entry: EntryDocument) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the name and the counts of each table of an entry that has only declarable ones."""
    yield entry.label.name, [entry.label.histogram]
    for attribute in entry.attributes:
        for masking in attribute.maskings:
            if masking.joint is not None:
                yield f"{attribute.name}: {masking.id}", masking.joint
    for pair in entry.pairs:
        if pair.joint is not None:
            yield named(pair), pair.joint


def with_tables(entry: EntryDocument, tables: Iterator[Declared]) -> EntryDocument:
    """Return the entry with these counts and declarations, in the order of `tables_of`.

    `records` becomes the sum of the label's counts.

    Raises:
        ControlError: No record is left.
    """
    [histogram], declared = next(tables)
    if sum(histogram) < 1:
        raise ControlError("no record is left in the label's histogram; the table has too few records for this control")
    attributes = [
        attribute.model_copy(update={"maskings": [_declaring(masking, tables) for masking in attribute.maskings]})
        for attribute in entry.attributes
    ]
    label = entry.label.model_copy(update={**declared, "histogram": histogram})
    changed: dict[str, Any] = {"records": sum(histogram), "label": label, "attributes": attributes}
    if "pairs" in entry.model_fields_set:
        changed["pairs"] = [_declaring(pair, tables) for pair in entry.pairs]
    return entry.model_copy(update=changed)


def _declaring(held: _Holder, tables: Iterator[Declared]) -> _Holder:
    if held.joint is None:
        return held
    joint, declared = next(tables)
    return held.model_copy(update={**declared, "joint": joint})


def _declarable(attribute: Attribute) -> Attribute:
    without = attribute.model_copy(update={"histogram": None, "joint": None})
    if attribute.joint is None:
        return without
    unmasked = Masking(
        id=_unused({masking.id for masking in attribute.maskings}),
        function=MaskingFunction(name=IDENTITY, parameters={}),
        domain=attribute.domain,
        mapping=list(range(len(attribute.domain))),
        joint=attribute.joint,
    )
    return without.model_copy(update={"maskings": [*attribute.maskings, unmasked]})


def _unused(ids: set[str]) -> str:
    taken = {*ids, IDENTITY, DROP}
    candidates = (_UNMASKED if number == 1 else f"{_UNMASKED}-{number}" for number in count(1))
    return next(name for name in candidates if name not in taken)
