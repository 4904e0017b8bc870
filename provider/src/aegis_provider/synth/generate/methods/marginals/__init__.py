"""Generates records from the marginals of a tree of pairs, exact or with differential privacy."""

from aegis_provider.synth.generate.methods.marginals.method import Marginals

__all__ = ["Marginals"]
