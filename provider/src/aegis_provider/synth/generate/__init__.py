"""Generates tables: a model draws records that resemble those of a table."""

from aegis_provider.synth.generate.generated import Generated
from aegis_provider.synth.generate.generating import DEFAULT_METHOD, MOST, Wish, generate
from aegis_provider.synth.generate.methods.method import Knobs
from aegis_provider.synth.generate.methods.registry import METHODS, method_of, usual_knobs
from aegis_provider.synth.generate.training import Look

__all__ = [
    "DEFAULT_METHOD",
    "METHODS",
    "MOST",
    "Generated",
    "Knobs",
    "Look",
    "Wish",
    "generate",
    "method_of",
    "usual_knobs",
]
