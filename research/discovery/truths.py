"""What boosting reaches: of records that no entry has, and in its provider's own cross-validation."""

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray
from research.discovery.entries import UNKNOWN, Offer, Release
from research.discovery.tasks import Task
from research.training import BOOSTING

FOLDS = 5


@dataclass(frozen=True)
class Truth:
    """AUCs of boosting on a release: of several classes the mean over all, each against the rest.

    Attributes:
        auc: trained on the release, of the held-out sample.
        halves: of two halves of the sample.
        own: of the release's own records, in 5 folds: what its provider can measure.
    """

    auc: float
    halves: tuple[float, float]
    own: float


def truth(task: Task, offer: Offer, place: Path) -> Truth:
    """Return what the best release of an offer reaches, from the file if it is there."""
    if place.exists():
        loaded: Truth = pickle.loads(place.read_bytes())
        return loaded
    classes = np.searchsorted(np.unique(task.table.label), task.sample.label)
    with threadpool_limits(1):
        result = _truth(offer.release, classes)
    place.write_bytes(pickle.dumps(result))
    return result


def _truth(release: Release, classes: IntArray) -> Truth:
    count = int(classes.max()) + 1
    chances = trained(release.masked, release.classes, release.held_out, count)
    halves = np.random.default_rng(0).permutation(classes.size) % 2
    one, other = (auc(classes[halves == half], chances[halves == half]) for half in (0, 1))
    own = np.zeros((release.classes.size, count))
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(own):
        own[test] = trained(release.masked[train], release.classes[train], release.masked[test], count)
    return Truth(auc(classes, chances), (one, other), auc(release.classes, own))


def trained(masked: IntArray, classes: IntArray, others: IntArray, count: int) -> FloatArray:
    """(others, count) the chances of each class in other masked records, by boosting; 0 for a class never seen."""
    chances, seen = np.zeros((len(others), count)), np.unique(classes)
    if not masked.shape[1] or seen.size < 2:
        return chances
    model = HistGradientBoostingClassifier(**BOOSTING, early_stopping=False, random_state=0).fit(masked, classes)
    chances[:, seen] = model.predict_proba(np.where(others == UNKNOWN, np.nan, others))
    return chances


def auc(classes: IntArray, chances: FloatArray) -> float:
    """The mean over the classes that occur, each against the rest; of two classes that of the second."""
    of = [1] if chances.shape[1] == 2 else [one for one in range(chances.shape[1]) if np.any(classes == one)]
    return float(np.mean([roc_auc_score(classes == one, chances[:, one]) for one in of]))
