"""The masking functions: what each makes of the values of a domain. Records are never their argument."""

from aegis_provider.masking.bucketize import EdgeBuckets, EqualBuckets
from aegis_provider.masking.coding import TopBottom
from aegis_provider.masking.draw import Draw, random_for
from aegis_provider.masking.frequency import EqualFrequency, FoundBuckets
from aegis_provider.masking.function import FittedFunction, Function, MaskingFunction, RandomFunction
from aegis_provider.masking.hierarchy import DateHierarchy, IntervalHierarchy, PrefixHierarchy, TreeHierarchy
from aegis_provider.masking.lookup import Hierarchy, HierarchyFile, Mapped
from aegis_provider.masking.masked_table import MaskedTable
from aegis_provider.masking.noise import Noise
from aegis_provider.masking.random_response import Pram, RandomisedResponse
from aegis_provider.masking.shuffle import Shuffle
from aegis_provider.masking.text import Blur, BlurPositions, Round, Suppress
from aegis_provider.masking.token import Token

__all__ = [
    "Blur",
    "BlurPositions",
    "DateHierarchy",
    "Draw",
    "EdgeBuckets",
    "EqualBuckets",
    "EqualFrequency",
    "FittedFunction",
    "FoundBuckets",
    "Function",
    "Hierarchy",
    "HierarchyFile",
    "IntervalHierarchy",
    "Mapped",
    "MaskedTable",
    "MaskingFunction",
    "Noise",
    "Pram",
    "PrefixHierarchy",
    "RandomFunction",
    "RandomisedResponse",
    "Round",
    "Shuffle",
    "Suppress",
    "Token",
    "TopBottom",
    "TreeHierarchy",
    "random_for",
]
