import hashlib
import json

import numpy as np
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.wire import COUNT_MAX
from app.entries.service.publications import canonical_parts, digest
from tests.service import example_entry

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
NUMBER = st.integers(-COUNT_MAX, COUNT_MAX) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(TEXT, part, max_size=4),
    max_leaves=30,
)


@given(JSON)
def test_canonical_json_is_what_the_reference_implementation_writes(value):
    assert b"".join(canonical_parts(value)) == rfc8785.dumps(value)


@given(st.lists(st.lists(st.integers(0, COUNT_MAX), min_size=2, max_size=2), min_size=1))
def test_an_array_is_written_like_its_list(table):
    assert b"".join(canonical_parts(np.array(table, dtype=np.int64))) == rfc8785.dumps(table)


def test_visibility_is_no_part_of_the_digest_and_all_else_is():
    entry = example_entry()
    expected = hashlib.sha256(rfc8785.dumps({k: v for k, v in entry.items() if k != "visibility"})).hexdigest()
    assert digest(entry) == digest(entry | {"visibility": "all"}) == f"sha256:{expected}"
    for name in entry.keys() - {"visibility"}:
        assert digest({k: v for k, v in entry.items() if k != name}) != digest(entry)


def test_the_digest_does_not_hang_on_the_order_of_members_nor_on_arrays():
    entry = example_entry()
    turned = json.loads(json.dumps(entry), object_pairs_hook=lambda members: dict(members[::-1]))
    assert list(turned) != list(entry)
    assert digest(turned) == digest(entry)
    turned["attributes"][0]["histogram"] = np.array(entry["attributes"][0]["histogram"])
    assert digest(turned) == digest(entry)
