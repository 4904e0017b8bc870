"""Advice over HTTP."""
