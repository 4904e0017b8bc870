"""The sample of tables, against all tables with the same sums."""

from itertools import product

import numpy as np
import pytest

from aegis_advisor.cell_bounds import bound_cells
from aegis_advisor.cell_bounds.certain_sums import CertainSums, LinearSystem
from aegis_advisor.verdict.certain import tables_of
from tests.advisor.cases import evidence_of, mapped, random_table
from tests.for_each import for_some


def parts_of(evidence):
    bounds = bound_cells(evidence)
    known = CertainSums.of(evidence, bounds.atom_of_value, len(bounds.lower))
    system = LinearSystem.of(list(known.sums), known.exact.rows, *bounds.lower.shape)
    return [part for part in system.parts() if part.cells.size > 1]


def enumerated(part):
    """All tables of whole numbers with the sums of a part."""
    ranges = [range(int(most) + 1) for most in part.upper]
    return np.array([table for table in product(*ranges) if part.admits(np.array(table, dtype=float))], dtype=float)


@for_some(4, "seed", range(8))
def test_each_table_is_as_probable_as_any_other(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 6, 2, 16)
    views = [mapped("rows", np.arange(6) // 2, table), mapped("columns", np.arange(6) % 2, table)]
    for part in parts_of(evidence_of(table, views, histogram=False)):
        every = enumerated(part)
        if len(every) < 2:
            continue
        sample = tables_of(part)
        assert all(part.admits(each) for each in sample)
        for count in range(int(every.max()) + 1):
            shares = (sample == count).mean(axis=0), (every == count).mean(axis=0)
            assert shares[0] == pytest.approx(shares[1], abs=0.08)
