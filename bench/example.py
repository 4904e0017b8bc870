"""The example's table as its provider summarises it."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from aegis_sdk.provider import Plan, load_plan, summarize

PLACE = Path(__file__).parents[1] / "examples" / "health"
TABLE = PLACE / "health.csv"


@cache
def plan() -> Plan:
    """What may be masked, and how."""
    return load_plan(PLACE / "plan.yaml")


@cache
def _summaries() -> dict[str, Any]:
    return summarize(TABLE, plan(), name="health")


def entry(name: str) -> dict[str, Any]:
    """The example's entry under a name of its own."""
    return deepcopy(_summaries()) | {"name": name}  # who reads it turns its counts into arrays, in place
