"""The contract's examples stay unchanged when read; requests are read strictly, answers tolerantly."""

import contextlib
import gc
import json
from datetime import datetime
from typing import Annotated
from zoneinfo import ZoneInfo

import pytest
from pydantic import AfterValidator, TypeAdapter, ValidationError

from aegis_sdk import wire
from aegis_sdk.wire import (
    EXAMPLE_ADVICE,
    EXAMPLE_ADVICE_REQUEST,
    EXAMPLE_ENTRY,
    EXAMPLE_HEAD,
    EXAMPLE_MEASURE,
    EXAMPLE_PROBLEM,
    Advice,
    AdviceRequest,
    EntryDocument,
    EntryHead,
    Head,
    Masking,
    Measure,
    NotJsonError,
    Problem,
    VisibilityPatch,
    pointer_of,
    read_entry,
)
from aegis_sdk.wire.documents import LONG_LIST
from tests.for_each import for_each
from tests.sdk.wire.documents import pointers

EXAMPLES = [
    (EntryDocument, EXAMPLE_ENTRY),
    (AdviceRequest, EXAMPLE_ADVICE_REQUEST),
    (Head, EXAMPLE_HEAD),
    (Advice, EXAMPLE_ADVICE),
    (Measure, EXAMPLE_MEASURE),
    (Problem, EXAMPLE_PROBLEM),
]


def test_an_example_goes_through_unchanged():
    for model, example in EXAMPLES:
        document = model.model_validate_json(json.dumps(example))
        assert json.loads(document.model_dump_json(exclude_unset=True)) == example


def test_an_answer_may_have_new_fields():
    for model, example in EXAMPLES[2:]:
        newer = model.model_validate(example | {"new": 1})
        assert newer.model_extra == {"new": 1}
        assert newer.model_dump(exclude={"new"}) == model.model_validate(example).model_dump()


def test_an_answer_says_times_in_utc_wherever_they_were_noted():
    noted = datetime(2026, 7, 1, 14, 0, 0, 120_000, ZoneInfo("Europe/Berlin"))
    head = Head.model_validate(EXAMPLE_HEAD | {"created_at": noted})
    assert json.loads(head.model_dump_json())["created_at"] == "2026-07-01T12:00:00.120000Z"


def test_an_answer_may_have_new_words():
    news = {"status": "paused", "ranking_basis": "guessed", "unit": "nat"}
    advice = Advice.model_validate(EXAMPLE_ADVICE | news)
    assert (advice.status, advice.ranking_basis, advice.unit) == ("paused", "guessed", "nat")
    assert Head.model_validate(EXAMPLE_HEAD | {"visibility": "group"}).visibility == "group"


def test_an_unfinished_advice_has_no_results():
    known = {name: EXAMPLE_ADVICE[name] for name in ("id", "entry", "request", "created_at")}
    advice = Advice.model_validate(known | {"status": "queued", "ranking": None})
    assert advice.configuration is advice.ranking is advice.problem is None


def test_an_entry_head_calls_its_schema_schema():
    head = EntryHead.model_validate(EXAMPLE_HEAD | {"schema": {"name": "x"}})
    assert head.entry_schema == {"name": "x"}
    assert json.loads(head.model_dump_json())["schema"] == {"name": "x"}


def test_a_masking_is_deterministic_by_its_mapping_or_by_declaration():
    deterministic = [
        ({"mapping": [0]}, True),
        ({"mapping": [0], "deterministic": True}, True),
        ({"joint": [[1]]}, False),
        ({"joint": [[1]], "deterministic": True}, True),
    ]
    told = [(known, Masking(id="m", domain=["x"], **known).is_deterministic) for known, _ in deterministic]
    assert told == deterministic


def test_a_masking_made_in_python_is_checked_too():
    with pytest.raises(ValidationError, match="This masking has neither a mapping nor joint counts"):
        Masking(id="m", domain=["x"])


NOT_JSON = [
    b"",
    b"{",
    b"[1,]",
    b'{"a": NaN}',
    b'{"a": Infinity}',
    b'"\xff"',
    b'"\\ud800"',
    b"[" * 5000,
    b"\xef\xbb\xbf\xef\xbb\xbf{}",
]


@for_each("body", NOT_JSON)
def test_what_is_not_json_is_told_apart(body):
    with pytest.raises(NotJsonError):
        read_entry(body)


@for_each("encoded", [bytes, bytes.decode])
def test_a_byte_order_mark_is_no_part_of_a_document(encoded):
    body = json.dumps(EXAMPLE_ENTRY).encode()
    marked = encoded(b"\xef\xbb\xbf" + body)
    assert read_entry(marked) == read_entry(body)


def test_reading_gives_the_document_as_sent_besides():
    body = json.dumps(EXAMPLE_ENTRY).encode()
    document, _ = read_entry(body)
    assert document == EXAMPLE_ENTRY


@pytest.fixture
def collector():
    """Restores the state of the garbage collector."""
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


@pytest.mark.usefixtures("collector")
def test_reading_leaves_the_collector_as_it_was():
    for switch in (gc.enable, gc.disable):
        for body in (json.dumps(EXAMPLE_ENTRY), "{", "{}"):
            switch()
            before = gc.isenabled()
            with contextlib.suppress(ValueError):
                read_entry(body)
            assert gc.isenabled() is before


def test_a_long_list_is_left_once_a_hundred_faults_are_known():
    seen = []

    def refused(value):
        seen.append(value)
        raise ValueError

    adapter = TypeAdapter(Annotated[list[Annotated[int, AfterValidator(refused)]], LONG_LIST])
    with pytest.raises(ValidationError):
        adapter.validate_python(list(range(100_000)))
    assert len(seen) < 10_000


def test_a_visibility_patch_has_one_field():
    assert pointers(VisibilityPatch, {}) == ["/visibility"]
    assert pointers(VisibilityPatch, {"visibility": "private", "title": ""}) == ["/title"]


def test_pointers_are_escaped():
    assert pointer_of(()) == ""
    assert pointer_of(("a/b", 0, "~1", "")) == "/a~1b/0/~01/"


def test_the_schema_of_a_table_says_what_a_cell_may_be():
    parts = EntryDocument.model_json_schema()["$defs"]
    for part, field, least in (("Attribute", "joint", 0), ("Masking", "joint", 1 - 2**53)):
        cell = {"type": "integer", "minimum": least, "maximum": 2**53 - 1}
        assert {"type": "array", "items": {"type": "array", "items": cell}} in parts[part]["properties"][field]["anyOf"]


REQUESTS = [EntryDocument, AdviceRequest, VisibilityPatch]
ANSWERS = [wire.HeadPage, EntryHead, Advice, wire.MeasureList, Problem]


def test_every_model_and_field_is_described():
    for model in REQUESTS + ANSWERS:
        schema = model.model_json_schema(mode="validation" if model in REQUESTS else "serialization")
        for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
            assert part["description"], name
            undescribed = [field for field, described in part["properties"].items() if not described.get("description")]
            assert undescribed == [], name


def test_every_example_of_a_schema_is_valid():
    examples = [(model, each) for model in REQUESTS + ANSWERS for each in model.model_json_schema().get("examples", [])]
    assert len(examples) >= len(REQUESTS)
    for model, example in examples:
        model.model_validate_json(json.dumps(example))
