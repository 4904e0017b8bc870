"""The configurations of an entry, however it lists them; a million of them are read by columns, none one by one."""

from collections import Counter
from collections.abc import Sequence

from aegis_sdk.wire import EntryDocument


def ids_of(entry: EntryDocument) -> Sequence[str]:
    """The id of every configuration, in the order of the entry."""
    if entry.configuration_table is not None:
        return entry.configuration_table.ids
    return [each.id for each in entry.configurations or ()]


def uses_of(entry: EntryDocument, attribute: str) -> Counter[str]:
    """By masking of the attribute, how many configurations use it."""
    if entry.configuration_table is not None:
        return Counter(entry.configuration_table.maskings[attribute])
    return Counter(each.maskings[attribute] for each in entry.configurations or ())


def vouched_for(entry: EntryDocument, privacy: str) -> dict[str, float]:
    """By id, the privacy of that name, of the configurations whose provider vouches for any."""
    if entry.configuration_table is not None:
        column = (entry.configuration_table.privacy or {}).get(privacy, [])
        numbers = zip(entry.configuration_table.ids, column, strict=False)
        return {name: number for name, number in numbers if number is not None}
    listed = entry.configurations or ()
    return {each.id: each.privacy[privacy] for each in listed if each.privacy and privacy in each.privacy}


def suppressed_in(entry: EntryDocument) -> list[int]:
    """How many records are left out, of the configurations that say so."""
    return [each.suppressed for each in entry.configurations or () if each.suppressed is not None]


def maskings_in(entry: EntryDocument, configuration: str | None) -> dict[str, str]:
    """By attribute, the masking of that configuration; empty if the entry does not have it."""
    table = entry.configuration_table
    if table is None:
        return next((each.maskings for each in entry.configurations or () if each.id == configuration), {})
    if configuration not in table.ids:
        return {}
    row = table.ids.index(configuration)
    return {attribute: column[row] for attribute, column in table.maskings.items()}
