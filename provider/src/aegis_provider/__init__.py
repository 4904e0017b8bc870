"""What a provider does on its own machine: read a plan, assess privacy, summarise a table, apply a configuration.

    plan = load_plan(Path("plan.yaml"))
    assess(Path("health.csv"), plan).releases[0].privacy
    write_entry(summarize(Path("health.csv"), plan, name="health-survey"), Path("entry.json"))
    apply(Path("health.csv"), plan, "c17", Path("masked.csv"))

Everything raised here is a `ProviderError`, or a `PromiseError` of `apply`, whose text is one line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aegis_provider.control import (
        SMALL,
        ControlError,
        Controlled,
        Controls,
        Roles,
        control_entry,
        controlled_plan,
        small_counts,
        with_suppressed,
        write_controlled_plan,
    )
    from aegis_provider.entry_file import write_entry
    from aegis_provider.errors import NothingHoldsError, OutputError, PlanError, PromiseError, ProviderError, TableError
    from aegis_provider.output import refuse_overwriting
    from aegis_provider.plan.file import load_plan
    from aegis_provider.plan.model import Attribute, Configuration, Masking, Plan
    from aegis_provider.plan.output import write_plan
    from aegis_provider.privacy import assess, plan_of_roles
    from aegis_provider.release.masked_table import Applied, apply
    from aegis_provider.revealing import counted_though_suppressed, revealing_attributes
    from aegis_provider.search import Found, Requirement, find_configurations
    from aegis_provider.summary import summarize
    from aegis_provider.table import Source, open_table, table_name

__all__ = [
    "SMALL",
    "Applied",
    "Attribute",
    "Configuration",
    "ControlError",
    "Controlled",
    "Controls",
    "Found",
    "Masking",
    "NothingHoldsError",
    "OutputError",
    "Plan",
    "PlanError",
    "PromiseError",
    "ProviderError",
    "Requirement",
    "Roles",
    "Source",
    "TableError",
    "apply",
    "assess",
    "control_entry",
    "controlled_plan",
    "counted_though_suppressed",
    "find_configurations",
    "load_plan",
    "open_table",
    "plan_of_roles",
    "refuse_overwriting",
    "revealing_attributes",
    "small_counts",
    "summarize",
    "table_name",
    "with_suppressed",
    "write_controlled_plan",
    "write_entry",
    "write_plan",
]

_MODULES = (
    "aegis_provider.control",
    "aegis_provider.entry_file",
    "aegis_provider.errors",
    "aegis_provider.output",
    "aegis_provider.plan.file",
    "aegis_provider.plan.model",
    "aegis_provider.plan.output",
    "aegis_provider.privacy",
    "aegis_provider.release.masked_table",
    "aegis_provider.revealing",
    "aegis_provider.search",
    "aegis_provider.table",
    "aegis_provider.summary",
)


def __getattr__(name: str) -> object:
    """Imports what is asked for when it is: `aegis --help` needs neither DuckDB nor Ibis."""
    for module in map(import_module, _MODULES if name in __all__ else ()):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
