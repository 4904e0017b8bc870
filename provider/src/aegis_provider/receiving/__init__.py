"""Verification of a delivered table by its consumer: counted again, and compared with what its entry published."""
