"""The result of a search."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import CRITERIA, measured_names
from aegis_sdk.reading import number


def in_words(privacy: Mapping[str, float]) -> str:
    """Return required privacy in words: `k = 5, l = 2`."""
    return ", ".join(f"{name} = {number(limit, 6)}" for name, limit in privacy.items())


@dataclass(frozen=True)
class Requirement:
    """The requirement that every resulting configuration must meet.

    Attributes:
        privacy: The required numbers, by the names of criteria.
        suppress_at_most: The share of records, from 0 to below 1, that may be suppressed because their equivalence
            class breaks the requirement.
    """

    privacy: Mapping[str, float]
    suppress_at_most: float = 0.0

    def check_alone(self) -> None:
        """Reject a requirement that is invalid for every plan.

        Raises:
            PlanError: It is invalid.
        """
        if not self.privacy:
            raise PlanError("nothing is required; require k=5, for example")
        for name in self.privacy:
            if name not in measured_names():
                raise PlanError(f"{name!r} cannot be required of a table; {nearest(name, list(measured_names()))}")
        if not 0 <= self.suppress_at_most < 1:
            raise PlanError(f"the share to suppress must be at least 0 and below 1, not {self.suppress_at_most}")

    def check(self, plan: Plan) -> None:
        """Reject an invalid requirement.

        Raises:
            PlanError: The requirement is invalid, or invalid for this plan.
        """
        self.check_alone()
        for name in self.privacy:
            if CRITERIA[name].needs_sensitive and not plan.sensitive:
                raise PlanError(f"{plan.source}: sensitive: names no attribute, but {name} needs one")
        if not plan.quasi_identifiers:
            raise PlanError(
                f"{plan.source}: no attribute is a quasi-identifier, so there is nothing to mask; name some under "
                "quasi_identifiers, or delete that line, and all are"
            )

    def described(self) -> str:
        """Return the requirement in words: `k=5, l=2, at most 0.01 of the records suppressed`."""
        parts = [f"{name}={number:g}" for name, number in self.privacy.items()]
        return ", ".join([*parts, f"at most {self.suppress_at_most:.4g} of the records suppressed"])


@dataclass(frozen=True)
class FrontierPoint:
    """The best configuration that meets a requirement.

    Attributes:
        requirement: The requirement.
        configuration: The configuration, with its measured `privacy` and number of `suppressed` records; `None` without
            one.
        utility: Its utility; NaN without a configuration.
        share: The utility as a share of that of the unmasked table; NaN without a configuration.
        minimal: The number of combinations that meet the requirement while none finer by one step does; `None` if not
            counted.
        complete: Whether the configuration is proven to be optimal, or no combination proven to meet the requirement.
        at_most_more: An upper bound of the possible gain in utility, as a share of this utility; 0 if complete, `None`
            if unknown.
    """

    requirement: Requirement
    configuration: Configuration | None
    utility: float
    share: float
    minimal: int | None
    complete: bool
    at_most_more: float | None

    @property
    def at_most(self) -> float | None:
        """An upper bound of the share of the unmasked table's utility that a configuration can have; `None` if
        unknown.
        """
        return None if self.at_most_more is None else min(1.0, self.share * (1 + self.at_most_more))


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        configurations: The configurations, the best first; equal ones in the order of `aegis advise`.
        utilities: The utility of each by `measure`.
        shares: The utilities as shares of that of the unmasked table.
        frontier: The best configuration for each requirement, in the order of the requirements.
        measure: The id of the measure of utility.
        unmasked: The utility of the unmasked table, with rare values merged as in an entry; at least the highest
            utility of a configuration.
        nodes: The number of combinations of choices.
        evaluated: The number of evaluations of requirements.
        interrupted: Whether Ctrl-C ended the search; the configurations are then the best so far.
        ignored: By attribute, the choices excluded because they have too many masked values to compare.
        records: The number of records in the table.
    """

    configurations: tuple[Configuration, ...]
    utilities: tuple[float, ...]
    shares: tuple[float, ...]
    frontier: tuple[FrontierPoint, ...]
    measure: str
    unmasked: float
    nodes: int
    evaluated: int
    interrupted: bool
    ignored: Mapping[str, tuple[str, ...]]
    records: int

    @property
    def complete(self) -> bool:
        """Whether the best configuration for each requirement is proven to be optimal."""
        return all(point.complete for point in self.frontier)
