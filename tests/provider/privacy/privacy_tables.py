"""Small tables for the tests of privacy, and equivalence classes found by plain Python."""

from collections import Counter, defaultdict

import numpy as np
from hypothesis import strategies as st

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.table.values import Domain


def records_of(rows, columns):
    """Return the distinct records of rows of texts."""
    counted = Counter(tuple(row) for row in rows)
    domains = tuple(Domain.of(row[n] for row in rows) for n in range(len(columns)))
    codes = [[domain.places[text] for domain, text in zip(domains, row, strict=True)] for row in counted]
    shape = (len(counted), len(columns))
    return DistinctRecords(
        tuple(columns), domains, np.array(codes, dtype=np.intp).reshape(shape), np.array(list(counted.values()))
    )


def groups_of(rows, quasi_identifiers, sensitive):
    """Return the sensitive values of each equivalence class; both arguments are places of columns."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[place] for place in quasi_identifiers)].append(row[sensitive])
    return list(groups.values())


def tables(columns, largest=60, values=4):
    """Return rows with that many columns of small integers, as texts."""
    row = st.tuples(*[st.integers(0, values - 1).map(str)] * columns)
    return st.lists(row, min_size=1, max_size=largest)
