"""Decisions about entries."""
