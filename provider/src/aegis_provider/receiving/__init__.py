"""Verification of a delivered table by its consumer: counted again, and compared with what its entry published."""

from aegis_provider.receiving.parts import UnknownText
from aegis_provider.receiving.verification import Verified, verify

__all__ = ["UnknownText", "Verified", "verify"]
