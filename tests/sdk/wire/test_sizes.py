"""What may be published is limited; what was published before the limits can be read."""

import copy

import pytest
from pydantic import ValidationError

from aegis_sdk.wire import EXAMPLE_ENTRY, AdviceRequest, EntryDocument, faults_of, publishable
from tests.sdk.wire.documents import changed, pointers

DEEP = {"a": [[{}]]}
for _ in range(40):
    DEEP = {"deeper": DEEP}


FUNCTION = ("attributes", 0, "maskings", 0, "function", "parameters")


LIMITS = [
    (("title",), "x" * 300, "x" * 301, "/title"),
    (("license",), "x" * 300, "x" * 301, "/license"),
    (("description",), "x" * 20_000, "x" * 20_001, "/description"),
    (("keywords",), ["x"] * 50, ["x"] * 51, "/keywords"),
    (("keywords",), ["y", "x" * 100], ["y", "x" * 101], "/keywords/1"),
    (("label", "domain", 2), "x" * 1000, "x" * 1001, "/label/domain/2"),
    (("attributes", 0, "domain", 3), "x" * 1000, "x" * 1001, "/attributes/0/domain/3"),
    (("attributes", 0, "maskings", 0, "domain", 1), "x" * 1000, "x" * 1001, "/attributes/0/maskings/0/domain/1"),
    (FUNCTION, {"a": [[{}]]}, DEEP, "/attributes/0/maskings/0/function/parameters"),
]


def test_each_limit_is_the_last_size_that_is_accepted():
    for where, fits, too_large, pointer in LIMITS:
        assert publishable(changed(where, fits)).name == EXAMPLE_ENTRY["name"]
        entry = changed(where, too_large)
        with pytest.raises(ValidationError) as refused:
            publishable(entry)
        assert [fault.pointer for fault in faults_of(refused.value)] == [pointer]
        assert EntryDocument.model_validate(entry).name == EXAMPLE_ENTRY["name"]


def many_attributes(count):
    plain = {"type": "string", "domain": ["a"], "histogram": [100], "maskings": []}
    entry = copy.deepcopy(EXAMPLE_ENTRY) | {"attributes": [plain | {"name": f"{i}"} for i in range(count)]}
    entry["configurations"] = [{"id": "c", "maskings": dict.fromkeys(map(str, range(count)), "identity")}]
    return entry


@pytest.mark.long
def test_an_entry_has_at_most_20_000_attributes():
    assert len(publishable(many_attributes(20_000)).attributes) == 20_000
    with pytest.raises(ValidationError, match="20001 items"):
        publishable(many_attributes(20_001))


@pytest.mark.long
def test_an_entry_has_at_most_a_million_configurations():
    entry = {name: value for name, value in EXAMPLE_ENTRY.items() if name != "configurations"}
    ids = [str(place) for place in range(1_000_001)]
    table = {"ids": ids, "maskings": {"age": ["drop"] * len(ids)}}
    with pytest.raises(ValidationError, match="1000001 items"):
        publishable(entry | {"configuration_table": table})
    fewer = {"ids": ids[:-1], "maskings": {"age": ["drop"] * (len(ids) - 1)}}
    assert publishable(entry | {"configuration_table": fewer}).configurations is None


def test_an_answer_has_at_most_10_000_rows():
    for limit in (None, 0, 10_000):
        assert AdviceRequest.model_validate({"measure": "g3", "limit": limit}).limit == limit
    assert pointers(AdviceRequest, {"measure": "g3", "limit": 10_001}) == ["/limit"]
    assert pointers(AdviceRequest, {"measure": "g3", "limit": -1}) == ["/limit"]
