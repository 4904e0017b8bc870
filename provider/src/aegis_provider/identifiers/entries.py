"""The search in an entry, of which only the values that it lists are known: those of somebody else's table, perhaps."""

from collections.abc import Sequence
from typing import Final

from aegis_provider.identifiers.columns import identifies
from aegis_provider.identifiers.search import with_contents
from aegis_provider.identifiers.values import Values
from aegis_provider.identifiers.written import Replayed, accepted_in, texts_of_entry
from aegis_provider.table.values import MISSING, ValueType, infer_type
from aegis_sdk.wire import EntryDocument

_NUMBERS: Final = {ValueType.INTEGER, ValueType.NUMBER}


def identifying_in_entry(entry: EntryDocument) -> dict[str, str]:
    """Return which columns of an entry identify persons, by a name or a value or by all of its values, and how."""
    texts = texts_of_entry(entry)
    shown = accepted_in([*texts.items(), *((name, [name]) for name in texts)], Replayed({}))
    reasons = ((each.name, identifies(_values(entry, each.name, each.domain))) for each in entry.attributes)
    return {name: reason for name, reason in reasons if reason} | {
        name: f"shows {what}" for name, what in shown.items()
    }


def _values(entry: EntryDocument, name: str, domain: Sequence[str]) -> Values:
    """Return what is known of a column as if all of its values were there equally often."""
    listed = tuple(text for text in domain if text != MISSING)
    numbers = [*map(float, listed)] if infer_type(listed) in _NUMBERS else []  # an entry also lists intervals
    extent = max(numbers) - min(numbers) if numbers else None
    known = entry.records if numbers else 0
    [values] = with_contents([Values(name, entry.records, entry.records, len(listed), known, extent, listed)])
    return values
