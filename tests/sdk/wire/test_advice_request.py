"""Questions are read strictly, and equal questions have equal JSON."""

import json

from aegis_sdk.wire import EXAMPLE_ADVICE_REQUEST, AdviceRequest
from tests.sdk.wire.documents import pointers

MEASURE = {"measure": "mutual_information"}


def text_of(**fields):
    return AdviceRequest.model_validate_json(json.dumps(MEASURE | fields)).model_dump_json()


def test_defaults_are_filled_in():
    assert json.loads(text_of()) == EXAMPLE_ADVICE_REQUEST | {"require": None}


EQUAL = [
    ({"weights": {"a": 1, "b": 2}}, {"weights": {"b": 2.0, "a": 1.0}}),
    ({"weights": {"a": 0, "b": 1}}, {"weights": {"a": -0.0, "b": 1}}),
    ({"weights": {}}, {"weights": None}),
    ({"require": {"k": 5, "t": 0.5}}, {"require": {"t": 0.5, "k": 5.0}}),
    ({"require": {}}, {}),
    ({"attributes": ["b", "a"]}, {"attributes": ["a", "b"]}),
    ({"limit": 20}, {}),
    ({"bias_correction": None}, {}),
    ({"reference": "pooled", "rounding_seed": None}, {}),
]

DIFFERENT = [
    ({"limit": None}, {"limit": 0}),
    ({"bias_correction": True}, {}),
    ({"weights": {"a": 1}}, {"weights": {"a": 2}}),
    ({"attributes": ["a"]}, {}),
    ({"reference": "own", "rounding_seed": 0}, {"reference": "own"}),
]


def test_equal_questions_are_equal_texts_and_different_ones_are_not():
    equal = [text_of(**one) == text_of(**other) for one, other in EQUAL + DIFFERENT]
    assert equal == [True] * len(EQUAL) + [False] * len(DIFFERENT)


FAULTS = [
    ({"measure": ""}, ["/measure"]),
    ({"attributes": []}, ["/attributes"]),
    ({"attributes": "a"}, ["/attributes"]),
    ({"attributes": ["a", "a", 3]}, ["/attributes/2"]),
    ({"attributes": ["a", "a"]}, ["/attributes/1"]),
    (
        {"weights": {"a": -1, "b": "1", "c": True, "d/e": None}},
        ["/weights/a", "/weights/b", "/weights/c", "/weights/d~1e"],
    ),
    ({"weights": {"a": 10**400}}, ["/weights/a"]),
    ({"weights": [1]}, ["/weights"]),
    ({"attributes": ["a"], "weights": {"a": 1, "b": 1}}, ["/weights/b"]),
    ({"attributes": ["a", "b"], "weights": {"a": 0, "b": 0.0}}, ["/weights"]),
    ({"require": {"k": "5"}}, ["/require/k"]),
    ({"require": {"delta": 1, "m": 1}}, ["/require/delta", "/require/m"]),
    ({"reference": "both"}, ["/reference"]),
    ({"reference": None}, ["/reference"]),
    ({"rounding_seed": 1}, ["/rounding_seed"]),
    ({"rounding_seed": 1, "reference": "pooled"}, ["/rounding_seed"]),
    ({"rounding_seed": -1, "reference": "own"}, ["/rounding_seed"]),
    ({"rounding_seed": 2**53, "reference": "own"}, ["/rounding_seed"]),
    ({"rounding_seed": 1.0, "reference": "own"}, ["/rounding_seed"]),
    ({"limit": -1}, ["/limit"]),
    ({"limit": True}, ["/limit"]),
    ({"limit": 1.0}, ["/limit"]),
    ({"limits": 1}, ["/limits"]),
]


def test_faults_are_pointed_at():
    assert [(fields, pointers(AdviceRequest, MEASURE | fields)) for fields, _ in FAULTS] == FAULTS


def test_some_attribute_may_keep_its_default_weight():
    assert json.loads(text_of(attributes=["a", "b"], weights={"a": 0}))["weights"] == {"a": 0}
