"""Members that are named twice are refused, wherever they are and however they are written."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from aegis_sdk.wire import faults_of, read_json, refuse_repeated_members

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_no_document_without_repeated_members_is_refused(value, ascii_only, indent):
    body = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for form in (body, body.encode()):
        refuse_repeated_members(form, read_json(form))


TWICE = [
    ('{"a": 1, "a": 2}', ["a"]),
    (r'{"a": 1, "\u0061": 2}', ["a"]),
    ('{"a" : 1, "b": {"c": [], "c"\n: {}}}', ["c"]),
    ('[[{"x": "a\\":", "y": 1, "y": 2, "x": 1}]]', ["x", "y"]),
    ('{"1": {"2": 0}, "1": {"2": 0, "3": 4}}', ["1"]),
    ('{"": 1, "": 1}', [""]),
]


def test_a_member_that_is_named_twice_is_refused_by_name():
    for body, names in TWICE:
        with pytest.raises(ValidationError) as refused:
            refuse_repeated_members(body, read_json(body))
        said = [fault.detail for fault in faults_of(refused.value)]
        assert said == [f"The member {name!r} is given more than once in the same object" for name in names]


@pytest.mark.processes
def test_a_long_string_takes_hardly_any_memory():
    """A matcher that keeps a state for each character took 115 bytes for each, more than a machine has."""
    code = (
        "import json, resource; from aegis_sdk.wire import refuse_repeated_members as check\n"
        "document = {'a': 'x' * 10**7}; body = json.dumps(document).encode(); check(b'{\"a\": 1}', {'a': 1})\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; check(body, document)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    grown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(grown) < (100 * 1024 if sys.platform == "linux" else 100 * 1024 * 1024)  # kB on Linux
