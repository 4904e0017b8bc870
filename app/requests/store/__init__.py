"""Stores of data requests."""
