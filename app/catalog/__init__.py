"""Persistence: tables, and stores that translate between rows and domain values."""
