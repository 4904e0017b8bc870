"""What is required of the privacy of a release."""

from collections.abc import Mapping
from dataclasses import dataclass

from aegis_provider.errors import PlanError, nearest
from aegis_provider.plan.model import Plan
from aegis_provider.privacy import CRITERIA, measured_names


def in_words(privacy: Mapping[str, float]) -> str:
    """Return required privacy in words: `k = 5, l = 2`."""
    return ", ".join(f"{name} = {number:g}" for name, number in privacy.items())


@dataclass(frozen=True)
class Requirement:
    """The requirement that every configuration found must meet.

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
            PlanError: It is.
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
