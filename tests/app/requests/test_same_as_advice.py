"""A request is for what the advice of who asks names first, in either view, or for the configuration that it names."""

from itertools import combinations, product

import numpy as np
import pytest

from tests.app.advice.test_views import noisy, two_attributes
from tests.app.requests.asking import read, wanted
from tests.generated import mixed_entry
from tests.pairs import counted
from tests.service import Worker, create_key, publish, running_app

MEASURES = ("mutual_information", "chi_square", "g1", "g3", "theils_u", "cramers_v", "joint")
VIEWS = {"full": ("clinic", "provider"), "coarse": ("club", "consumer")}


@pytest.fixture(name="market", scope="module")
async def _market(_one_loop, shared_database_url):
    """The service, a worker, and by view a key of who asks in it."""
    keys = {view: await create_key(shared_database_url, *one) for view, one in VIEWS.items()}
    async with running_app(shared_database_url) as api, Worker.on(shared_database_url) as worker:
        yield api, worker, keys


def drawn_entry(rng, attributes):
    """An entry with pair counts, whose configurations often lose almost the same."""
    records, names = int(rng.integers(60, 2_000)), ["age", "place", "sex"][:attributes]
    label, columns, maskings = rng.integers(0, 2, records), {}, {}
    for name in names:
        columns[name] = (rng.integers(0, 6, records) + label * (rng.random(records) < rng.random())) % 6
        columns[name][:6] = np.arange(6)
        sizes = (2, 3, 4)
        drawn = [np.concatenate([np.arange(size), rng.integers(0, size, 6 - size)]) for size in sizes]
        maskings[name] = {f"{name}-{size}": to for size, to in zip(sizes, drawn, strict=True)}

    def masked(name, one):
        return maskings[name][one][columns[name]]

    def attribute(name):
        about = [
            {"id": one, "domain": [*map(str, range(to.max() + 1))], "mapping": to.tolist()}
            | {"joint": counted(masked(name, one), label)}
            for one, to in maskings[name].items()
        ]
        return {"name": name, "type": "string", "domain": [*"uvwxyz"], "maskings": about}

    pairs = [
        {"attributes": [a, b], "maskings": [one, other], "joint": counted(masked(a, one), masked(b, other))}
        for a, b in combinations(names, 2)
        for one, other in product(maskings[a], maskings[b])
    ]
    choices = product(*([*maskings[name], "drop"] for name in names))
    return {
        "format": 1,
        "name": f"drawn-{rng.integers(2**60)}",
        "visibility": "all",
        "records": records,
        "label": {"name": "y", "domain": ["no", "yes"], "histogram": np.bincount(label, minlength=2).tolist()},
        "attributes": [*map(attribute, names)],
        "pairs": pairs,
        "configurations": [
            {"id": f"c{at:02}", "maskings": dict(zip(names, one, strict=True)), "privacy": {"k": int(k)}}
            for at, (one, k) in enumerate(zip(choices, rng.integers(1, 9, 64), strict=False))
        ],
    }


def drawn_question(rng, entry):
    """A question that may be asked in both views."""
    names = [one["name"] for one in entry["attributes"]]
    asked = {"measure": str(rng.choice(MEASURES)), "require": {"k": int(rng.integers(1, 6))}}
    if asked["measure"] != "joint" and rng.random() < 0.5:
        asked["weights"] = {name: float(rng.choice([0.25, 0.5, 1, 2, 4])) for name in names}
    elif rng.random() < 0.5:
        asked["attributes"] = sorted(rng.choice(names, 2, replace=False).tolist())
    return asked


async def asked_for(market, who, head, **asked):
    """Ask for advice and for the table, as one caller; the ids of both, which wait for the worker."""
    api, _, keys = market
    place, prefer = f"/v1/entries/{head['id']}", {"Prefer": "respond-async"}
    question = await api.post(f"{place}/advice", json=asked, headers=keys[who] | prefer)
    assert question.status_code in {200, 202}, question.text
    made = await api.post(f"{place}/requests", json=wanted(head) | {"require": None} | asked, headers=keys[who])
    assert made.status_code == 201, made.text
    return question.json()["id"], made.json()["id"]


async def read_both(market, who, advice_id, request_id):
    """The advice and the request, as one caller reads them."""
    api, _, keys = market
    advice = (await api.get(f"/v1/advice/{advice_id}", headers=keys[who])).json()
    return advice, (await read(api, keys[who], request_id)).json()


async def compare(market, seeds, attributes, questions=1):
    """Hold the requests of both views to their advice; return what each view names first, by seed and question."""
    asked = {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        entry = drawn_entry(rng, rng.choice(attributes))
        head = await publish(market[0], entry, **market[2]["full"])
        for at in range(questions):
            question = drawn_question(rng, entry)
            asked[seed, at] = {view: await asked_for(market, view, head, **question) for view in VIEWS}
    await market[1].run()
    named = {}
    for case, ids in asked.items():
        answers = {view: await read_both(market, view, *both) for view, both in ids.items()}
        for view, (advice, request) in answers.items():
            first, cost = advice["ranking"][0], request["cost"]
            assert advice["view"] == view
            assert request["configuration"] == advice["configuration"] == first["configuration"], (case, view)
            assert cost == {name: first.get(name) for name in cost}
            assert (cost["deviation"] is None) == (view == "coarse")
        (full, request), (coarse, others) = answers.values()
        place = {"rank": 1, "considered": full["considered"], "best": full["configuration"]}
        place["about"] = full["about"]
        assert (request["about"], others["about"]) == (full["about"], coarse["about"])
        assert (request["full_rank"], others["full_rank"]) == (place, None)
        named[case] = full["configuration"], coarse["configuration"]
    return named


async def test_a_request_is_for_the_first_of_advice(market):
    named = await compare(market, range(2), [2], questions=5)
    assert any(full != coarse for full, coarse in named.values())  # or the views would not be tried


async def test_so_it_is_with_generated_tables_and_where_all_have_the_full_view(market):
    both = {"measure": "mutual_information", "kinds": ["masked", "generated"]}
    cases = [(view, mixed_entry(name=view, visibility="all"), both, view) for view in VIEWS]
    cases.append(("coarse", noisy(two_attributes(name="open")), {"measure": "g3"}, "full"))
    asked = []
    for who, entry, question, view in cases:
        head = await publish(market[0], entry, **market[2]["full"])
        asked.append((who, view, await asked_for(market, who, head, **question)))
    await market[1].run()
    for who, view, ids in asked:
        advice, request = await read_both(market, who, *ids)
        assert (advice["view"], request["configuration"]) == (view, advice["configuration"])
        assert (request["full_rank"] is None) == (view == "coarse")


@pytest.mark.long
async def test_so_it_is_for_200_questions_of_all_kinds_about_entries_of_all_kinds(market):
    named = await compare(market, range(1_000, 1_100), [2, 3], questions=2)
    assert len(named) == 200
    assert sum(full != coarse for full, coarse in named.values()) >= 20
