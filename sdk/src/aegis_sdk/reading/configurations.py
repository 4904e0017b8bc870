"""The configurations of an entry or of its schema, listed in either form.

A table of a million configurations is read by columns, never one by one. The schema is the entry without counts, as
served.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from aegis_sdk.printable import Share, number
from aegis_sdk.wire import DROP, PRIVACY_CRITERIA, SUPPRESSED, EntryDocument


def ids_of(entry: EntryDocument) -> Sequence[str]:
    """The id of every configuration, in the order of the entry."""
    if entry.configuration_table is not None:
        return entry.configuration_table.ids
    return [item.id for item in entry.configurations or ()]


def uses_of(entry: EntryDocument, attribute: str) -> Counter[str]:
    """The number of masked configurations that use each masking of the attribute."""
    if entry.configuration_table is not None:
        return Counter(entry.configuration_table.maskings[attribute])
    return Counter(configuration.maskings[attribute] for configuration in entry.masked)


def vouched_for(entry: EntryDocument, privacy: str) -> dict[str, float]:
    """The number for this privacy criterion, by id, of each configuration that promises it."""
    if entry.configuration_table is not None:
        column = (entry.configuration_table.privacy or {}).get(privacy, [])
        numbers = zip(entry.configuration_table.ids, column, strict=False)
        return {name: number for name, number in numbers if number is not None}
    listed = entry.configurations or ()
    return {item.id: item.privacy[privacy] for item in listed if item.privacy and privacy in item.privacy}


def maskings_in(entry: EntryDocument, configuration: str | None) -> dict[str, str]:
    """The maskings of a configuration by attribute; empty if the entry has no such masked configuration."""
    table = entry.configuration_table
    if table is None:
        return next((each.maskings for each in entry.masked if each.id == configuration), {})
    if configuration not in table.ids:
        return {}
    row = table.ids.index(configuration)
    return {attribute: column[row] for attribute, column in table.maskings.items()}


def maskings_of(schema: Mapping[str, Any], configuration: str | None) -> dict[str, str]:
    """The maskings of a configuration by attribute, from a schema; empty if it has no such masked configuration."""
    if item := _listed(schema, configuration):
        return dict(item.get("maskings") or {})
    table = schema.get("configuration_table")
    if table is None or configuration not in table["ids"]:
        return {}
    row = table["ids"].index(configuration)
    return {name: column[row] for name, column in table["maskings"].items()}


def configurations_of(schema: Mapping[str, Any]) -> list[str]:
    """The ids of all configurations of a schema."""
    listed = [item["id"] for item in schema.get("configurations") or []]
    table = schema.get("configuration_table")
    return listed if table is None else [*listed, *table["ids"]]


def most_shared(schema: Mapping[str, Any], besides: Container[str]) -> int | None:
    """The most attributes that a masked configuration shares besides these; None if there is no such configuration."""
    table = schema.get("configuration_table") or {"maskings": {}}
    rows = zip(*(column for name, column in table["maskings"].items() if name not in besides), strict=True)
    listed = (item["maskings"] for item in schema.get("configurations") or [] if item.get("maskings"))
    shown = ([each for name, each in maskings.items() if name not in besides] for maskings in listed)
    return max((sum(masking != DROP for masking in each) for each in chain(rows, shown)), default=None)


def promises_of(schema: Mapping[str, Any], configurations: Sequence[str]) -> dict[str, list[float | None]]:
    """The promises of these configurations by privacy criterion, and what they suppress (`SUPPRESSED`).

    Each column has a number for each configuration, None where it states none. Columns without numbers are omitted.
    """
    by_id = _by_id(schema, set(configurations))
    stated = frozenset[str]().union(*by_id.values())
    names = [name for name in (*PRIVACY_CRITERIA, *SUPPRESSED) if name in stated]
    columns = {name: [by_id.get(item, {}).get(name) for item in configurations] for name in names}
    return {name: column for name, column in columns.items() if any(number is not None for number in column)}


def prices_of(schema: Mapping[str, Any], configurations: Sequence[str]) -> tuple[list[float | None], str]:
    """The prices of these configurations, None where none is stated; and their currency, empty without any price."""
    priced = [(item["id"], item["price"]) for item in schema.get("configurations") or [] if item.get("price")]
    amounts, currency = {name: price["amount"] for name, price in priced}, priced[0][1]["currency"] if priced else ""
    table = schema.get("configuration_table") or {}
    if column := table.get("price"):
        amounts, currency = dict(zip(table["ids"], column["amounts"], strict=True)), column["currency"]
    return [amounts.get(item) for item in configurations], currency


def records_of(schema: Mapping[str, Any], configurations: Sequence[str]) -> list[str]:
    """The number of records in the table of each of these configurations, in words.

    `5,000`, or `up to 5,000` where the number of suppressed ones is not stated or hidden.
    """
    listed = {item["id"]: item for item in schema.get("configurations") or []}
    return [_records(schema["records"], listed.get(item, {})) for item in configurations]


def _records(records: int, item: Mapping[str, Any]) -> str:
    if item.get("kind") == "generated":
        return f"{item['records']:,}"
    suppressed = item.get("suppressed")
    return f"up to {records:,}" if suppressed is None else f"{max(records - suppressed, 0):,}"


def suppressed_cells_of(schema: Mapping[str, Any], configuration: str | None) -> int:
    """The number of suppressed cells of a configuration, from a schema; 0 if it is not stated or hidden."""
    return _listed(schema, configuration).get("suppressed_cells") or 0


def measured_of(schema: Mapping[str, Any], configurations: Sequence[str], label: str | None = None) -> list[str | None]:
    """The performance of a trained model on each of these configurations, in words; None where not measured.

    The entry's owners read `AUC 0.634 of 0.750`, or of a number `R2 0.412 of 0.467, RMSE 670 (660 to 680)`, others the
    share of the distance from chance, such as `54 %`. Models
    predict the default label, so there is nothing for another `label`.
    """
    if label not in (None, schema["label"]["name"]):
        return [None] * len(configurations)
    listed = {item["id"]: item.get("measured") for item in schema.get("configurations") or []}
    return [_in_words(listed.get(item)) for item in configurations]


def _in_words(measured: Mapping[str, Any] | None) -> str | None:
    if measured is None:
        return None
    if "auc" in measured:
        return f"AUC {measured['auc']:.3f} of {measured['raw_auc']:.3f}"
    if "r2" in measured:
        rmse = measured.get("rmse")
        low, value, high = (number(rmse[name], 2) for name in ("low", "value", "high")) if rmse else ("", "", "")
        error = f", RMSE {value} ({low} to {high})" if rmse else ""
        return f"R2 {measured['r2']:.3f} of {measured['raw_r2']:.3f}{error}"
    share = measured.get("share")
    return None if share is None else Share(share).whole


def _by_id(schema: Mapping[str, Any], wanted: set[str]) -> dict[str, dict[str, float | None]]:
    listed = [item for item in schema.get("configurations") or [] if item["id"] in wanted]
    by_id = {
        item["id"]: {**(item.get("privacy") or {}), **{name: item.get(name) for name in SUPPRESSED}} for item in listed
    }
    table = schema.get("configuration_table")
    if table is not None:
        columns = table.get("privacy") or {}
        rows = [(row, item) for row, item in enumerate(table["ids"]) if item in wanted]
        by_id |= {item: {name: column[row] for name, column in columns.items()} for row, item in rows}
    return by_id


@dataclass(frozen=True)
class AttackOutline:
    """The success rate of an attack with its 95 % interval, and that of chance if given."""

    value: float
    low: float
    high: float
    chance: float | None


@dataclass(frozen=True)
class GeneratedOutline:
    """A generated configuration; `privacy`: its promises by criterion; `transfers`: whether it declares any."""

    id: str
    method: str
    records: int
    privacy: dict[str, float]
    attacks: dict[str, AttackOutline]
    transfers: bool


def generated_in(entry: EntryDocument) -> tuple[GeneratedOutline, ...]:
    """The generated configurations of an entry, in order."""
    return tuple(_outline(generated.model_dump(exclude={"histogram", "weights"})) for generated in entry.generated)


def generated_of(schema: Mapping[str, Any], configuration: str | None) -> GeneratedOutline | None:
    """A generated configuration by its id, from a schema; None if it has no such generated configuration."""
    item = _listed(schema, configuration)
    return _outline(item) if item.get("kind") == "generated" else None


def declares_joint(schema: Mapping[str, Any]) -> bool:
    """Whether any configuration of a schema declares the transfer utility of all attributes together."""
    return any("joint" in (item.get("transfer") or {}) for item in schema.get("configurations") or [])


def _listed(schema: Mapping[str, Any], configuration: str | None) -> Mapping[str, Any]:
    """The configuration of this id in the list of a schema; empty if there is none."""
    return next((item for item in schema.get("configurations") or [] if item["id"] == configuration), {})


def _outline(generated: Mapping[str, Any]) -> GeneratedOutline:
    attacks = {
        name: AttackOutline(attack["value"], attack["low"], attack["high"], attack.get("chance"))
        for name, attack in (generated.get("attacks") or {}).items()
    }
    known = generated["id"], generated["method"], generated["records"], generated.get("privacy") or {}
    return GeneratedOutline(*known, attacks, generated.get("transfer") is not None)
