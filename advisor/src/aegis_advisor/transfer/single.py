"""Transfer utilities of one attribute, from two tables of counts: a release's and that of held-out real records.

Both tables are (values, labels), with the same values in the same order: masked values if the release is masked. A
value that the release lacks is predicted by the release's labels alone. The held-out table must have records.
"""

import numpy as np

from aegis_advisor.arrays import FloatArray
from aegis_advisor.transfer.figure import Figure, explained

SMOOTHING = 2.0
"""Records added to each value, distributed like the label, before taking logarithms of shares.

`docs/model.md` compares strengths. Without any, a held-out record costs infinity if its value never had its label.
"""


def label_shares(release: FloatArray, smoothing: float = 0.0) -> FloatArray:
    """The rule of a release: the share of each label at each value, `h` (values, labels).

    `h_a(y) = (n(a, y) + s q(y)) / (n(a) + s)` with `q(y) = (n(y) + s / C) / (n + s)`, for `C` labels. So all shares are
    positive if `s` is. Without any records, all labels are equally likely.

    Args:
        release: (values, labels) the release's counts.
        smoothing: `s`.
    """
    records, classes = float(release.sum()), release.shape[1]
    even = np.full(classes, 1 / classes)
    known = records + smoothing
    label = (release.sum(axis=0) + smoothing * even) / known if known > 0 else even
    rows = release.sum(axis=1, keepdims=True) + smoothing
    shares = np.broadcast_to(label, release.shape).copy()
    np.divide(release + smoothing * label, rows, out=shares, where=rows > 0)
    return shares


def information_transfer(release: FloatArray, holdout: FloatArray, smoothing: float = SMOOTHING) -> Figure:
    """`sum P(a, y) log2(h_a(y) / P(y))` in bits: the saving in the code length of a label by the release's shares.

    At most the mutual information of the held-out records, by Gibbs' inequality (Cover & Thomas 2006, "Elements of
    information theory", theorem 2.6.3). It is negative if the rule is worse than their labels' shares alone.
    """
    records = float(holdout.sum())
    joint = holdout / records
    label, rule = joint.sum(axis=0), label_shares(release, smoothing)
    gained = np.zeros(joint.shape)
    with np.errstate(divide="ignore"):  # without smoothing, a share may be 0
        np.log2(rule / np.where(label > 0, label, 1.0), out=gained, where=joint > 0)
    value = float(np.sum(joint * gained))
    if not np.isfinite(value):
        return Figure(value, np.inf, -np.inf, value)
    return Figure.mean(value, gained - value, joint, records)


def chi_square_transfer(release: FloatArray, holdout: FloatArray) -> Figure:
    """Chi-square over the number of records, with the release's shares, which are not smoothed (`explained`).

    At most chi-square / N of the held-out records; negative if the rule is worse than none.
    """
    return explained(label_shares(release), holdout)


def g3_transfer(release: FloatArray, holdout: FloatArray) -> Figure:
    """The share of held-out records whose label is not the release's most frequent one at their value.

    The first of tied labels counts. It is at least the held-out records' own g3 (Kivinen & Mannila 1995).
    """
    records = float(holdout.sum())
    guess = label_shares(release).argmax(axis=1)
    right = float(holdout[np.arange(holdout.shape[0]), guess].sum()) / records
    return Figure.share(min(1.0, max(0.0, 1.0 - right)), records)
