"""A counted table as the task of another label: the same columns, counted against that one."""

from collections.abc import Mapping
from dataclasses import replace

from aegis_provider.counting.coded_table import CodedTable
from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import JointCounts, Partition
from aegis_provider.plan.model import Attribute, Plan


def label_tasks(counted: CountedTable, plan: Plan) -> Mapping[str, CountedTable]:
    """Return the table as it is counted against each other label of the plan, all by one reading.

    Attributes keep their places; the default label is at that of the label.

    Args:
        counted: The table, counted against the default label.

    Raises:
        TableError: The table has changed since it was counted.
    """
    if not plan.other_labels:
        return {}
    places = {one.attribute.name: place for place, one in enumerate(counted.attributes)}
    values = {place: [Partition.identity(len(one.domain))] for place, one in enumerate(counted.attributes)}
    coded = CodedTable.of(counted, plan.label, values)
    wanted = [(label, place) for label in plan.other_labels for place in values if place != places[label]]
    joints = coded.joints([((place, 0), (places[label], 0)) for label, place in wanted])
    counts = {each: JointCounts.of(joint) for each, joint in zip(wanted, joints, strict=True)}
    tasks = {}
    for label in plan.other_labels:
        attributes = [
            _default(counted, place, plan) if place == places[label] else replace(one, counts=counts[label, place])
            for place, one in enumerate(counted.attributes)
        ]
        domain = counted.attributes[places[label]].domain
        tasks[label] = replace(counted, label=domain, attributes=tuple(attributes))
    return tasks


def _default(counted: CountedTable, place: int, plan: Plan) -> CountedAttribute:
    """Return the default label as an attribute, counted against the label at this place."""
    known = counted.attributes[place].counts
    turned = JointCounts(known.labels, known.values, known.counts, known.shape[::-1])
    return CountedAttribute(Attribute(plan.label, None, (), order=plan.order), counted.label, turned, rows=counted.rows)
