"""The rules of an agent in a YAML file: which requests to approve, and how to fulfil those for each entry."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from aegis_provider.handover.storage import Storage, storage_at
from aegis_provider.plan.model import Plan
from aegis_provider.plan.reading import load_plan
from aegis_provider.privacy import holds
from aegis_provider.yaml_file import Element, parsed
from aegis_sdk.cli.terminal import InputError
from aegis_sdk.wire import PRIVACY_CRITERIA, DataRequestHead

ANY: Final = "any"


@dataclass(frozen=True)
class Rule:
    """Which requests may be approved.

    Attributes:
        tenants: The permitted tenants; `None` for all.
        purposes: Texts of which the purpose must contain one, ignoring case; empty permits any purpose.
        require: The privacy that the entry must promise for the configuration.
        per_month: Maximum number of grants per tenant in 30 days; `None` for no limit.
    """

    tenants: frozenset[str] | None
    purposes: tuple[str, ...]
    require: Mapping[str, float]
    per_month: int | None

    def fits(self, request: DataRequestHead, vouched: Mapping[str, float]) -> bool:
        """Return whether the rule permits a request, apart from the limit per tenant.

        Args:
            request: The request.
            vouched: The entry's promises for the advised configuration.
        """
        purpose = request.purpose.casefold()
        return (
            (self.tenants is None or request.consumer in self.tenants)
            and (not self.purposes or any(each.casefold() in purpose for each in self.purposes))
            and all(name in vouched and holds(name, vouched[name], limit) for name, limit in self.require.items())
        )


@dataclass(frozen=True)
class PlannedTable:
    """The table and options for requests for an entry.

    Attributes:
        table: The table: a path, a glob or a URL.
        plan: The plan that the entry was made from.
        delimiter: The stated delimiter of CSV files; by default, the one in the header.
        ending: The ending of masked files.
        escape_formulas: Whether CSV cells that a spreadsheet would run get an apostrophe before them.
        accept_unique: Whether to deliver even if more than 1 % of the records are alone on all shared columns.
        accept_identifiers: Whether masked tables may contain identifying values.
    """

    table: str
    plan: Plan
    delimiter: str | None
    ending: Literal[".csv", ".parquet"]
    escape_formulas: bool = False
    accept_unique: bool = False
    accept_identifiers: bool = False


@dataclass(frozen=True)
class Policy:
    """The rules of an agent.

    Attributes:
        storage: The storage for masked tables.
        tables: The tables for requests, by the entry's name.
        rules: The rules of approval; the first that fits applies.
    """

    storage: Storage
    tables: Mapping[str, PlannedTable]
    rules: tuple[Rule, ...]

    def rule_for(self, request: DataRequestHead, vouched: Mapping[str, float]) -> Rule | None:
        """Return the first rule that permits a request; `None` if a person has to decide."""
        return next((rule for rule in self.rules if rule.fits(request, vouched)), None)


def load_policy(path: Path) -> Policy:
    """Read a policy file, and the plans that it names. Paths are relative to its folder.

    Raises:
        PlanError: The file or a plan is invalid; the text names the place.
        InputError: The storage cannot be used.
    """
    root = Element(path.name, "", parsed(path), path.parent)
    fields = root.fields("to", "entries", optional=("link", "approve"))
    tables = {name: _planned_table(each) for name, each in fields["entries"].items()}
    if not tables:
        fields["entries"].fail("name at least one entry, with its table and its plan")
    rules = tuple(_rule(element) for element in fields["approve"].elements()) if "approve" in fields else ()
    return Policy(_storage(fields), tables, rules)


def _storage(fields: Mapping[str, Element]) -> Storage:
    place = fields["to"].text()
    where = place if "://" in place else str(fields["to"].file())
    try:
        return storage_at(where, fields["link"].text() if "link" in fields else None)
    except InputError as error:
        raise InputError(str(error).replace("with --link", "by `link`").replace("--link is", "`link` is")) from None


def _planned_table(element: Element) -> PlannedTable:
    fields = element.fields(
        "table", "plan", optional=("delimiter", "format", "escape_formulas", "accept_unique", "accept_identifiers")
    )
    table = fields["table"].text()
    ending = fields["format"].one_of("csv", "parquet") if "format" in fields else "csv"
    return PlannedTable(
        table if "://" in table else str(fields["table"].file()),
        load_plan(fields["plan"].file()),
        fields["delimiter"].character() if "delimiter" in fields else None,
        ".parquet" if ending == "parquet" else ".csv",
        "escape_formulas" in fields and fields["escape_formulas"].one_of("true", "false") == "true",
        "accept_unique" in fields and fields["accept_unique"].one_of("true", "false") == "true",
        "accept_identifiers" in fields and fields["accept_identifiers"].one_of("true", "false") == "true",
    )


def _rule(element: Element) -> Rule:
    """Read a rule. It must state the tenants and the required privacy."""
    fields = element.fields("tenants", "require", optional=("purpose", "per_month"))
    tenants = (
        None if fields["tenants"].value == ANY else frozenset(each.name() for each in fields["tenants"].elements())
    )
    purposes = tuple(each.name() for each in fields["purpose"].elements()) if "purpose" in fields else ()
    if not isinstance(fields["require"].value, dict):
        fields["require"].fail("state the required privacy, {k: 10}, or {} for none")
    required = fields["require"].fields(optional=tuple(PRIVACY_CRITERIA))
    return Rule(
        tenants,
        purposes,
        {name: float(each.positive()) for name, each in required.items()},
        fields["per_month"].integer(at_least=0) if "per_month" in fields else None,
    )
