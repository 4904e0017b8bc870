"""A plan for a table that has none: only which of its columns are quasi-identifiers, and which sensitive."""

from collections.abc import Sequence

from aegis_provider.errors import PlanError
from aegis_provider.plan.model import Attribute, Plan


def plan_of_roles(quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Plan:
    """A plan without maskings and configurations, to measure a table as it is, such as one that is masked already.

    Raises `PlanError` for a column that is named twice, and where none is named.
    """
    columns = [*quasi_identifiers, *sensitive]
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise PlanError(f"{name!r} is named twice: a column is a quasi-identifier or sensitive, once")
    if not columns:
        raise PlanError("no column is named: say which are quasi-identifiers, and which are sensitive")
    # Every plan has a label, which columns are counted with; of which column it is makes no difference to privacy.
    label = columns[-1]
    attributes = tuple(Attribute(name, None, ()) for name in columns[:-1] or columns)
    return Plan("the columns named", label, attributes, (), {}, tuple(sensitive), tuple(quasi_identifiers))
