"""The requirements on a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from aegis_provider.advice import EntryAdvice
from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import CRITERIA
from aegis_provider.search import Requirement, in_words
from aegis_provider.search.budget import work_of
from aegis_sdk.wire import TRANSFER_MEASURES

#: The values of k on the frontier.
KS: Final = (2, 3, 5, 10, 20)

USUAL: Final[Mapping[str, float]] = MappingProxyType({"k": 5})


@dataclass(frozen=True)
class Aim:
    """The requirements on a release.

    Attributes:
        label: The column to predict from the others.
        other_labels: Further columns to predict; empty for those of the plan.
        require: The required privacy, by name.
        suppress_at_most: The share of records that may be left out for it.
        measure: The measure of utility.
        effort: The work of the search; see `find_configurations`.
        seconds: The time limit; see `Deadline`.
        most: The maximum number of published configurations.
        generates: Whether to generate tables beside the masked one.
        keep: The attributes that are never dropped, each with its coarsest masking; `None` if any but `drop` will do.
        weights: How much attributes count in a measure of single attributes; others count 1.
        person: The column that says whose a record is; `None` for that of the plan, if any.
        rows_per_person: The most records of a person to use; `None` for that of the plan, or the default.
        configuration: The id of the configuration to share; `None` for the best.
        before: The id of the one that the release before shared, which is shared again while it has the required
            privacy; `None` for the best.
    """

    label: str
    require: Mapping[str, float] = field(default_factory=lambda: dict(USUAL))
    suppress_at_most: float = 0.01
    measure: str = "joint"
    effort: str = "normal"
    seconds: float = 1800.0
    most: int = 200
    generates: bool = False
    keep: Mapping[str, str | None] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    person: str | None = None
    rows_per_person: int | None = None
    configuration: str | None = None
    before: str | None = None
    other_labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        work_of(self.effort, 1)  # refuses an unknown one
        if self.generates and self.measure not in TRANSFER_MEASURES:
            raise PlanError(
                f"masked and generated tables are compared by {', '.join(TRANSFER_MEASURES)}; not by {self.measure}"
            )

    def requirements(self) -> list[Requirement]:
        """Return the requirements of the search: the aim itself, then the same with the other values of k."""
        first = Requirement(dict(self.require), self.suppress_at_most)
        others = [k for k in KS if k != self.require["k"]] if "k" in self.require else []
        return [first, *(replace(first, privacy={**self.require, "k": k}) for k in others)]

    def is_met_by(self, configuration: Configuration) -> bool:
        """Return whether a configuration has the required privacy."""
        return all(_reaches(name, configuration.privacy.get(name), limit) for name, limit in self.require.items())

    def reaches(self, name: str, limit: float) -> bool:
        """Return whether every configuration that meets the aim has this privacy, too."""
        return name in CRITERIA and _reaches(name, self.require.get(name), limit)

    def choosing(self, advice: EntryAdvice, plan: Plan) -> EntryAdvice:
        """Return the advice with the configuration to share.

        With several labels, that is the first of the plan's: the search lists what keeps most of all labels on average
        first, while advice is about one.

        Raises:
            PlanError: The one with this id lacks the required privacy.
        """
        ids = [row.id for row in advice.ranking]
        if self.configuration is not None and self.configuration not in ids:
            other = nearest(self.configuration, ids)
            raise PlanError(f"no configuration {self.configuration} was found that has {self.described()}; {other}")
        if plan.other_labels:
            places = {each.id: place for place, each in enumerate(plan.configurations)}
            rows = sorted(advice.ranking, key=lambda row: places[row.id])
            advice, ids = replace(advice, basis="estimated", ranking=tuple(rows)), [row.id for row in rows]
        again = self.before if self.before in ids[1:] else None
        return replace(advice, named=self.configuration or again)

    def described(self) -> str:
        """Return the aim in words: `k = 5, at most 1 % of the records left out`."""
        return f"{in_words(self.require)}, at most {100 * self.suppress_at_most:.3g} % of the records left out"

    def as_json(self) -> dict[str, Any]:
        """Return everything that the configurations depend on, as JSON values."""
        return {
            "label": self.label,
            "require": dict(self.require),
            "suppress_at_most": self.suppress_at_most,
            "measure": self.measure,
            "effort": self.effort,
            "seconds": self.seconds,
            "most": self.most,
            **({"keep": dict(self.keep)} if self.keep else {}),
            **({"weights": dict(self.weights)} if self.weights else {}),
            **({"person": self.person} if self.person else {}),
            **({"rows_per_person": self.rows_per_person} if self.rows_per_person else {}),
            **({"other_labels": list(self.other_labels)} if self.other_labels else {}),
        }


def _reaches(name: str, reached: float | None, limit: float) -> bool:
    if reached is None:
        return False
    return reached >= limit if CRITERIA[name].at_least else reached <= limit
