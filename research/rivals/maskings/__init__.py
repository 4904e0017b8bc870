"""Rival ways to mask a table, and models on what they keep, tested on unseen records."""
