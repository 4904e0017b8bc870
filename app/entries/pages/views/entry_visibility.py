"""The form that says who sees an entry."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from app.entries.model.entries import Audience, Visibility
from app.platform.errors import Fault, InvalidDocumentError


@dataclass(frozen=True, slots=True)
class VisibilityForm:
    """What the form says.

    Attributes:
        audience: `private`, `all` or `tenants`.
        tenants: the names of the tenants, a line for each.
        faults: what is wrong with it.
    """

    audience: str
    tenants: str = ""
    faults: Sequence[Fault] = ()

    @classmethod
    def of(cls, visibility: Visibility) -> Self:
        """The form for an entry that is visible so."""
        return cls(visibility.audience.value, "\n".join(visibility.tenants))

    @property
    def visibility(self) -> object:
        """What it asks for, in the contract's form."""
        if self.audience != Audience.TENANTS:
            return self.audience
        return {"tenants": [line.strip() for line in self.tenants.splitlines() if line.strip()]}

    def refused(self, error: InvalidDocumentError) -> Self:
        """The same form with its faults."""
        return replace(self, faults=error.faults)
