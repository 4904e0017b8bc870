"""Verification of a delivered table by its consumer: counts it again and compares with the published counts."""
