"""Joint counts of the masked values and the label in a table that was masked elsewhere."""

from dataclasses import dataclass

import numpy as np

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts, tally
from aegis_provider.errors import PlanError, TableError, shortened
from aegis_provider.masking import MaskedTable
from aegis_provider.plan.model import Masking
from aegis_provider.table import Table, open_table
from aegis_provider.table.values import Domain


@dataclass(frozen=True, eq=False)
class CountsElsewhere:
    """The masked values of the attribute in that table, counted with the label.

    Attributes:
        texts: The masked values, `""` first.
        joint: (masked values, labels) the joint counts.
    """

    texts: tuple[str, ...]
    joint: Counts

    @property
    def records(self) -> int:
        """The number of records in that table."""
        return int(self.joint.sum())


def count_elsewhere(
    counted: CountedTable, attribute: CountedAttribute, masking: Masking, label: str, memory_limit: str
) -> CountsElsewhere:
    """Count the column that the masking names, in its file, against the label's column there.

    A CSV file has the delimiter of the counted table, or commas.

    Raises:
        PlanError: The masking is of another kind.
        TableError: The file is not a masking of the counted table: a column or a label is missing, or a label value has
            more records than in the table. The message names the place of the masking.
    """
    function = masking.function
    if not isinstance(function, MaskedTable):
        raise PlanError(f"{masking.place}: was not masked elsewhere, so there is no table to read")
    column = function.column or attribute.attribute.name
    delimiter = counted.table.delimiter or ","
    try:
        with open_table(function.file, delimiter=delimiter, memory_limit=memory_limit) as opened:
            return _counted(opened, column, label, counted)
    except TableError as error:
        raise TableError(f"{error} ({masking.place})") from error


def _counted(opened: Table, column: str, label: str, counted: CountedTable) -> CountsElsewhere:
    [pairs] = tally(opened, [column], label)
    for text in pairs.labels:
        if text not in counted.label.places:
            where = opened.located(label, text)
            raise TableError(f"{where}: {counted.table.name} has no {label} {shortened(text)}; is it masked too?")
    domain = Domain.of(pairs.texts)
    joint = np.zeros((len(domain), len(counted.label)), dtype=np.int64)
    rows = [domain.places[text] for text in pairs.texts]
    columns = [counted.label.places[text] for text in pairs.labels]
    np.add.at(joint, (rows, columns), pairs.counts)
    _refuse_more(opened, joint, counted, label)
    return CountsElsewhere(domain.texts, joint)


def _refuse_more(opened: Table, joint: Counts, counted: CountedTable, label: str) -> None:
    """Reject a table with more records than the counted one. Records may be left out, but not added."""
    here, there = joint.sum(axis=0), counted.attributes[0].counts.label_histogram()
    if not here.sum():
        raise TableError(f"{opened.name}: the table has no records")
    for place in np.flatnonzero(here > there)[:1]:
        text = shortened(counted.label.texts[place])
        raise TableError(
            f"{opened.name}: has {here[place]} records of {label} {text}, but {counted.table.name} has {there[place]}; "
            "is it a masking of that table?"
        )
