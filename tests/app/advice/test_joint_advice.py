"""Advice by the measure that takes attributes together: from publication to the answer."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import MinimumCell, document_of, load_plan, prepare_entry
from tests.answers import pointers
from tests.pairs import associated_entry, masked, paired_entry, records
from tests.service import ask, example_entry, publish


def indicators(column):
    """A column of 0 and 1 for each value, minus the mean of the column."""
    found = (column[:, np.newaxis] == np.unique(column)).astype(float)
    return found - found.mean(axis=0)


def design(maskings):
    """The indicators of all masked attributes, side by side."""
    return np.hstack([indicators(masked(*shown)) for shown in maskings.items() if shown[1] != "drop"])


def trace(maskings):
    """Pillai's trace of masked attributes and the label, from the records themselves."""
    x, y = design(maskings), indicators(records()["label"])
    projected = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return float(np.trace(np.linalg.pinv(y.T @ y) @ (y.T @ projected)))


def exclusive_entry(quarter=50):
    """Two bits, all four combinations equally often, and the label, which is their exclusive or."""
    records, domain = 4 * quarter, ["0", "1"]
    half = [2 * quarter, 2 * quarter]
    attribute = {
        "type": "string",
        "domain": domain,
        "histogram": half,
        "joint": [[quarter, quarter]] * 2,
        "maskings": [],
    }
    pair = {"attributes": ["a", "b"], "maskings": ["identity", "identity"], "joint": [[quarter, quarter]] * 2}
    return {
        "format": 1,
        "name": "exclusive",
        "records": records,
        "label": {"name": "y", "domain": domain, "histogram": half},
        "attributes": [{"name": name} | attribute for name in ("a", "b")],
        "pairs": [pair | {"with_label": {"chi_square": records, "combinations": 4}}],
        "configurations": [
            {"id": "first", "maskings": {"a": "identity", "b": "drop"}},
            {"id": "both", "maskings": {"a": "identity", "b": "identity"}},
        ],
    }


async def answer_to(api, worker, entry, *, measure="joint", bias_correction=False, **question):
    head = await publish(api, entry)
    asked = await ask(api, head["id"], measure=measure, bias_correction=bias_correction, **question)
    assert asked.status_code == 202, asked.text
    await worker.run()
    return (await api.get(asked.headers["Location"])).json()


@pytest.mark.long
@pytest.mark.parametrize("attributes", [None, ["age", "zip"], ["sex", "zip"]], ids=["all", "two", "two others"])
async def test_configurations_are_scored_as_their_records_would_be(api, worker, attributes):
    entry = paired_entry()
    answer = await answer_to(api, worker, entry, attributes=attributes)
    assert answer["status"] == "succeeded", answer["problem"]
    expected = {
        one["id"]: trace({name: one["maskings"][name] for name in attributes or one["maskings"]})
        for one in entry["configurations"]
    }
    assert {row["configuration"]: row["utility"] for row in answer["ranking"]} == pytest.approx(expected, rel=1e-9)
    assert expected["c0"] == max(expected.values())
    found = answer["joint"]
    whole = trace(dict.fromkeys(attributes or ("age", "zip", "sex"), "identity"))
    assert max(expected.values()) * (1 - 1e-9) <= found["lower_bound"] <= min(whole, found["reference_utility"]) + 1e-9
    best = {name: entry["configurations"][0]["maskings"][name] for name in attributes or ("age", "zip", "sex")}
    assert (answer["configuration"], found["dimensions"]) == ("c0", np.linalg.matrix_rank(design(best)))
    assert all(row["standard_error"] is row["difference_error"] is None for row in answer["ranking"])
    assert answer["indistinguishable"] is None


async def test_interactions_are_added_to_what_the_attributes_tell_alone(api, worker):
    entry = exclusive_entry()
    answer = await answer_to(api, worker, entry, measure="joint_interactions")
    assert answer["status"] == "succeeded", answer["problem"]
    assert (answer["configuration"], answer["ranking_basis"]) == ("both", "estimated")
    rows = {row["configuration"]: row["utility"] for row in answer["ranking"]}
    assert rows["both"] == pytest.approx(1.0)
    assert answer["joint"]["interactions"] == pytest.approx(1.0)
    assert rows["first"] == pytest.approx(0.0, abs=1e-9)
    plain = await answer_to(api, worker, entry | {"name": "plain"}, measure="joint")
    assert plain["joint"]["interactions"] is None


@pytest.mark.long
async def test_what_pairs_tell_is_asked_for_by_name(api, worker):
    answer = await answer_to(api, worker, paired_entry(), measure="joint_interactions")
    assert (answer["status"], answer["problem"]["code"]) == ("failed", "missing_associations")
    answer = await answer_to(api, worker, associated_entry(name="told"), measure="joint_interactions")
    assert answer["status"] == "succeeded", answer["problem"]


PLAN = """label: y
attributes: {a: {maskings: {any: {suppress: {}}}}, b: {maskings: {any: {suppress: {}}}}}
configurations: {both: {}, first: {b: any}, second: {a: any}, none: {a: any, b: any}}
"""


async def test_an_entry_with_a_minimum_is_ranked_although_its_small_pair_counts_were_rounded(api, worker, tmp_path):
    random = np.random.default_rng(5)
    a, other = random.integers(0, 6, (2, 3000))
    b = np.where(np.arange(3000) < 60, other, a)  # few records have two different values
    label = a + random.integers(0, 6, 3000) > 5
    table = pa.table({"a": a, "b": b, "y": np.where(label, "yes", "no")})
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    prepared = prepare_entry(table, load_plan(tmp_path / "plan.yaml"), [MinimumCell(5)], name="few", pairs=True)
    assert [pair.rounded_to for pair in prepared.entry.pairs] == [5]
    answer = await answer_to(api, worker, document_of(prepared.entry))
    assert answer["status"] == "succeeded", answer["problem"]
    assert answer["ranking_basis"] == "estimated"
    assert answer["ranking"][-1]["configuration"] == "none"


async def test_an_attribute_of_weight_0_is_left_out(api, worker):
    answer = await answer_to(api, worker, paired_entry(), weights={"sex": 0, "age": 3, "zip": 3})
    expected = trace({"age": "age-4", "zip": "zip-3"})
    assert {row["configuration"]: row["utility"] for row in answer["ranking"]}["c0"] == pytest.approx(expected)


async def test_a_single_attribute_needs_no_pairs(api, worker):
    answer = await answer_to(api, worker, example_entry())
    assert (answer["status"], answer["configuration"], answer["joint"]) == ("succeeded", "c01", None)
    assert answer["ranking"][0]["utility"] == pytest.approx(0.5863, abs=1e-4)


async def test_pairs_that_are_missing_are_named_by_the_answer(api, worker):
    answer = await answer_to(api, worker, paired_entry(pairs=paired_entry()["pairs"][:3]))
    assert (answer["status"], answer["problem"]["code"]) == ("failed", "missing_pairs")
    assert "'sex'" in answer["problem"]["detail"]


async def test_an_entry_without_any_pairs_is_told_at_once(api):
    head = await publish(api, paired_entry(pairs=[]))
    for question in ({}, {"attributes": ["age", "sex"]}, {"weights": {"age": 0}}):
        refused = await ask(api, head["id"], measure="joint", **question)
        assert (refused.status_code, refused.json()["code"]) == (422, "no_pairs")
        assert "aegis summarize --pairs" in refused.json()["detail"]
    for question in ({"attributes": ["age"]}, {"weights": {"age": 0, "sex": 0}}):
        assert (await ask(api, head["id"], measure="joint", **question)).status_code == 202


@pytest.mark.parametrize("measure", ["joint", "joint_interactions"])
async def test_configurations_that_share_one_attribute_at_a_time_need_no_pairs(api, worker, measure):
    shared = {"c0": {"age": "age-4"}, "c1": {"zip": "zip-3"}}
    names = ("age", "zip", "sex")
    configurations = [{"id": one, "maskings": dict.fromkeys(names, "drop") | shown} for one, shown in shared.items()]
    answer = await answer_to(api, worker, paired_entry(pairs=[], configurations=configurations), measure=measure)
    assert answer["status"] == "succeeded", answer["problem"]
    found = {row["configuration"]: row["utility"] for row in answer["ranking"]}
    assert found == pytest.approx({one: trace(shown) for one, shown in shared.items()}, rel=1e-9)


REFUSED = {
    "the own reference": ({"reference": "own"}, "/reference"),
    "unequal weights": ({"weights": {"age": 2}}, "/weights"),
    "unequal weights besides 0": ({"weights": {"age": 2, "sex": 0, "zip": 1.5}}, "/weights"),
}


@pytest.mark.parametrize(("question", "pointer"), REFUSED.values(), ids=REFUSED.keys())
async def test_what_cannot_be_asked_of_attributes_together(shared_api, request, question, pointer):
    head = await publish(shared_api, paired_entry(name=f"refused-{len(request.node.callspec.id)}"))
    refused = await ask(shared_api, head["id"], measure="joint", **question)
    assert (refused.status_code, refused.json()["code"], pointers(refused)) == (422, "invalid", [pointer])
    assert "takes attributes together" in refused.json()["errors"][0]["detail"]


@pytest.mark.parametrize("weights", [{"age": 2, "zip": 2, "sex": 2}, {"age": 0}, {"age": 1.0}])
async def test_weights_that_are_the_same_are_taken(api, weights):
    head = await publish(api, paired_entry())
    assert (await ask(api, head["id"], measure="joint", weights=weights)).status_code == 202


async def test_its_bias_is_corrected_unless_that_is_not_wanted(api, worker):
    answer = await answer_to(api, worker, paired_entry(), bias_correction=None)
    assert answer["request"]["bias_correction"] is True
    assert (answer["ranking_basis"], answer["joint"]["lower_bound"]) == ("estimated", None)
    columns = {"age": "age-4", "zip": "zip-3"}
    one = next(each for each in paired_entry()["configurations"] if columns.items() <= each["maskings"].items())
    plain, size = trace(one["maskings"]), np.linalg.matrix_rank(design(one["maskings"]))
    count, classes = len(records()["label"]), len(np.unique(records()["label"])) - 1
    adjusted = classes - (classes - plain) * (count - 1) / (count - 1 - size)
    found = {row["configuration"]: row["utility"] for row in answer["ranking"]}
    assert found[one["id"]] == pytest.approx(adjusted, rel=1e-8)


async def test_other_measures_are_not_corrected_by_default(api):
    head = await publish(api, paired_entry())
    asked = await ask(api, head["id"], measure="chi_square")
    assert asked.json()["request"]["bias_correction"] is False
