"""Entries and their contents, without SQL or HTTP."""
