"""Decisions about data requests."""
