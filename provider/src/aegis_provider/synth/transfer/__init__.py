"""Transfer utilities of releases, as an entry declares them: what they tell about real records that they never saw."""

from aegis_provider.synth.transfer.measuring import holdout_of, transfer_of
from aegis_provider.synth.transfer.told import told_by

__all__ = ["holdout_of", "told_by", "transfer_of"]
