"""A case from files: the release, the table that it was made of, and what the plan says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_provider.attacks.case import Case
from aegis_provider.attacks.masked_by_plan import meanings_by_plan
from aegis_provider.attacks.released import Released
from aegis_provider.errors import TableError, shortened
from aegis_provider.plan.model import Attribute, Plan
from aegis_provider.records import MOST_RECORDS, drawn, read_records, rows_of, sides_of
from aegis_provider.records.sides import SHARE
from aegis_provider.table import Source, Table, open_table

_FEWEST = 10


@dataclass(frozen=True, eq=False)
class Opened:
    """A case, and what readers of its outcome should know.

    Attributes:
        case: The case.
        released: How many records the release has.
        of_records: How many records the table has.
        share: The share of the records that are held out.
        lacking: The columns of the table or the plan that the release lacks.
    """

    case: Case
    released: int
    of_records: int
    share: float
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class Roles:
    """The columns of the table by what attackers do with them; by default those of the plan, or of the release.

    Attributes:
        label: The label; it is secret if no other column is.
        quasi_identifiers: What someone may know of a person; by default whatever is not secret.
        sensitive: What nobody should learn.
    """

    label: str | None = None
    quasi_identifiers: Sequence[str] = ()
    sensitive: Sequence[str] = ()


def open_case(
    release: Source,
    table: Source,
    *,
    plan: Plan | None = None,
    configuration: str | None = None,
    roles: Roles | None = None,
    holdout: float | None = None,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    seed: int = 0,
) -> Opened:
    """Read a release and the table that it was made of.

    Args:
        release: The release: anything that `open_table` accepts.
        table: The table.
        plan: The plan that the release was made by. Then the held-out records are those that the generator held out.
        configuration: The configuration of the plan that masked the release.
        roles: What attackers know and guess, without a plan.
        holdout: The share of the records that the release never saw; by default 0 if a value of the release stands for
            several, which only masking does, and else 0.2.
        delimiter: The delimiter of CSV files.
        memory_limit: The memory limit of DuckDB.
        seed: The seed of all random choices.

    Raises:
        PlanError: The plan has no such configuration.
        TableError: A table cannot be read, is too small, lacks a column, or has none in common with the other.
    """
    with (
        open_table(release, delimiter=delimiter, memory_limit=memory_limit) as masked,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as original,
    ):
        roles = _roles(plan, roles or Roles())
        attributes, label = _columns(original, masked, plan, roles)
        records = read_records(original, attributes, label)
        if len(records) < _FEWEST:
            raise TableError(f"{original.name}: {len(records)} records; attacks need at least {_FEWEST}")
        known = {}
        if plan is not None and configuration is not None:
            known = dict(meanings_by_plan(original, plan, plan.configuration(configuration), records))
        common = [each for each in records.names if each in masked.columns]
        if not common:
            raise TableError(f"{masked.name}: no column of {original.name} is in it; attack a release of that table")
        size = masked.records()
        if not size:
            raise TableError(f"{masked.name}: no record; there is nothing to attack")
        rows = drawn(size, MOST_RECORDS, seed)
        released = Released.of(records, rows_of(masked.batches(common), rows).rename_columns(common), known)
        share = holdout if holdout is not None else 0.0 if configuration or released.is_masked else SHARE
        sides = sides_of(records, share) if share else None
        nothing = records.take(np.zeros(0, dtype=np.intp))
        seen, held_out = (records, nothing) if sides is None else (sides.training, sides.held_out)
        if len(seen) < _FEWEST:
            raise TableError(f"{original.name}: {len(seen)} records are not held out; lower --holdout")
        case = Case(released, seen, held_out, *_attacked(released, roles, label), seed)
        lacking = tuple(each for each in records.names if each not in common)
        return Opened(case, size, original.records(), share, lacking)


def _roles(plan: Plan | None, named: Roles) -> Roles:
    if plan is None:
        return named
    return Roles(plan.label, plan.quasi_identifiers, plan.sensitive)


def _columns(original: Table, masked: Table, plan: Plan | None, roles: Roles) -> tuple[Sequence[Attribute], str]:
    """Return the attributes and the label: those of the plan, or the columns of the release that the table has."""
    if plan is not None:
        return plan.attributes, plan.label
    named = [*roles.quasi_identifiers, *roles.sensitive, *([roles.label] if roles.label else [])]
    original.positions(named)
    for name in named:
        if name not in masked.columns:
            raise TableError(f"{masked.name}: no column {shortened(name)}; name only columns that it has")
    common = [each for each in masked.columns if each in original.columns]
    if not common:
        raise TableError(f"{masked.name}: no column of {original.name} is in it; attack a release of that table")
    label = roles.label or common[-1]
    return [Attribute(each, None, ()) for each in common if each != label], label


def _attacked(released: Released, roles: Roles, label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quasi-identifiers and the secrets that the release has."""
    secrets = tuple(roles.sensitive) or ((label,) if roles.label else ())
    others = [each for each in released.names if each not in secrets and each != roles.label]
    known = [each for each in released.names if each in roles.quasi_identifiers] or others
    return tuple(known), tuple(each for each in secrets if each in released.names)
