"""The parts of the page that come from training: each makes a `Section` of the outcomes."""

from collections.abc import Sequence

from bench.evaluation.effectiveness import Outcome
from bench.evaluation.tables import synthetic

LEADING = (
    "joint, counts",
    "joint, not corrected",
    "mutual_information, counts",
    "chi_square, counts",
    "g3, counts",
    "mutual_information, own",
)
"""Shown in plots, before the rivals."""


def leading(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The entrants that plots show, those that take part: title by id."""
    taking_part = {effect.entrant.id: effect.entrant for effect in outcomes[0].effects}
    rivals = [name for name, entrant in taking_part.items() if entrant.group == "rivals"]
    return {name: taking_part[name].title for name in (*LEADING, *rivals) if name in taking_part}


def real(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of real tables."""
    return [each for each in outcomes if each.study.name not in synthetic.NAMES]


def made_up(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of synthetic tables."""
    return [each for each in outcomes if each.study.name in synthetic.NAMES]
