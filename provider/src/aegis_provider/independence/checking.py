"""What was written, read again: nothing is published on the word of a solver."""

from pathlib import Path

import numpy as np

from aegis_provider.errors import OutputError
from aegis_provider.independence.columns import read_columns
from aegis_provider.independence.masked_records import MaskedRecords
from aegis_provider.independence.stars import is_independent
from aegis_provider.table import Table


def refuse_dependent(written: Table, records: MaskedRecords, output: Path) -> None:
    """Raises `OutputError` unless the written table has these records, and its hidden attributes are independent.

    `P[a, b] = P[a] P[b]` is looked at for every masked vector and every cluster, in whole numbers.
    """
    *masked, cluster = read_columns(written, [*(each.name for each in records.masked), records.cluster])
    if written.columns != records.names or len(cluster.codes) != np.count_nonzero(records.kept):
        raise OutputError(f"{output}: does not hold what was written to it; was it changed?")
    if not is_independent(np.stack([each.codes for each in masked], axis=1), cluster.codes):
        raise OutputError(f"{output}: what was found is not independent, so nothing is written; report this")
