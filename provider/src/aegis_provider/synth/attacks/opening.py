"""A case from files: the release, the table that it was made of, and what the plan says."""

from collections.abc import Sequence
from dataclasses import dataclass

from aegis_provider.plan.model import Plan
from aegis_provider.records import Records
from aegis_provider.synth.attacks.case import Case
from aegis_provider.synth.released import Released, open_release
from aegis_provider.table import Source


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
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    seed: int = 0,
    is_sure: bool = False,
) -> Opened:
    """Read a release and the table that it was made of.

    Args:
        release: The release: anything that `open_table` accepts.
        table: The table.
        plan: The plan that the release was made by. Then the held-out records are those that the generator held out.
        configuration: The configuration of the plan that masked the release.
        roles: What attackers know and guess, without a plan.
        holdout: The share of the records that the release never saw; see `open_release`.
        delimiter: The delimiter of CSV files; by default, each one's own is found in its header.
        memory_limit: The memory limit of DuckDB.
        seed: The seed of all random choices.
        is_sure: Whether the release surely never saw the held-out records, however many records it has.

    Raises:
        PlanError: The plan has no such configuration.
        TableError: A table cannot be read, is too small, lacks a column, or has none in common with the other.
    """
    roles = _roles(plan, roles or Roles())
    opened = open_release(
        release,
        table,
        plan=plan,
        configuration=configuration,
        label=roles.label,
        named=[*roles.quasi_identifiers, *roles.sensitive],
        holdout=holdout,
        delimiter=delimiter,
        memory_limit=memory_limit,
        seed=seed,
    )
    case = Case(
        opened.released,
        opened.seen,
        opened.held_out,
        *_attacked(opened.released, roles, opened.label),
        seed,
        masks_all=opened.is_masked and not len(opened.held_out),
        is_as_large=opened.is_as_large and not is_sure,
        nameable=_nameable(opened.released, roles),
    )
    return Opened(case, opened.size, opened.of_records, opened.share, opened.lacking)


def case_by_plan(released: Released, seen: Records, held_out: Records, plan: Plan) -> Case:
    """Return the case of a release in memory, with the roles that its plan gives the columns."""
    return Case(released, seen, held_out, *_attacked(released, _roles(plan, Roles()), plan.label))


def _roles(plan: Plan | None, named: Roles) -> Roles:
    if plan is None:
        return named
    return Roles(plan.label, plan.quasi_identifiers, plan.sensitive)


def _nameable(released: Released, roles: Roles) -> str | None:
    """Return the last column that could be a secret, if none is named; `""` if there is no such column."""
    if roles.label or roles.sensitive:
        return None
    return next((each for each in reversed(released.names) if each not in roles.quasi_identifiers), "")


def _attacked(released: Released, roles: Roles, label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quasi-identifiers and the secrets that the release has."""
    secrets = tuple(roles.sensitive) or ((label,) if roles.label else ())
    others = [each for each in released.names if each not in secrets and each != roles.label]
    known = [each for each in released.names if each in roles.quasi_identifiers] or others
    return tuple(known), tuple(each for each in secrets if each in released.names)
