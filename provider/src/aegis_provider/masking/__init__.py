"""The masking functions. They map the values of a domain, and never see records."""

from aegis_provider.masking.bucketize import EdgeBuckets
from aegis_provider.masking.draw import Draw, random_for
from aegis_provider.masking.function import FittedFunction, Function, MaskingFunction, RandomFunction
from aegis_provider.masking.lookup import Mapped
from aegis_provider.masking.masked_table import MaskedTable
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
