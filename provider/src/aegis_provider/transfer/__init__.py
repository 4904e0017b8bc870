"""Transfer utilities of releases, as an entry declares them: what they tell about real records that they never saw."""

from aegis_provider.transfer.measuring import holdout_of, transfer_of

__all__ = ["holdout_of", "transfer_of"]
