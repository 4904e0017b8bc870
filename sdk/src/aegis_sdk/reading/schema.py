"""What an entry's schema (the entry without counts, as the service shows it) says of its configurations."""

from collections.abc import Mapping, Sequence
from typing import Any

from aegis_sdk.wire import PRIVACY_CRITERIA


def maskings_of(schema: Mapping[str, Any], configuration: str | None) -> dict[str, str]:
    """The masking of every attribute in a configuration, however the entry lists its configurations."""
    for each in schema.get("configurations") or []:
        if each["id"] == configuration:
            return dict(each["maskings"])
    table = schema.get("configuration_table")
    if table is None or configuration not in table["ids"]:
        return {}
    row = table["ids"].index(configuration)
    return {name: column[row] for name, column in table["maskings"].items()}


def promises_of(schema: Mapping[str, Any], configurations: Sequence[str]) -> dict[str, list[float | None]]:
    """By name of privacy, what each of these configurations vouches for; and by `suppressed`, the records it leaves
    out.

    Names by which none of them vouches for anything are left out; None: that one does not.
    """
    by_id = _by_id(schema, set(configurations))
    names = (*PRIVACY_CRITERIA, "suppressed")
    columns = {name: [by_id.get(each, {}).get(name) for each in configurations] for name in names}
    return {name: column for name, column in columns.items() if any(number is not None for number in column)}


def _by_id(schema: Mapping[str, Any], wanted: set[str]) -> dict[str, dict[str, float | None]]:
    listed = [each for each in schema.get("configurations") or [] if each["id"] in wanted]
    found = {each["id"]: {**(each.get("privacy") or {}), "suppressed": each.get("suppressed")} for each in listed}
    table = schema.get("configuration_table")
    if table is not None:
        columns = table.get("privacy") or {}
        rows = [(row, each) for row, each in enumerate(table["ids"]) if each in wanted]
        found |= {each: {name: column[row] for name, column in columns.items()} for row, each in rows}
    return found
