"""Stores of tenants."""
