"""Entries as JSON values, for tests."""

import aegis_provider
from aegis_provider import document_of


def summarize(*arguments, **options):
    """Return the entry of a table as in its file."""
    return document_of(aegis_provider.summarize(*arguments, **options))
