"""Stores of keys and sessions."""
