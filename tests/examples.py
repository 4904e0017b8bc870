"""How many examples a property is tried with if one costs more than 50 ms: a table is read anew, or programs solved."""

from hypothesis import settings


def at_most(examples: int) -> settings:
    """Return what limits the examples of a property in the long suite; the short one has fewer anyway."""
    return settings(max_examples=min(examples, settings.default.max_examples))
