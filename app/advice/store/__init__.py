"""Stores of questions, answers and references."""
