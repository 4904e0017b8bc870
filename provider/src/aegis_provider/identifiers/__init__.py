"""Searches the columns of a table, and all output, for values that identify persons."""

from aegis_provider.identifiers.search import (
    MOST_COLUMNS,
    identifying,
    identifying_in,
    identifying_in_entry,
    refuse_identifiers,
    shared_as_they_are,
    told,
    values_of,
)
from aegis_provider.identifiers.values import Values, is_quantity, words_of
from aegis_provider.identifiers.written import (
    Replayed,
    accepted_beside,
    accepted_in,
    accepted_in_words,
    refuse_written,
    texts_of_entry,
    texts_written,
)

__all__ = [
    "MOST_COLUMNS",
    "Replayed",
    "Values",
    "accepted_beside",
    "accepted_in",
    "accepted_in_words",
    "identifying",
    "identifying_in",
    "identifying_in_entry",
    "is_quantity",
    "refuse_identifiers",
    "refuse_written",
    "shared_as_they_are",
    "texts_of_entry",
    "texts_written",
    "told",
    "values_of",
    "words_of",
]
