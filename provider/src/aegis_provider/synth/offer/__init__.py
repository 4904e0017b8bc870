"""Generated tables of a plan in its entry: what they are, and what they and its configurations tell about others."""

from aegis_provider.synth.offer.entry import refuse_early, with_generated
from aegis_provider.synth.offer.handing_out import HandedOut, hand_out
from aegis_provider.synth.offer.sides import RealSides

__all__ = ["HandedOut", "RealSides", "hand_out", "refuse_early", "with_generated"]
