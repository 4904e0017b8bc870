"""What a coarse view shows is what its contract names, and no number of the full answer besides."""

import json

import pytest

from aegis_sdk import wire
from app.advice.model import AdviceQuestion, ReferenceKind
from app.advice.service.views import COARSE_WEIGHTS, coarse, refuse_beyond_coarse
from app.entries.model.entries import AttributeOutline
from app.platform.errors import InvalidDocumentError

#: Numbers that stand nowhere else: wherever one turns up, it came from the full answer.
SECRETS = [8.125 + number for number in range(40)]


def full_answer(attributes):
    secret = iter(SECRETS)
    row = {
        "configuration": "c1",
        "rank": 1,
        "utility_share": 0.5,
        "deviation_share": 0.5,
        **{name: next(secret) for name in ("deviation", "utility", "standard_error", "difference_error")},
    }
    numbers = ("reference_utility", "bound_value", "lower_bound", "upper_bound")
    score = {"kept": "some", "utility": next(secret), "deviation": next(secret), "standard_error": next(secret)}
    return {
        "configuration": "c1",
        "deviation": next(secret),
        "tied": ["c1"],
        "considered": 2,
        "ranking_basis": "exact",
        "indistinguishable": ["c1"],
        "indistinguishable_count": 1,
        "ranking": [row],
        "attributes": [
            {
                "name": f"a{place}",
                **{name: next(secret) for name in numbers},
                "maskings": {"m": score, "drop": score},
                "reconstruction": {"method": "closed_form", "residual": next(secret), "misfits": {"m": next(secret)}},
            }
            for place in range(attributes)
        ],
        "joint": {"reference_utility": next(secret), "lower_bound": next(secret), "dimensions": 3},
        "unit": "bit",
        "better": "higher",
        "coarse": {
            "configuration": "c2",
            "tied": ["c2"],
            "indistinguishable": ["c2", "c1"],
            "indistinguishable_count": 2,
            "ranking": [
                {"configuration": "c2", "rank": 1, "utility_share": 0.5, "deviation_share": 0.5, "new": next(secret)}
            ],
        },
        "a field of tomorrow": next(secret),
    }


def fields(value):
    """Every name of a member, at any depth, but for names of attributes and maskings."""
    if isinstance(value, list):
        return set().union(*map(fields, value))
    if not isinstance(value, dict):
        return set()
    named = value.values() if "m" in value else [*value.values()]
    return (set() if "m" in value else set(value)) | set().union(*map(fields, named))


@pytest.mark.parametrize("attributes", [1, 2])
def test_no_other_number_of_the_full_answer_is_in_it(attributes):
    shown = json.dumps(coarse(full_answer(attributes)))
    assert "8." not in shown
    assert not [secret for secret in SECRETS if str(secret) in shown]


def test_its_members_are_those_of_the_contract():
    shown = coarse(full_answer(2))
    parts = (wire.CoarseAdvice, wire.CoarseRow, wire.CoarseAttribute, wire.CoarseScore)
    assert fields(shown) <= {name for part in parts for name in part.model_fields}
    assert wire.CoarseAdvice.model_fields.keys() >= shown.keys()


def test_the_order_is_that_of_rounded_deviations():
    shown = coarse(full_answer(2))
    assert (shown["configuration"], shown["tied"], shown["indistinguishable_count"]) == ("c2", ["c2"], 2)
    assert [row["configuration"] for row in shown["ranking"]] == ["c2"]
    assert shown["ranking_basis"] == "estimated"


def test_of_a_single_attribute_only_the_order_is_shown():
    shown = coarse(full_answer(1))
    nothing = dict.fromkeys(("utility_share", "deviation_share", "expected"))
    assert shown["ranking"] == [{"configuration": "c2", "rank": 1, **nothing}]
    assert shown["attributes"] == []


def outline(*names):
    return [AttributeOutline(name, 4, 2, 2, joint=False, maskings=()) for name in names]


def faults(question, *names):
    with pytest.raises(InvalidDocumentError) as refused:
        refuse_beyond_coarse(question, outline(*names))
    assert refused.value.code == "beyond_view"
    return [fault.pointer for fault in refused.value.faults]


def test_what_would_show_one_attribute_by_itself_is_refused():
    assert faults(AdviceQuestion("g3", attributes=("a",)), "a", "b") == ["/attributes"]
    assert faults(AdviceQuestion("g3", weights={"a": 0.0}), "a", "b") == ["/weights"]
    assert faults(AdviceQuestion("g3", attributes=("a", "b"), weights={"a": 0.0}), "a", "b", "c") == ["/weights"]


def test_weights_are_few():
    assert faults(AdviceQuestion("g3", weights={"a": 0.3, "b": 1e-9}), "a", "b", "c") == ["/weights/a", "/weights/b"]
    for weight in COARSE_WEIGHTS:
        refuse_beyond_coarse(AdviceQuestion("g3", weights={"a": weight}), outline("a", "b", "c"))


def test_the_reference_own_is_refused():
    assert faults(AdviceQuestion("g3", reference=ReferenceKind.OWN), "a", "b") == ["/reference"]


def test_an_entry_with_a_single_attribute_can_be_asked_about():
    refuse_beyond_coarse(AdviceQuestion("g3", attributes=("a",)), outline("a"))
