"""The parts of the page that come from training: each makes a `Section` of the outcomes."""

from collections.abc import Sequence

import numpy as np

from bench.evaluation.effectiveness import Outcome
from bench.evaluation.report import figure_of
from bench.evaluation.tables import synthetic

JOINT = "joint, counts"
MUTUAL_INFORMATION = "mutual_information, counts"
CORRECTED = "mutual_information, bias corrected"
CHI_SQUARE_CORRECTED = "chi_square, bias corrected"
G3 = "g3, counts"
PUBLISHED = "mutual_information, own"
RANDOM = "random choice"
VIEW = "sampling in a view"
LEADING = (JOINT, MUTUAL_INFORMATION, G3, PUBLISHED, "Mascara", VIEW, "mRMR", RANDOM)
"""Shown in plots."""


def leading(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The entrants that plots show: title by id."""
    return {name: outcomes[0].by_id[name].entrant.title for name in LEADING}


def real(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of real tables."""
    return [each for each in outcomes if each.study.name not in synthetic.NAMES]


def took_part(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of real tables that the product's defaults were chosen by."""
    return [each for each in real(outcomes) if not each.study.table.held_out]


def held_out(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of real tables that had no part in any choice."""
    return [each for each in real(outcomes) if each.study.table.held_out]


def made_up(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of synthetic tables."""
    return [each for each in outcomes if each.study.name in synthetic.NAMES]


def mean_loss(entrant: str, outcomes: Sequence[Outcome]) -> str:
    """The AUC that an entrant's pick loses, mean over tables."""
    return figure_of(float(np.mean([each.by_id[entrant].loss().mean() for each in outcomes])))


def worst_loss(entrant: str, outcomes: Sequence[Outcome]) -> str:
    """The same on the table where it is most."""
    return figure_of(max(float(each.by_id[entrant].loss().mean()) for each in outcomes))
