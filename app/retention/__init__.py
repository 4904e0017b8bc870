"""Deletion of expired data."""
