"""The masking functions. They map the values of a domain, and never see records."""

from aegis_provider.masking.function import Draw, FittedFunction, Function, MaskingFunction, RandomFunction, random_for
from aegis_provider.masking.lookup import Mapped, MaskedTable
from aegis_provider.masking.numbers import EdgeBuckets
from aegis_provider.masking.registry import FUNCTIONS, names_file, read_function

__all__ = [
    "FUNCTIONS",
    "Draw",
    "EdgeBuckets",
    "FittedFunction",
    "Function",
    "Mapped",
    "MaskedTable",
    "MaskingFunction",
    "RandomFunction",
    "names_file",
    "random_for",
    "read_function",
]
