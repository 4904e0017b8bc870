"""
What a provider does on its own machine: read a plan, assess privacy, summarise a table, apply a configuration.

    plan = load_plan(Path("plan.yaml"))
    assess(Path("health.csv"), plan).releases[0].privacy
    write_entry(summarize(Path("health.csv"), plan, name="health-survey"), Path("entry.json"))
    apply(Path("health.csv"), plan, "c17", Path("masked.csv"))

Everything raised here is a `ProviderError`, or a `PromiseError` of `apply`, whose text is one line.
"""

from aegis_sdk.provider.control import (
    SMALL,
    ControlError,
    Controlled,
    Controls,
    Roles,
    control_entry,
    controlled_plan,
    small_counts,
    with_suppressed,
    without_disclosing_suppressed,
    write_controlled_plan,
)
from aegis_sdk.provider.entry_file import write_entry
from aegis_sdk.provider.errors import NothingHoldsError, OutputError, PlanError, PromiseError, ProviderError, TableError
from aegis_sdk.provider.output import refuse_overwriting, written_whole
from aegis_sdk.provider.plan.file import load_plan
from aegis_sdk.provider.plan.model import Attribute, Configuration, Masking, Plan
from aegis_sdk.provider.plan.output import write_plan
from aegis_sdk.provider.privacy import assess, plan_of_roles
from aegis_sdk.provider.release.masked_table import Applied, apply
from aegis_sdk.provider.revealing import counted_though_suppressed, revealing_attributes
from aegis_sdk.provider.search import Found, Requirement, find_configurations
from aegis_sdk.provider.source import Source, open_table, shown
from aegis_sdk.provider.summary import summarize

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
    "shown",
    "small_counts",
    "summarize",
    "with_suppressed",
    "without_disclosing_suppressed",
    "write_controlled_plan",
    "write_entry",
    "write_plan",
    "written_whole",
]
