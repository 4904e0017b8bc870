"""The ledger of a table: what has left of it, to whom, and what all of it tells together.

    left = leave(table, plan, "c17", Leaving(name="visits", to="hospital-b", place=folder), ...)

It lies in the user's state folder. See decision 114.
"""

from aegis_provider.ledger.composition import Composition, composed
from aegis_provider.ledger.holding import SOME_HELD_BACK, HeldBack, most_held_back
from aegis_provider.ledger.leaving import ACCEPT, CompositionError, Leaving, foretold, hold_back, leave, note
from aegis_provider.ledger.rows import rows_of
from aegis_provider.ledger.store import ANYONE, Event, Ledger, LedgerError, forget, ledgers

__all__ = [
    "ACCEPT",
    "ANYONE",
    "SOME_HELD_BACK",
    "Composition",
    "CompositionError",
    "Event",
    "HeldBack",
    "Leaving",
    "Ledger",
    "LedgerError",
    "composed",
    "foretold",
    "forget",
    "hold_back",
    "leave",
    "ledgers",
    "most_held_back",
    "note",
    "rows_of",
]
