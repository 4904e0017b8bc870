"""Generation from marginals: a tree of pairs, exact or with differential privacy."""

from aegis_provider.generate.methods.marginals.method import NOT_COVERED, Marginals

__all__ = ["NOT_COVERED", "Marginals"]
