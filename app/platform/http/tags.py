"""The groups of operations, in the order of the OpenAPI document."""

from collections.abc import Mapping
from typing import Final

TAGS: Final[Mapping[str, str]] = {
    "entries": "What providers publish about their tables: summaries, never a record",
    "advice": "Which masking configuration loses the least predictive utility",
    "requests": "Requests for masked data, from the question to the verified delivery",
    "audit": "What was done, receipts of it, and the keys that check both",
    "measures": "The measures of utility that advice can be asked for",
    "keys": "The API keys of a tenant",
    "policy": "What a tenant requires, and how much it may store and ask",
    "webhooks": "Where a tenant is told of events",
    "operation": "For operators: probes, metrics, and who has asked what",
    "documentation": "What the service says about itself",
    "events": "What the service posts to webhooks, signed as Standard Webhooks has it",
}
"""Each with what it is about. A router with a new tag adds it here."""
