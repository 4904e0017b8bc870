"""Approval of requests by the rules of a policy."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aegis_provider.handover.policy import Policy, Rule
from aegis_sdk import Client, ConflictError
from aegis_sdk.reading import promises_of
from aegis_sdk.wire import DataRequestHead, GrantLimit

MONTH: Final = 30
"""Days."""

_REASON: Final = "approved by the rules of the provider's agent"


def approve(service: Client, policy: Policy) -> Iterator[DataRequestHead]:
    """Approve the requests that a rule allows, oldest first, and yield each. A person decides about all others.

    The service counts what a tenant was granted, so any number of agents never grant more than a rule says.

    Raises:
        AegisError: The service does not answer, or does not let the caller approve.
    """
    waiting = [each for each in service.requests.list("advised", side="provider") if _is_ours(each, policy)]
    vouched = _Vouched(service)
    for request in reversed(waiting):
        rule = policy.rule_for(request, vouched.of(request))
        if rule is None:
            continue
        try:
            yield service.requests.approve(request.id, _REASON, _limit(rule))
        except ConflictError:
            continue  # its tenant has had enough, or somebody else was faster


def _is_ours(request: DataRequestHead, policy: Policy) -> bool:
    """Whether the agent has the table; it might have no plan for a version that was replaced."""
    return request.entry.name in policy.tables and not request.stale


def _limit(rule: Rule) -> GrantLimit | None:
    return None if rule.per_month is None else GrantLimit(requests=rule.per_month, days=MONTH)


class _Vouched:
    """What entries vouch for in their configurations; each version is read once."""

    def __init__(self, service: Client) -> None:
        self._service = service
        self._schemas: dict[tuple[str, int], Mapping[str, Any]] = {}

    def of(self, request: DataRequestHead) -> Mapping[str, float]:
        """What is vouched for in the configuration of a request, by criterion."""
        version = request.entry.id, request.entry.version
        if version not in self._schemas:
            self._schemas[version] = self._service.entry(*version).entry_schema
        columns = promises_of(self._schemas[version], [request.configuration or ""])
        return {name: number for name, (number,) in columns.items() if number is not None}
