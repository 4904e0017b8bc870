"""The frontier of an answer, by the real service: complete, and for others no more than a coarse answer."""

from itertools import product
from math import ceil

import numpy as np
import pytest

from aegis_sdk import wire
from aegis_sdk.cli.advise import report
from app.advice.api.answers import question_of
from app.advice.service.frontier import left_out
from tests.app.advice.test_views import asked, guarded
from tests.pairs import paired_entry
from tests.service import publish

AXES = ["k", "suppressed", "price"]
COARSE_AXES = ["rank", *AXES]


def priced(**changes):
    """The entry with pairs and twelve configurations, each with a k and a price, but the last two."""
    entry = paired_entry(visibility="all") | {"format": 5} | changes
    choices = product(("age-4", "age-2", "drop"), ("zip-3", "drop"), ("identity", "drop"))
    entry["configurations"] = [
        {
            "id": f"c{place:02}",
            "maskings": dict(zip(("age", "zip", "sex"), maskings, strict=True)),
            "privacy": {"k": 2 + (place * 5) % 7},
            "suppressed": (place * 3) % 11,
            **({"price": {"amount": 100 - (place * 37) % 50, "currency": "EUR"}} if place < 10 else {}),
        }
        for place, maskings in enumerate(choices)
    ]
    return entry


def by_name(answer):
    return {point["configuration"]: point["values"] for point in answer["frontier"]["points"]}


def unbeaten(values, better):
    """The names of the points that no other beats, by plain comparison."""

    def gains(point):
        return [point[name] if better[name] == "higher" else -point[name] for name in better]

    def beats(one, other):
        pairs = list(zip(gains(one), gains(other), strict=True))
        return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)

    return {name for name, point in values.items() if not any(beats(other, point) for other in values.values())}


async def test_nothing_beats_a_point_and_others_learn_no_more_than_the_order_and_what_is_published(database_url):
    entry = priced()
    listed = {one["id"]: one for one in entry["configurations"]}
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, entry, **keys["owner"])
        for measure in ("joint", "mutual_information"):
            question = {"measure": measure, "frontier": AXES, "limit": None}
            full, coarse = [
                (await asked(api, worker, keys[one], head["id"], **question)).json() for one in ("owner", "stranger")
            ]
            better = {"deviation": "lower", "k": "higher", "suppressed": "lower", "price": "lower"}
            stated = [row for row in full["ranking"] if "price" in listed[row["configuration"]]]
            points = {
                row["configuration"]: {
                    "deviation": row["deviation"],
                    "k": listed[row["configuration"]]["privacy"]["k"],
                    "suppressed": listed[row["configuration"]]["suppressed"] / 300,
                    "price": listed[row["configuration"]]["price"]["amount"],
                }
                for row in stated
            }
            expected = unbeaten(points, better)
            assert by_name(full) == {name: pytest.approx(points[name]) for name in expected}
            assert [axis["unstated"] for axis in full["frontier"]["axes"]] == [0, 0, 0, 2]
            assert full["frontier"]["axes"][3]["unit"] == "EUR"
            deviations = [point["values"]["deviation"] for point in full["frontier"]["points"]]
            assert deviations == sorted(deviations)
            # From the coarse ranking and the published numbers alone, with the share of records rounded up.
            known = {
                row["configuration"]: points[row["configuration"]]
                | {
                    "rank": row["rank"],
                    "suppressed": max(1, ceil(listed[row["configuration"]]["suppressed"] / (300 * 0.02))) * 0.02,
                }
                for row in coarse["ranking"]
                if row["configuration"] in points
            }
            known = {name: {axis: point[axis] for axis in COARSE_AXES} for name, point in known.items()}
            expected = unbeaten(known, {"rank": "lower"} | {name: better[name] for name in AXES})
            assert by_name(coarse) == {name: pytest.approx(known[name]) for name in expected}
            assert [axis["name"] for axis in coarse["frontier"]["axes"]] == COARSE_AXES
            for answer in (full, coarse):
                knee = answer["frontier"]["knee"]
                assert knee["configuration"] in by_name(answer)
                read = wire.AdviceAnswer.model_validate(answer).root
                text = "\n".join(report(read, entry))
                assert "price (EUR)" in text
                assert f"the knee is {knee['configuration']}. {knee['why']}" in text
                assert "2 are left out: no number on the axis price" in text


async def test_expected_scores_are_an_axis_and_each_answer_tells_no_more_of_them(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, priced(), **keys["owner"])
        question = {"measure": "joint", "frontier": ["k", "expected"], "limit": None}
        full, coarse = [
            (await asked(api, worker, keys[one], head["id"], **question)).json() for one in ("owner", "stranger")
        ]
    for answer in (full, coarse):
        scores = {row["configuration"]: row["expected"] for row in answer["ranking"]}
        for name, values in by_name(answer).items():
            assert values["expected"] == scores[name]["auc"]
        assert answer["frontier"]["axes"][-1] | {"unstated": 0} == {
            "name": "expected",
            "better": "higher",
            "unit": "AUC",
            "unstated": 0,
        }
    assert all(round(values["expected"], 2) == values["expected"] for values in by_name(coarse).values())


@pytest.mark.parametrize(
    ("frontier", "where"),
    [
        (["k", "size"], "/frontier/1"),
        (["k", "k"], "/frontier/1"),
        (["k"], "/frontier"),
        (["k", "t", "price", "suppressed"], "/frontier"),
        (["k", "t"], "/frontier/1"),
    ],
)
async def test_what_cannot_be_an_axis_is_refused_at_its_place(shared_api, frontier, where):
    name = f"refused-{len(frontier)}-{'-'.join(frontier)}"
    head = await publish(shared_api, priced(name=name))
    answer = await shared_api.post(f"/v1/entries/{head['id']}/advice", json={"frontier": frontier})
    assert answer.status_code == 422, answer.text
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [where]


async def test_an_entry_that_states_neither_is_told_so(shared_api):
    entry = paired_entry(visibility="all", name="states-neither")
    head = await publish(shared_api, entry)
    for frontier in (["deviation", "price"], ["deviation", "suppressed"]):
        answer = await shared_api.post(f"/v1/entries/{head['id']}/advice", json={"frontier": frontier})
        assert answer.json()["errors"][0]["pointer"] == "/frontier/1", answer.text
    answer = await shared_api.post(
        f"/v1/entries/{head['id']}/advice", json={"measure": "g3", "frontier": ["deviation", "expected"]}
    )
    assert answer.json()["errors"][0]["pointer"] == "/frontier/1", answer.text


def test_a_question_without_a_frontier_has_the_digest_that_it_had():
    plain = question_of(wire.AdviceRequest(measure="joint"))
    assert plain.digest().hex() == "f2b16428938aacf1bcee62dafaabab524e8fe2e95fb63bf91a24c08d12abab20"
    assert question_of(wire.AdviceRequest(measure="joint", frontier=["k", "price"])).digest() != plain.digest()


@pytest.mark.parametrize(("records", "rows"), [(20, 1), (300, 1), (300, 4), (100_000, 1)])
def test_shares_for_others_hide_small_numbers_and_are_never_too_low(records, rows):
    numbers = np.arange(records + 1.0)
    shares = left_out(numbers, records, rows, is_coarse=True)
    assert (shares >= numbers / records - 1e-12).all()
    assert shares.max() <= 1
    steps = np.bincount(np.unique(shares, return_inverse=True)[1])
    assert (np.diff(shares) >= 0).all()
    assert (steps[:-1] >= min(5 * rows, records)).all()  # nothing tells them apart from none
    assert (left_out(numbers, records, rows, is_coarse=False) == numbers / records).all()
