"""Stores of entries."""
