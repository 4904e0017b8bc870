"""Models trained on masked tables: what a configuration is worth."""

from dataclasses import dataclass, field

from research.controls.noise import Entry
from research.study import Study, masked_by
from research.training import METRICS, splits_of, trained

SPLITS = 5


@dataclass
class Learners:
    """Models on masked tables, trained once for each requested table."""

    study: Study
    _known: dict[bytes, float] = field(default_factory=dict)

    def auc(self, entry: Entry, configuration: int) -> float:
        """Return the AUC of the table as a configuration of an entry masks it: the mean over models and splits."""
        masked = masked_by(entry.evidence, entry.configurations, self.study.codes, configuration)
        key = masked.tobytes()
        if key not in self._known:
            halves = splits_of(self.study.classes, SPLITS)
            self._known[key] = float(trained(masked, self.study.classes, halves)[:, :, METRICS.index("AUC")].mean())
        return self._known[key]
