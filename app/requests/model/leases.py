"""Leases: while one program fulfils a data request, no other one does."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Lease:
    """The fulfilment of a request, for one program and some time.

    Attributes:
        id: known only to the program that has it.
        expires_at: when it ends unless it is renewed, by the database's clock.
    """

    id: str
    expires_at: datetime
