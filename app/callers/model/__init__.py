"""Callers, keys and sessions, without SQL or HTTP."""
