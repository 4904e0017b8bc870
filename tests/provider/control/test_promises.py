"""The privacy guarantees that a configuration keeps after values are merged hold for the merged classes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.control.control import Roles, valid_promises
from aegis_provider.privacy import CRITERIA, classes_of, holds, measure_privacy
from aegis_sdk.wire.configuration import Configuration
from tests.for_each import for_each
from tests.provider.privacy.privacy_tables import records_of, tables

COLUMNS = ("a", "b", "s")
ROLES = Roles(("a", "b"), ("s",))
MERGES = st.lists(st.integers(0, 2), min_size=4, max_size=4)


def measured(rows, mappings):
    records = records_of(rows, COLUMNS)
    known = {
        name: np.unique(
            [mapping[place] for place in range(len(records.domains[COLUMNS.index(name)]))], return_inverse=True
        )[1]
        for name, mapping in mappings.items()
    }
    return measure_privacy(classes_of(records, known, ROLES.quasi_identifiers, ROLES.sensitive))


def kept(before, coarser):
    configuration = Configuration(id="c", maskings=dict.fromkeys(COLUMNS, "m"), privacy=before)
    return valid_promises([configuration], {(name, "m") for name in coarser}, ROLES).configurations[0].privacy or {}


@given(tables(3), MERGES, MERGES, st.sampled_from([("a",), ("a", "b"), ("s",), ("a", "s")]))
def test_what_is_kept_holds_of_any_table_however_values_merge(rows, first, second, coarser):
    mappings = dict(zip(coarser, (first, second), strict=False))
    before, after = measured(rows, {}), measured(rows, mappings)
    vouched = kept(before, coarser)
    assert "k" in vouched
    for name, number in vouched.items():
        assert holds(name, after[name], number)


@for_each(
    ("coarser", "lost"),
    [
        (("other",), set()),
        (("a",), {"delta_disclosure"}),
        (("s",), {"l", "entropy_l", "ordered_t", "alpha", "delta_disclosure"}),
    ],
)
def test_what_is_lost_is_named(coarser, lost):
    names = dict.fromkeys(CRITERIA, 1)
    assert names.keys() - kept(names, coarser).keys() == lost
    maskings = {"a": "m", "s": "m", "other": "m"}
    configuration = Configuration(id="c", maskings=maskings, privacy=names, suppressed=2)
    vouched = valid_promises([configuration], {(name, "m") for name in coarser}, ROLES)
    assert set(vouched.lost.get("c", ())) == lost
    assert vouched.recount == (("c",) if lost else ())
    assert vouched.configurations[0].suppressed == (None if lost else 2)


def test_merged_classes_may_disclose_more_of_a_value_that_one_of_them_lacks():
    rows = [("0", "0", "0")] * 50 + [("1", "0", "0"), ("1", "0", "1")] + [("2", "0", "0"), ("2", "0", "1")] * 25
    assert measured(rows, {"a": [0, 0, 1]})["delta_disclosure"] > measured(rows, {})["delta_disclosure"]
