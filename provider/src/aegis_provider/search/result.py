"""The result of a search."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.plan.model import Configuration
from aegis_provider.search.requirement import Requirement


@dataclass(frozen=True)
class FrontierPoint:
    """The best configuration that meets a requirement.

    Attributes:
        requirement: The requirement.
        configuration: The configuration; its `privacy` is what it reaches, and `suppressed` how many records it leaves
            out. `None` if no configuration was found.
        utility: Its utility; NaN without a configuration.
        share: That as a share of the utility of the unmasked table; NaN without a configuration.
        minimal: How many combinations meet the requirement while none that is finer by one step does; `None` if they
            were not counted.
        complete: Whether it is proven that no combination has a higher utility, or that none meets the requirement.
        at_most_more: By what share of this utility that of the best combination may be higher, at most; 0 if complete,
            `None` if no limit is known.
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
        """The largest share of the unmasked table that a configuration can keep; `None` if no limit is known."""
        return None if self.at_most_more is None else min(1.0, self.share * (1 + self.at_most_more))


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        configurations: The configurations kept, the best first; of equal ones, as `aegis advise` orders them.
        utilities: The utility of each by `measure`.
        shares: Each as a share of the utility of the unmasked table.
        frontier: The best configuration for each requirement, in the order of the requirements.
        measure: The id of the measure of utility.
        unmasked: The utility of the unmasked table, rare values merged as an entry lists them; at least the highest
            utility of a configuration.
        nodes: The number of combinations of choices.
        evaluated: How often it was checked whether a combination meets a requirement.
        interrupted: Whether Ctrl-C ended the search; the configurations are then the best until then.
        ignored: By attribute, the choices with too many masked values to compare; they take no part.
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
        """Whether the best configuration for each requirement is proven to be the best."""
        return all(each.complete for each in self.frontier)
