"""Decisions about questions, and the computation of answers."""
