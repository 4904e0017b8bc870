"""How much utility an unmasked attribute can have at most, given its views."""

from aegis_advisor.bounds.ceiling import utility_ceilings

__all__ = ["utility_ceilings"]
