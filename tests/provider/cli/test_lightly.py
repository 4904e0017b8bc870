"""What commands do not load before they need it."""

import subprocess
import sys

import pytest

_COMMAND = """
import sys
import aegis_provider.cli.summarize, aegis_provider.cli.apply, aegis_provider.cli.disclose
import pyarrow as pa

pa.array(["a"])
print(sorted({"pandas", "scipy.optimize", "scipy.sparse", "sklearn"} & sys.modules.keys()))
frame = pa.table({"a": [1.5, None]}).to_pandas()
print(pa.Table.from_pandas(frame).column("a").null_count, pa.array(frame["a"]).null_count)
"""


@pytest.mark.long
def test_commands_load_no_pandas_and_no_solvers_and_arrow_still_makes_frames():
    ended = subprocess.run([sys.executable, "-c", _COMMAND], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("[]\n1 1\n", "")
