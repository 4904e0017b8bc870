"""Persistence: tables, and stores that convert between rows and domain values."""
