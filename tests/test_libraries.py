"""Libraries that have to work together in one process."""

import subprocess
import sys

import pytest

BOTH = ("aegis_advisor.cell_bounds", "ortools.graph.python.min_cost_flow")


@pytest.mark.long
@pytest.mark.parametrize("modules", [BOTH, BOTH[::-1]])
def test_the_bounds_of_cells_and_minimum_cost_flow_load_together(modules):
    ran = subprocess.run([sys.executable, "-c", "import " + ", ".join(modules)], capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
