"""The masking functions: what each makes of the values of a domain. Raw data is never their argument."""

from aegis_sdk.provider.masking.bucketize import EdgeBuckets, EqualBuckets
from aegis_sdk.provider.masking.function import MaskingFunction
from aegis_sdk.provider.masking.lookup import Hierarchy, Mapped
from aegis_sdk.provider.masking.text import Blur, Round, Suppress

__all__ = [
    "Blur",
    "EdgeBuckets",
    "EqualBuckets",
    "Hierarchy",
    "Mapped",
    "MaskingFunction",
    "Round",
    "Suppress",
]
