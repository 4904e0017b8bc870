"""A release and its original table, interpreted as by a reader of the release."""

from aegis_provider.synth.released.masked_records import MaskedRecords
from aegis_provider.synth.released.opening import SEEN_ALL, Opened, meanings_by_plan, open_release
from aegis_provider.synth.released.released import NotUnderstood, Released, ReleasedColumn

__all__ = [
    "SEEN_ALL",
    "MaskedRecords",
    "NotUnderstood",
    "Opened",
    "Released",
    "ReleasedColumn",
    "meanings_by_plan",
    "open_release",
]
