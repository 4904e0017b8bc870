"""One's own table with the counts of others, through the real service: useful ones come first, and nothing leaves."""

import asyncio
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute, csv

from aegis_provider import document_of, load_plan, prepare_entry
from aegis_provider.augment import augment, features_of, own_table, scores, shrunk_means
from aegis_provider.check.masked_records import folds_of
from aegis_provider.control import RandomRounding, apply_controls
from aegis_provider.errors import TableError
from aegis_sdk import Client
from tests.in_thread import own_database, serving
from tests.service import create_key

PLAN = """label: label
attributes:
  region: {type: string}
  amount: {type: integer}
  kind: {type: string}
configurations:
  all: {region: identity, amount: identity, kind: identity}
"""
REGIONS = np.array([f"region-{number:03}" for number in range(150)])
KEYS = {"region": "region"}


def logistic(x):
    return 1 / (1 + np.exp(-x))


def other_table(random, effects, records=40_000):
    """A table whose label, amounts and kinds depend on effects (3, regions)."""
    region = random.integers(0, effects.shape[1], records)
    label, amount, kind = (logistic(one[region]) for one in effects)
    kinds = np.where(random.random(records) < kind, "p", random.choice(["q", "s"], records))
    yes = np.where(random.random(records) < label, "yes", "no")
    return pa.table({"region": REGIONS[region], "amount": random.binomial(4, amount), "kind": kinds, "label": yes})


def my_table(random, effects, records=800):
    """A table whose label depends on one effect of each of the first three: their label, amounts and kinds."""
    region, x = random.integers(0, effects.shape[2], records), random.normal(size=records)
    effect = effects[0, 0] + effects[1, 1] + effects[2, 2]
    label = random.random(records) < logistic(0.7 * x + effect[region])
    return pa.table({"x": x, "region": REGIONS[region], "y": np.where(label, "bought", "left")})


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """My table, twenty others, and their entries, whose counts are rounded to multiples of 5."""
    random = np.random.default_rng(0)
    effects = random.normal(size=(20, 3, len(REGIONS)))
    mine = my_table(random, effects)
    tables = [other_table(random, one) for one in effects]
    path = tmp_path_factory.mktemp("plan") / "plan.yaml"
    path.write_text(PLAN)
    plan = load_plan(path)
    entries = [
        apply_controls(
            prepare_entry(table, plan, name=f"table-{number:02}", pairs=True, exact=True).entry,
            [RandomRounding(5)],
            plan.all_roles,
        ).entry
        for number, table in enumerate(tables)
    ]
    return mine, tables, entries


def exact_means(own, table):
    """(rows,) Of each row of my table, the exact shares and means of another by region."""
    columns = {
        "yes": compute.equal(table["label"], "yes"),
        "amount": table["amount"],
        "p": compute.equal(table["kind"], "p"),
        "q": compute.equal(table["kind"], "q"),
    }
    numbers = pa.table({name: column.cast("float64") for name, column in columns.items()})
    grouped = numbers.append_column("region", table["region"]).group_by("region")
    means = grouped.aggregate([(name, "mean") for name in columns]).to_pydict()
    by_region = {name: dict(zip(means["region"], means[f"{name}_mean"], strict=True)) for name in columns}
    return {name: np.array([of[text] for text in own.columns["region"]]) for name, of in by_region.items()}


def entry_of(tmp_path, name, records=4000):
    random = np.random.default_rng(1)
    (tmp_path / "plan.yaml").write_text(PLAN)
    table = other_table(random, random.normal(size=(3, 20)), records)
    return prepare_entry(table, load_plan(tmp_path / "plan.yaml"), name=name, pairs=True, exact=True).entry


@pytest.fixture(scope="module")
def guarded(postgres, migrated):
    """A service with keys, and clients of two tenants."""
    with own_database(postgres, migrated) as database_url:

        async def keys():
            return [await create_key(database_url, name, "provider") for name in ("owner", "stranger")]

        made = asyncio.run(keys())
        with serving(database_url, worker=False) as url:
            yield [Client(url, one["Authorization"].split()[1]) for one in made]


def test_the_command_joins_what_the_caller_may_read(guarded, tmp_path, aegis, monkeypatch):
    owner, stranger = guarded
    mine = entry_of(tmp_path, "mine")
    document = document_of(mine)
    document["format"] = 5
    document["attributes"][0] |= {"name": "land", "concept": {"uri": "urn:region"}}
    document["configurations"] = [
        {"id": "all", "maskings": {"land": "identity", "amount": "identity", "kind": "identity"}}
    ]
    for pair in document["pairs"]:
        pair["attributes"] = [name.replace("region", "land") for name in pair["attributes"]]
    owner.publish(document, accept_small_counts=True, accept_unique=True)
    stranger.publish(
        document_of(mine) | {"name": "others", "visibility": "all"}, accept_small_counts=True, accept_unique=True
    )
    random = np.random.default_rng(2)
    csv.write_csv(my_table(random, random.normal(size=(3, 3, 20)), 400), tmp_path / "my.csv")
    monkeypatch.setenv("AEGIS_URL", owner.url)
    monkeypatch.setenv("AEGIS_API_KEY", owner._http.headers["Authorization"].split()[1])
    asked = ("augment", tmp_path / "my.csv", "--label", "y", "--keys")
    code, out, _ = aegis(*asked, "region=urn:region", "--json", "--save", tmp_path / "joined.csv")
    result = json.loads(out)
    joined = csv.read_csv(tmp_path / "joined.csv")
    assert code == 0
    assert [one["name"] for one in result["gains"]] == ["mine"]
    assert joined.column_names == ["x", "region", "y", *result["gains"][0]["features"]]
    assert joined.num_rows == 400
    code, out, _ = aegis(*asked, "region")
    assert "no entry has counts" in out
    assert "not usable: others" in out
    assert "only providers and reviewers of its tenant may read its counts" in out
    code, _, err = aegis(*asked, "x")
    assert (code, "names records" in err) == (2, True)


def test_a_shrunk_mean_lies_between_its_own_and_that_of_all():
    random = np.random.default_rng(3)
    records, shares = random.integers(0, 60, 100), logistic(random.normal(size=100))
    yes = random.binomial(records, shares)
    counts, score = np.column_stack([records - yes, yes]).astype(float), np.array([[0.0], [1.0]])
    *means, mean = shrunk_means(counts, score)[:, 0]
    own = np.where(records > 0, yes / np.maximum(records, 1), mean)
    assert mean == pytest.approx(yes.sum() / records.sum())
    assert ((np.minimum(own, mean) - 1e-12 <= means) & (means <= np.maximum(own, mean) + 1e-12)).all()
    assert np.square(means - shares).mean() < 0.9 * np.square(own - shares).mean()
    assert np.ptp(shrunk_means(np.full((100, 2), 25.0), score)) == 0


def test_exact_counts_of_large_groups_are_joined_as_they_are(tmp_path):
    random = np.random.default_rng(4)
    table = other_table(random, 3 * random.normal(size=(3, 20)), 20_000)
    (tmp_path / "plan.yaml").write_text(PLAN)
    entry = prepare_entry(table, load_plan(tmp_path / "plan.yaml"), name="t", pairs=True, exact=True).entry
    own = own_table(my_table(random, random.normal(size=(3, 3, 20)), 400), "y", KEYS)
    features, exact = features_of(entry, own), exact_means(own, table)
    for name, of in (("label = yes", "yes"), ("amount (mean)", "amount"), ("kind = p", "p"), ("kind = q", "q")):
        assert np.abs(features[f"{name} by region"] - exact[of]).max() < 0.05, name


def test_keys_that_name_records_and_labels_without_classes_are_refused():
    rows = 300
    table = pa.table({"id": np.arange(rows), "region": ["a", "b", "c"] * 100, "y": ["1", "0"] * 150, "z": ["1"] * 300})
    with pytest.raises(TableError, match="300 rows have a value of 'id' that no other row has"):
        own_table(table, "y", {"id": "id"})
    with pytest.raises(TableError, match="needs two values or more"):
        own_table(table, "z", KEYS)
    with pytest.raises(TableError, match="cannot be a key as well"):
        own_table(table, "region", KEYS)
    assert own_table(table, "id", KEYS).numbers is not None


@pytest.mark.long
def test_the_three_useful_tables_of_twenty_come_first_and_no_value_leaves(world, client, url):
    mine, tables, entries = world
    for entry in entries:
        client.publish(entry, accept_small_counts=True, accept_unique=True)
    own, sent = own_table(mine, "y", KEYS), []
    with Client(url) as asking:
        asking._http.event_hooks["request"].append(sent.append)
        result = augment(asking, own)
    assert {one.head.name for one in result.gains[:3]} == {"table-00", "table-01", "table-02"}
    folds = folds_of(own.classes, 5, 0)
    for one in result.gains[:3]:
        exact = scores(own, folds, exact_means(own, tables[int(one.head.name[-2:])]))
        gain = max(each.value for each in exact.values()) - result.alone.value
        assert one.gain.value >= 0.8 * gain, (one.gain, gain)
    values = {text for column in own.columns.values() for text in column}
    assert len(sent) > len(entries)
    for request in sent:
        assert (request.method, request.read()) == ("GET", b"")
        assert not {text for text in values if text in str(request.url) or text in str(request.headers)}
