"""An entry with only such tables as can declare that their counts are not exact: the label's and the maskings'."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from aegis_provider.control.controls import ControlError
from aegis_provider.plan.model import DROP, IDENTITY

_UNMASKED = "unmasked"


def only_declarable(entry: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The entry without the tables that cannot declare anything, and what was left out, in words.

    Histograms, and how many records a configuration leaves out, are. The unmasked joint counts of an attribute become
    those of a masking that changes nothing and that no configuration names, so that they still are learnt from.
    Raises `ControlError` where there are pair counts.
    """
    if entry.get("pairs"):
        raise ControlError("pair counts are exact, and cannot declare noise or rounding; summarize without pairs")
    tables = [f"histogram of {each['name']}" for each in entry["attributes"] if "histogram" in each]
    tables += [f"suppressed of {each['id']}" for each in entry["configurations"] if "suppressed" in each]
    controlled = {
        **{field: value for field, value in entry.items() if field != "pairs"},
        "attributes": [_declarable(each) for each in entry["attributes"]],
        "configurations": [_without(each, "suppressed") for each in entry["configurations"]],
    }
    return controlled, tuple(tables)


def tables_of(entry: Mapping[str, Any]) -> Iterator[tuple[str, list[list[int]]]]:
    """The tables of an entry that has only such: what each is called, and its counts."""
    yield entry["label"]["name"], [entry["label"]["histogram"]]
    for attribute in entry["attributes"]:
        for masking in attribute["maskings"]:
            if "joint" in masking:
                yield f"{attribute['name']}: {masking['id']}", masking["joint"]


def with_tables(entry: Mapping[str, Any], tables: Iterator[tuple[list[list[int]], dict[str, Any]]]) -> dict[str, Any]:
    """The entry with these counts, in the order of `tables_of`, each with what it declares; `records` is their sum.

    Raises `ControlError` where no record is left.
    """
    [histogram], declared = next(tables)
    if sum(histogram) < 1:
        raise ControlError("no record is left in the label's histogram; the table has too few for this control")
    attributes = [
        {**each, "maskings": [_declaring(masking, tables) for masking in each["maskings"]]}
        for each in entry["attributes"]
    ]
    label = {**entry["label"], **declared, "histogram": histogram}
    return {**entry, "records": sum(histogram), "label": label, "attributes": attributes}


def _declaring(masking: Mapping[str, Any], tables: Iterator[tuple[list[list[int]], dict[str, Any]]]) -> dict[str, Any]:
    if "joint" not in masking:
        return dict(masking)
    joint, declared = next(tables)
    return {**_without(masking, "joint"), **declared, "joint": joint}


def _declarable(attribute: Mapping[str, Any]) -> dict[str, Any]:
    if "joint" not in attribute:
        return _without(attribute, "histogram")
    places = list(range(len(attribute["domain"])))
    unmasked = {
        "id": _unused({each["id"] for each in attribute["maskings"]}),
        "function": {"name": IDENTITY, "parameters": {}},
        "domain": attribute["domain"],
        "mapping": places,
        "joint": attribute["joint"],
    }
    return {**_without(attribute, "histogram", "joint"), "maskings": [*attribute["maskings"], unmasked]}


def _unused(ids: set[str]) -> str:
    taken = {*ids, IDENTITY, DROP}
    candidates = (_UNMASKED if number == 1 else f"{_UNMASKED}-{number}" for number in count(1))
    return next(name for name in candidates if name not in taken)


def _without(values: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    return {field: value for field, value in values.items() if field not in fields}
