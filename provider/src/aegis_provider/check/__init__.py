"""Checks advice by training models on the table and on its releases, on the provider's machine."""

from aegis_provider.check.check import check
from aegis_provider.check.masked_records import Choose, Refit
from aegis_provider.check.measured import refuse_other_entry, with_measured
from aegis_provider.classifiers import NOTHING, RAW, CheckResult, Interval, Performance

__all__ = [
    "NOTHING",
    "RAW",
    "CheckResult",
    "Choose",
    "Interval",
    "Performance",
    "Refit",
    "check",
    "refuse_other_entry",
    "with_measured",
]
