"""Entries as JSON values, which tests look into."""

import aegis_provider
from aegis_provider import document_of


def summarize(*arguments, **options):
    """The entry of a table as the file would have it."""
    return document_of(aegis_provider.summarize(*arguments, **options))
