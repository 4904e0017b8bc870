"""Decisions on questions, and the computation of answers."""
