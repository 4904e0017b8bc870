"""Drafts a plan for a bare table: the types of its columns, and suitable maskings for each."""

from aegis_provider.draft.attributes import Column, DraftedAttribute, Level
from aegis_provider.draft.drafting import Started, start
from aegis_provider.draft.fitting import refit, refitted

__all__ = ["Column", "DraftedAttribute", "Level", "Started", "refit", "refitted", "start"]
