"""Stores of the audit log."""
