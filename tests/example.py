"""The example's table, plan and entry, as its provider makes them."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from aegis_provider import Plan, document_of, load_plan, summarize

PLACE = Path(__file__).parents[1] / "examples" / "health"
TABLE = PLACE / "health.csv"
PLAN = PLACE / "plan.yaml"


@cache
def plan() -> Plan:
    """Return the example's plan."""
    return load_plan(PLAN)


@cache
def _summaries(*, pairs: bool) -> dict[str, Any]:
    return document_of(summarize(TABLE, plan(), name="health", pairs=pairs))


def entry(name: str, *, pairs: bool = False) -> dict[str, Any]:
    """Return a copy of the example's entry under the given name, with or without pair counts."""
    return deepcopy(_summaries(pairs=pairs)) | {"name": name}  # readers turn its counts into arrays in place
