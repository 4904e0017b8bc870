"""Generated tables of a plan in its entry: what they are, and what they and its configurations tell about others."""

from aegis_provider.offer.entry import with_generated
from aegis_provider.offer.handing_out import HandedOut, hand_out

__all__ = ["HandedOut", "hand_out", "with_generated"]
