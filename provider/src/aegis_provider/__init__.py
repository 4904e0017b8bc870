"""The provider's work on its own machine: read a plan, measure privacy, prepare an entry, apply a configuration.

    plan = load_plan(Path("plan.yaml"))
    assess(Path("health.csv"), plan).releases[0].privacy
    prepared = prepare_entry(Path("health.csv"), plan, [MinimumCell(5)], name="health-survey")
    prepared.write(Path("entry.json"), plan_output=Path("controlled.yaml"))
    apply(Path("health.csv"), prepared.plan, "c17", Path("masked.csv"))

Every error is a `ProviderError`, or a `PromiseError` of `apply`; its text is one line.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aegis_provider.control import (
        Control,
        ControlError,
        Controlled,
        LaplaceNoise,
        LastingRandomness,
        MinimumCell,
        RandomRounding,
        Roles,
        apply_controls,
    )
    from aegis_provider.entry import document_of, write_entry
    from aegis_provider.errors import (
        NothingHoldsError,
        OutputError,
        PlanError,
        PromiseError,
        ProviderError,
        TableError,
    )
    from aegis_provider.files import refuse_overwriting
    from aegis_provider.plan.model import Attribute, Configuration, Masking, Plan
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.plan.writing import write_plan
    from aegis_provider.prepare import PreparedEntry, prepare_entry
    from aegis_provider.privacy import assess, plan_of_roles
    from aegis_provider.release.apply import Applied, apply
    from aegis_provider.search import FrontierPoint, Requirement, SearchResult, find_configurations
    from aegis_provider.summary import summarize
    from aegis_provider.table import Source, open_table, table_name

__all__ = [
    "Applied",
    "Attribute",
    "Configuration",
    "Control",
    "ControlError",
    "Controlled",
    "FrontierPoint",
    "LaplaceNoise",
    "LastingRandomness",
    "Masking",
    "MinimumCell",
    "NothingHoldsError",
    "OutputError",
    "Plan",
    "PlanError",
    "PreparedEntry",
    "PromiseError",
    "ProviderError",
    "RandomRounding",
    "Requirement",
    "Roles",
    "SearchResult",
    "Source",
    "TableError",
    "apply",
    "apply_controls",
    "assess",
    "document_of",
    "find_configurations",
    "load_plan",
    "open_table",
    "plan_of_roles",
    "prepare_entry",
    "refuse_overwriting",
    "summarize",
    "table_name",
    "write_entry",
    "write_plan",
]

_MODULES = (
    "aegis_provider.errors",
    "aegis_provider.files",
    "aegis_provider.plan.model",
    "aegis_provider.plan.reading",
    "aegis_provider.plan.writing",
    "aegis_provider.table",
    "aegis_provider.control",
    "aegis_provider.entry",
    "aegis_provider.prepare",
    "aegis_provider.privacy",
    "aegis_provider.release.apply",
    "aegis_provider.search",
    "aegis_provider.summary",
)


def __getattr__(name: str) -> object:
    """Import names on first use, because `aegis --help` needs neither DuckDB nor Ibis."""
    for module in map(import_module, _MODULES if name in __all__ else ()):
        if hasattr(module, name):
            return getattr(module, name)
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return sorted([*globals(), *__all__])
