"""The verdict beside a masked table looks at the counts of every label that the table shows."""

import csv

import numpy as np
import pytest

from aegis_provider.control import LastingRandomness
from aegis_provider.errors import EntryError
from tests.provider.receiving.delivering import Provider, verdict_beside
from tests.provider.several_labels import plan, table


def test_the_counts_of_each_label_are_compared_with_the_table(tmp_path, write):
    chosen, key = plan(write, ["y", "s", "r"]), LastingRandomness(bytes(32))
    provider = Provider(tmp_path, table(write, 1, records=900), chosen, pairs=True, chance=key)
    path, _ = provider.delivered("c0")
    assert verdict_beside(provider.prepared.entry, "c0", path).passed
    header, *rows = csv.reader(path.read_text().splitlines())
    label, other = header.index("y"), header.index("s")
    values = np.array([row[other] for row in rows])
    for each in {row[label] for row in rows}:  # whose counts with the default label, and all its others, stay
        places = [place for place, row in enumerate(rows) if row[label] == each]
        values[places] = np.sort(values[places])[np.argsort(np.argsort([rows[place][0] for place in places]))]
    for row, value in zip(rows, values.tolist(), strict=True):
        row[other] = value
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    with pytest.raises(EntryError, match="does not count the records of the masked table of c0"):
        verdict_beside(provider.prepared.entry, "c0", path)
