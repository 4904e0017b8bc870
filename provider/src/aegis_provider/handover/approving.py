"""Approval of requests by the rules of a policy."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aegis_provider.handover.policy import Policy
from aegis_sdk import Client, ConflictError
from aegis_sdk.wire import DataRequestHead

MONTH: Final = timedelta(days=30)

_GRANTED: Final = ("approved", "delivered", "received", "disputed")
_REASON: Final = "approved by the rules of the provider's agent"


def approve(service: Client, policy: Policy) -> Iterator[DataRequestHead]:
    """Approve the requests that a rule allows, oldest first, and yield each. A person decides about all others.

    Two agents with the same policy may do this at once, and a tenant still gets no more than a rule's `per_month`:
    both decide in the same order, and count what the other has granted.

    Raises:
        AegisError: The service does not answer, or does not let the caller approve.
    """
    waiting = [each for each in service.requests.list("advised", side="provider") if _is_ours(each, policy)]
    if not waiting:
        return
    granted = _granted(service)  # after listing, so that nothing that another agent grants meanwhile is missed
    vouched = _Vouched(service)
    for request in reversed(waiting):
        rule = policy.rule_for(request, vouched.of(request))
        if rule is None or (rule.per_month is not None and granted[request.consumer] >= rule.per_month):
            continue
        granted[request.consumer] += 1
        try:
            yield service.requests.approve(request.id, _REASON)
        except ConflictError:
            continue  # somebody else was faster


def _is_ours(request: DataRequestHead, policy: Policy) -> bool:
    """Whether the agent has the table; it might have no plan for a version that was replaced."""
    return request.entry.name in policy.supplies and not request.stale


def _granted(service: Client) -> Counter[str]:
    """How many requests of each tenant were granted in the last 30 days."""
    since, granted = datetime.now(UTC) - MONTH, Counter[str]()
    for request in service.requests.list(side="provider"):
        if request.created_at < since:
            break
        granted[request.consumer] += request.state in _GRANTED
    return granted


class _Vouched:
    """What entries vouch for in their configurations, read once for each version."""

    def __init__(self, service: Client) -> None:
        self._service = service
        self._read: dict[tuple[str, int], Mapping[str, Mapping[str, float]]] = {}

    def of(self, request: DataRequestHead) -> Mapping[str, float]:
        """What is vouched for in the configuration of a request, by criterion."""
        version = request.entry.id, request.entry.version
        if version not in self._read:
            self._read[version] = _privacy(self._service.summaries(*version))
        return self._read[version].get(request.configuration or "", {})


def _privacy(entry: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
    return {each["id"]: each.get("privacy") or {} for each in entry["configurations"]}
