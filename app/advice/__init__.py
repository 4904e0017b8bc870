"""Advice: questions about entries, and their answers."""
