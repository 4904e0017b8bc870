"""Rivals: rankers of configurations, and in `maskings` other ways to mask a table.

A ranker returns (configurations,) scores; higher is better.
"""
