"""Questions about generated configurations, by the real service: masks and generated tables in one ranking."""

import pytest

from aegis_sdk.cli.advise import report
from aegis_sdk.wire import EXAMPLE_ADVICE_REQUEST, AdviceAnswer
from tests.answers import pointers
from tests.app.advice.test_views import asked, guarded
from tests.generated import generated, mixed_entry, transfer
from tests.pairs import paired_entry
from tests.service import Worker, ask, example_entry, publish, running_app

BOTH = ["masked", "generated"]


async def answer_to(api, worker, entry, **question):
    """The answer to a question about both kinds, and the head of the entry."""
    head = await publish(api, entry)
    return await again(api, worker, head, **question)


async def again(api, worker, head, **question):
    queued = await ask(api, head["id"], **({"kinds": BOTH} | question))
    assert queued.status_code in {200, 202}, queued.text
    await worker.run()
    answer = (await api.get(f"/v1/advice/{queued.json()['id']}")).json()
    assert answer["status"] == "succeeded", answer
    return answer


def order(answer):
    return [(row["configuration"], row["kind"], row["rank"]) for row in answer["ranking"]]


async def test_masks_and_generated_tables_are_ranked_by_what_they_declare(api, worker):
    answer = await answer_to(api, worker, mixed_entry())
    assert order(answer) == [("g1", "generated", 1), ("m1", "masked", 2), ("g2", "generated", 3)]
    assert (answer["considered"], answer["ranking_basis"]) == (3, "estimated")
    assert answer["request"]["kinds"] == BOTH
    best = answer["ranking"][0]
    assert best["utility"] == pytest.approx((0.3 + 0.05) / 2)
    assert (best["low"], best["high"]) == pytest.approx((0.125, 0.225))  # each attribute is within 0.05
    assert best["deviation"] == answer["deviation"] == pytest.approx((0.1 + 0.05) / 2)  # from the unmasked records
    assert best["standard_error"] is answer["indistinguishable"] is answer["joint"] is None
    told = answer["transfer"]
    assert (told["source"], told["left_out"], told["records"]) == ("declared", 2, 1_000)
    assert told["reference_utility"] == pytest.approx((0.4 + 0.1) / 2)
    assert [one["name"] for one in told["attributes"]] == ["age", "sex"]
    assert told["attributes"][0] == pytest.approx(
        {"name": "age", "utility": 0.3, "low": 0.25, "high": 0.35, "reference_utility": 0.4, "deviation": 0.1}
    )


async def test_the_best_trades_are_among_those_that_declare_their_utility(api, worker):
    answer = await answer_to(api, worker, mixed_entry(), frontier=["deviation", "membership"])
    [_, membership] = answer["frontier"]["axes"]
    stated = {one["id"]: one.get("privacy", {}).get("membership") for one in mixed_entry()["configurations"]}
    ranked = [(row["deviation"], stated[row["configuration"]], row["configuration"]) for row in answer["ranking"]]
    known = [one for one in ranked if one[1] is not None]
    assert membership["unstated"] == len(ranked) - len(known)
    unbeaten = [
        name
        for lost, risk, name in known
        if not any(a <= lost and b <= risk and (a, b) != (lost, risk) for a, b, _ in known)
    ]
    assert [point["configuration"] for point in answer["frontier"]["points"]] == unbeaten


async def test_nothing_has_to_be_reconstructed_for_it(api):
    head = await publish(api, mixed_entry())
    queued = await ask(api, head["id"], kinds=BOTH)
    assert queued.json()["progress"] is None  # it waits for no reference


QUESTIONS = {
    "by chi-square": ({"measure": "chi_square"}, ["g1", "m1", "g2"]),
    "by g3": ({"measure": "g3"}, ["g1", "m1", "g2"]),
    "by all attributes together": ({"measure": "joint"}, ["m1", "g1", "g2"]),
    "by the usual measure": ({"measure": None}, ["m1", "g1", "g2"]),
    "by the usual measure of one attribute": ({"measure": None, "attributes": ["sex"]}, ["m1", "g1", "g2"]),
    "by one attribute": ({"attributes": ["sex"]}, ["m1", "g1", "g2"]),
    "with weights": ({"weights": {"age": 1, "sex": 4}}, ["m1", "g1", "g2"]),
    "with a weight of 0": ({"weights": {"age": 0}}, ["m1", "g1", "g2"]),
    "of generated tables only": ({"kinds": ["generated"]}, ["g1", "g2"]),
    "with the kinds in another order": ({"kinds": ["generated", "masked"]}, ["g1", "m1", "g2"]),
    "of those that keep people hidden": ({"require": {"membership": 0.55}}, ["g1", "m1"]),
    "of those with less epsilon": ({"require": {"epsilon": 2}}, ["g2"]),
    "of classes": ({"require": {"k": 5}}, ["m1"]),
    "with a limit": ({"limit": 1}, ["g1"]),
}


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.values(), ids=QUESTIONS)
async def test_the_question_decides_what_counts(api, worker, question, expected):
    answer = await answer_to(api, worker, mixed_entry(), **question)
    assert [row["configuration"] for row in answer["ranking"]] == expected
    assert answer["configuration"] == expected[0]


async def test_what_is_left_out_is_counted_among_those_that_meet_the_requirements(api, worker):
    entry = mixed_entry()
    entry["configurations"][3]["transfer"] = transfer({"mutual_information": 0.1}, {})
    answer = await answer_to(api, worker, entry)
    assert (answer["considered"], answer["transfer"]["left_out"]) == (2, 3)  # m2, g2 without sex, and g3
    of_age = await again(api, worker, answer["entry"], attributes=["age"])
    assert (of_age["considered"], of_age["transfer"]["left_out"]) == (3, 2)
    vouching = await again(api, worker, answer["entry"], require={"k": 5})
    assert (vouching["considered"], vouching["transfer"]["left_out"]) == (1, 1)  # m2 promises k, too


async def test_equal_figures_tie(api, worker):
    entry = mixed_entry()
    entry["configurations"][1]["transfer"] = entry["configurations"][0]["transfer"]
    answer = await answer_to(api, worker, entry)
    assert (answer["configuration"], answer["tied"]) == ("g1", ["g1", "m1"])
    assert [row["rank"] for row in answer["ranking"]] == [1, 1, 3]


REFUSED = {
    "nobody declares it": ({"measure": "mutual_information", "require": {"k": 6}}, "no_evidence", []),
    "nobody meets it": ({"require": {"membership": 0.4}}, "no_configuration_left", []),
    "a measure without transfer": ({"measure": "theils_u"}, "invalid", ["/measure"]),
    "an unknown measure": ({"measure": "gut_feeling"}, "invalid", ["/measure", "/measure"]),
    "a corrected figure": ({"bias_correction": True}, "invalid", ["/bias_correction"]),
    "another reference": ({"reference": "own"}, "invalid", ["/reference"]),
    "some attributes together": ({"measure": "joint", "attributes": ["age"]}, "invalid", ["/attributes"]),
    "all but one together": ({"measure": "joint", "weights": {"sex": 0}}, "invalid", ["/weights"]),
    "no kind": ({"kinds": []}, "invalid", ["/kinds"]),
    "an unknown kind": ({"kinds": ["drawn"]}, "invalid", ["/kinds/0"]),
    "a kind twice": ({"kinds": ["masked", "masked"]}, "invalid", ["/kinds/1"]),
    "no list": ({"kinds": "generated"}, "invalid", ["/kinds"]),
}


async def test_what_cannot_be_answered_is_refused_at_once(api):
    head, told = await publish(api, mixed_entry()), {}
    for name, (question, *_) in REFUSED.items():
        answer = await ask(api, head["id"], **({"kinds": BOTH} | question))
        assert answer.status_code == 422, (name, answer.text)
        told[name] = answer.json()["code"], pointers(answer)
    assert told == {name: (code, places) for name, (_, code, places) in REFUSED.items()}


async def test_of_an_entry_that_declares_nothing_there_is_no_evidence(api):
    head = await publish(api)
    both = await ask(api, head["id"], kinds=BOTH)
    assert (both.status_code, both.json()["code"]) == (422, "no_evidence")
    assert "The entry declares none." in both.json()["detail"]
    one = await ask(api, head["id"], kinds=["generated"])
    assert (one.status_code, one.json()["code"]) == (422, "no_configuration_left")
    assert "has no generated configuration" in one.json()["detail"]


async def test_an_entry_may_have_generated_configurations_only(api, worker):
    entry = mixed_entry()
    entry["configurations"] = [one for one in entry["configurations"] if one["id"].startswith("g")]
    answer = await answer_to(api, worker, entry)
    assert [row["configuration"] for row in answer["ranking"]] == ["g1", "g2"]
    masked = await ask(api, answer["entry"]["id"])
    assert (masked.status_code, masked.json()["code"]) == (422, "no_configuration_left")
    assert "has no masked configuration" in masked.json()["detail"]
    verdict = (await api.get(f"/v1/entries/{answer['entry']['id']}")).json()["verdict"]
    assert verdict is not None


def without_generated(entry):
    """The same entry, of the older format."""
    masked = [one for one in entry["configurations"] if "kind" not in one]
    masked = [{name: one[name] for name in one if name != "transfer"} for one in masked]
    older = entry | {"format": 1, "configurations": masked, "name": "older"}
    del older["holdout"]
    return older


@pytest.mark.parametrize(
    "question",
    [{}, {"measure": "g3"}, {"require": {"k": 6}}, {"kinds": ["masked"]}, {"measure": "chi_square", "limit": 1}],
    ids=str,
)
async def test_a_question_about_masks_is_answered_as_if_there_were_nothing_else(api, worker, question):
    entry = mixed_entry()
    entry["configurations"][1]["privacy"] = {"k": 5}
    first, second = [
        await again(api, worker, await publish(api, one), **({"kinds": ["masked"]} | question))
        for one in (entry, without_generated(entry))
    ]
    changing = ("id", "entry", "created_at", "elapsed_ms")
    assert {name: first[name] for name in first if name not in changing} == {
        name: second[name] for name in second if name not in changing
    }
    assert "kinds" not in first["request"]
    assert "transfer" not in first


async def test_a_measure_of_attributes_together_does_not_see_generated_tables_either(api, worker):
    entry = paired_entry()
    for one in entry["configurations"][1:]:
        one["privacy"] = {"k": 5}
    histogram = entry["label"]["histogram"]
    drawn = generated("g", records=sum(histogram), histogram=histogram, transfer=None, weights=None)
    answers = [
        await again(api, worker, await publish(api, one), kinds=["masked"], measure="joint", require={"k": 5})
        for one in (entry, entry | {"name": "more", "format": 2, "configurations": [drawn, *entry["configurations"]]})
    ]
    for name in ("ranking", "joint", "attributes", "considered"):
        assert answers[0][name] == answers[1][name]


async def test_naming_the_default_asks_the_same_question(api, worker):
    head = await publish(api, example_entry(name="same"))
    ids = [(await ask(api, head["id"], **named)).json()["id"] for named in ({}, {"kinds": ["masked"]})]
    assert ids[0] == ids[1]
    assert set((await again(api, worker, head, kinds=["masked"]))["request"]) == EXAMPLE_ADVICE_REQUEST.keys()


async def test_a_policy_excludes_generated_tables_that_do_not_vouch(database_url):
    strict = running_app(database_url, require_privacy="membership=0.53")
    async with strict as api, Worker.on(database_url) as worker:
        answer = await answer_to(api, worker, mixed_entry())
    assert [row["configuration"] for row in answer["ranking"]] == ["g1"]
    assert answer["policy"] == {"membership": 0.53}


async def test_others_read_the_order_and_shares_to_two_digits(database_url):
    entry = mixed_entry(visibility="all")
    entry["configurations"].append(generated("g4", transfer=entry["configurations"][0]["transfer"]))
    entry["configurations"][-1]["transfer"] = transfer({"mutual_information": 0.3004}, {"mutual_information": 0.0502})
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, entry, **keys["owner"])
        seen = [(await asked(api, worker, keys[one], head["id"], kinds=BOTH)).json() for one in ("stranger", "owner")]
    coarse, full = seen
    assert full["configuration"] == "g4"
    assert (coarse["configuration"], coarse["tied"]) == ("g1", ["g1", "g4"])  # to two digits they are equal
    assert coarse["transfer"] == {"source": "declared", "left_out": 2}
    assert coarse["attributes"] == []
    fields = {"configuration", "about", "kind", "rank", "utility_share", "deviation_share", "expected"}
    assert {frozenset(row) for row in coarse["ranking"]} == {frozenset(fields)}
    # What age tells is rounded to 1/2 bit, what sex tells to 1/8: 0.75 and 0.5 of these.
    assert coarse["ranking"][0]["utility_share"] == round((0.75 * 0.5 + 0.5 * 0.125) / 0.625, 2)
    assert (coarse["ranking_basis"], coarse["considered"]) == ("estimated", 4)


async def test_an_input_without_references_is_not_kept_for_later_questions(api, worker):
    head = await publish(api, mixed_entry())
    await again(api, worker, head)
    answer = await again(api, worker, head, kinds=["masked"])
    assert answer["ranking"][0]["configuration"] == "m1"
    assert [row["configuration"] for row in (await again(api, worker, head, measure="chi_square"))["ranking"]] == [
        "g1",
        "m1",
        "g2",
    ]


MADE = ["90", "records", "generated", "by", "wgan-gp", "(g1)"]


async def reported(api, worker, entry, **question):
    """What `aegis advise` prints of the answer of the service."""
    answer = await answer_to(api, worker, entry, **question)
    schema = (await api.get(f"/v1/entries/{answer['entry']['id']}")).json()["schema"]
    return list(report(AdviceAnswer.model_validate(answer).root, schema))


async def test_the_report_shows_both_kinds_with_their_intervals(api, worker):
    lines = await reported(api, worker, mixed_entry())
    assert lines[0] == "g1 keeps 70 % of what the table is known to tell about health"
    assert "it is the best of 3 by mutual_information, in bits (higher utility is better)" in lines
    source = "those of a rule learned from each on 1,000 held-out real records"
    assert f"utilities are declared by the provider: {source}" in lines
    assert "2 configurations are left out, since they declare no such utility" in lines
    rows = [line.split() for line in lines]
    assert [
        "g1",
        "generated",
        "0.175000",
        "0.125",
        "to",
        "0.225",
        "-",
        "-",
        "0.52",
        *MADE,
    ] in rows
    assert ["m1", "masked", "0.150000", "0.1", "to", "0.2", "5", "-", "0.55", "sex", "in", "2", "groups"] in rows
    assert ["age", "0.100000", "0.300000", "0.25", "to", "0.35", "0.400000"] in rows
    assert "g1 is a generated table: 90 records that wgan-gp drew" in lines
    assert ["membership", "0.503000", "0.489", "to", "0.517", "0.5"] in rows


async def test_the_report_of_a_mask_says_nothing_of_generated_tables(api, worker):
    lines = await reported(api, worker, mixed_entry(), measure="joint")
    assert lines[0] == "m1 keeps 90 % of what the table is known to tell about health"
    assert not any("is a generated table" in line for line in lines)


async def test_others_have_a_report_without_utilities(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, mixed_entry(visibility="all"), **keys["owner"])
        answer = (await asked(api, worker, keys["stranger"], head["id"], kinds=BOTH)).json()
        schema = (await api.get(f"/v1/entries/{head['id']}", headers=keys["stranger"])).json()["schema"]
    lines = list(report(AdviceAnswer.model_validate(answer).root, schema))
    assert lines[0] == "g1 keeps about 70 % of what the table is known to tell about health"
    assert ["g1", "generated", "1", "70", "%", "-", "-", "0.52", *MADE] in [line.split() for line in lines]
    assert not any("interval" in line and "utility" in line for line in lines)
