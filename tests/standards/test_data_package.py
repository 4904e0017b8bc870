"""Data Packages of masked tables, as frictionless judges them."""

import csv
import json
import random
from collections import Counter
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

import aegis_sdk
from aegis_provider import load_plan, prepare_entry
from aegis_provider.handover import Task, fulfil, storage_at
from aegis_provider.workflow import release
from aegis_sdk import Client
from tests.in_thread import own_database, serving
from tests.service import AUDIT_KEY, create_key
from tests.standards.judging import judged
from tests.stores import web_store

PLAN = """label: risk
attributes:
  age: {type: integer, maskings: {tens: {bucketize: {width: 10}}}}
  visits: {type: integer}
  weight: {type: number, maskings: {kilos: {round: {to: 5}}}}
  day: {type: date, hierarchy: {dates: [quarter]}}
  seen: {type: date}
  place: {hierarchy: {tree: {coast: [north, south], inland: [east]}}}
  flag: {type: boolean}
license: CC-BY-4.0
configurations:
  mixed: {age: tens, visits: identity, weight: kilos, day: day-1, seen: identity, place: place-1, flag: identity}
"""


def table_text(records=1000, mark=";"):
    """A table with missing values, an odd text, and every type."""
    draw = random.Random(3)
    lines = [mark.join(("age", "visits", "risk", "weight", "day", "seen", "place", "flag"))]
    for _ in range(records):
        age = draw.choice(["", *map(str, range(20, 70))])
        cells = (
            age,
            int(draw.expovariate(0.4)),
            "high" if draw.random() < int(age or 40) / 80 else "low",
            draw.choice(["", "60.5", "71.25", "82"]),
            f"2024-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
            draw.choice(["2024-05-01", "2024-06-01"]),
            draw.choice(["north", "south", "east"]),
            draw.choice(["no", "yes"]),
        )
        lines.append(mark.join(map(str, cells)))
    return "\n".join(lines) + "\n"


def kinds(package):
    """The kinds of errors that frictionless finds in a package."""
    return sorted({kind for kind, _ in judged("data_package_errors.py", package)})


def edited(package, before, after):
    """Change the table of a package, and state the new size and digest."""
    described = json.loads(package.read_text())
    [resource] = described["resources"]
    table = package.parent / resource["path"]
    assert before in table.read_text()
    table.write_text(table.read_text().replace(before, after))
    resource |= {"bytes": table.stat().st_size, "hash": f"sha256:{sha256(table.read_bytes()).hexdigest()}"}
    package.write_text(json.dumps(described))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The folder of a release."""
    folder = tmp_path_factory.mktemp("release")
    (folder / "stays.csv").write_text(table_text())
    release(folder / "stays.csv", "risk", output=folder / "r", effort="small", accept_unique=True)
    return folder / "r"


def copied(folder, target):
    """A folder's package and its table, elsewhere."""
    for name in ("datapackage.json", "masked.csv"):
        (target / name).write_bytes((folder / name).read_bytes())
    return target / "datapackage.json"


def test_a_release_is_valid(released):
    package = json.loads((released / "datapackage.json").read_text())
    card, entry = (json.loads((released / name).read_text()) for name in ("card.json", "entry.json"))
    assert kinds(released / "datapackage.json") == []
    assert package["aegis:configuration"] == card["configuration"]
    assert (package["aegis:privacy"], package["aegis:unit"]) == (card["reached"], "record")
    digest = f"sha256:{sha256((released / 'entry.json').read_bytes()).hexdigest()}"
    assert package["aegis:entry"] == {"name": entry["name"], "digest": digest}
    assert package["resources"][0]["dialect"] == {"delimiter": ";"}
    columns = (released / "masked.csv").read_text().splitlines()[0].split(";")
    assert [each["name"] for each in package["resources"][0]["schema"]["fields"]] == columns
    assert len(aegis_sdk.read(released)) == card["records"]


def test_a_wrong_digest_a_foreign_value_and_a_missing_one_are_refused(released, tmp_path):
    package = copied(released, tmp_path)
    header, first, second, *rows = (tmp_path / "masked.csv").read_text().splitlines(keepends=True)
    (tmp_path / "masked.csv").write_text("".join([header, second, first, *rows]))
    assert kinds(package) == ["hash-count"]
    edited(copied(released, tmp_path), "low", "lower")
    assert kinds(package) == ["constraint-error"]
    edited(copied(released, tmp_path), "low", "")
    assert kinds(package) == ["constraint-error"]  # the label is required
    edited(copied(released, tmp_path), "risk", "danger")
    assert kinds(package) != []


def test_a_preview_is_valid_and_a_foreign_value_in_it_is_not(aegis, head, tmp_path):
    code, _, said = aegis("entries", "preview", head.id, "--configuration", "tens", "--to", tmp_path)
    assert (code, said) == (0, "")
    package = tmp_path / "datapackage.json"
    assert kinds(package) == []
    edited(package, "20-39", "21-39")
    assert kinds(package) == ["constraint-error"]


@pytest.fixture(scope="module")
def keyed(postgres, migrated):
    """A service with callers: its address, and the key of each by `tenant role`."""
    with own_database(postgres, migrated) as database_url:
        wanted = (("acme", "provider"), ("lab", "consumer"))
        headers = {tenant: anyio.run(create_key, database_url, tenant, role) for tenant, role in wanted}
        keys = {name: header["Authorization"].removeprefix("Bearer ") for name, header in headers.items()}
        with serving(database_url, audit_key=AUDIT_KEY, links_allow_private="true") as address:
            yield address, keys


@pytest.fixture
def asked(keyed, aegis, tmp_path, monkeypatch):
    """An approved request of a consumer who may not read counts: the provider's client, the request, the plan."""
    address, keys = keyed
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AEGIS_URL", address)
    monkeypatch.setenv("AEGIS_LINKS_ALLOW_PRIVATE", "true")
    Path("t.csv").write_text(table_text())
    Path("plan.yaml").write_text(PLAN)
    named = ("--plan", "plan.yaml", "--name", f"packaged-{uuid4().hex}", "--output", "entry.json")
    assert aegis("summarize", "t.csv", *named)[0] == 0
    provider, consumer = (Client(address, api_key=keys[name]) for name in ("acme", "lab"))
    entry = json.loads(Path("entry.json").read_text()) | {"visibility": "all"}
    head = provider.publish(entry, accept_unique=True)
    terms = {"purpose": "a study", "contact": "me", "terms": consumer.entry(head.id).terms, "configuration": "mixed"}
    made = consumer.requests.create(head.id, "mutual_information", **terms, wait=60)
    provider.requests.approve(made.id)
    monkeypatch.setenv("AEGIS_API_KEY", keys["lab"])
    with provider, consumer:
        yield provider, consumer, made.id


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_delivery_has_a_valid_package_in_the_storage_and_beside_the_received_table(asked, aegis, tmp_path, ending):
    provider, consumer, request_id = asked
    plan = load_plan(Path("plan.yaml"))
    task = Task(provider, request_id, Path("t.csv"), plan, delimiter=";", ending=ending, accept_unique=True)
    with web_store() as store:
        fulfil(task, storage_at(store.url), tmp_path / "work")
        code, out, said = aegis("receive", request_id, "--output", f"mine{ending}")
    assert (code, said) == (0, "")
    assert out.splitlines()[-1] == f"its columns are described in mine{ending}.datapackage.json"
    for path, content in store.files.items():
        Path(path.lstrip("/")).write_bytes(content)
    [stored] = tmp_path.glob(f"{request_id}*.datapackage.json")
    mine = tmp_path / f"mine{ending}.datapackage.json"
    assert (kinds(stored), kinds(mine)) == ([], [])
    provided, received = (json.loads(path.read_text()) for path in (stored, mine))
    seen = consumer.requests.get(request_id)
    assert received["aegis:entry"].pop("digest") == seen.entry.digest
    assert seen.entry.digest.startswith("hmac-sha256:")
    for package in (provided, received):
        package["resources"][0] |= {"name": "", "path": ""}
    assert provided == received  # so the consumer's has nothing that it does not see, nor the provider's a digest
    assert received["licenses"] == [{"name": "CC-BY-4.0"}]
    assert received["aegis:privacy"] == seen.delivery.privacy
    table = aegis_sdk.read(f"mine{ending}", midpoints=True)
    assert (len(table), str(table["visits"].dtype)[:3].lower()) == (1000, "int")
    assert table["age"].dropna().isin([24.5, 34.5, 44.5, 54.5, 64.5]).all()
    assert (table["age"].isna().sum() > 0, {*table["weight"].dropna()}) == (True, {60, 70, 80})


def odd_rows():
    """People with several records, a number as the label, formulas, quotes, line breaks and rare values."""
    draw = random.Random(5)
    yield ["who", "@note", "age", "=day", "place, or so", "charges", "back"]
    for person in range(400):
        for _ in range(draw.randint(1, 3)):
            age, place = draw.randint(18, 90), draw.choice(["A", "B", "*", "C" if person > 5 else f"Z{person}"])
            note, day = (
                draw.choice(["=1+1", 'say "a"', "two\nlines", "-5"]),
                draw.choice(["", "2024-05-01", "2024-06-01"]),
            )
            charges = 100 * age + draw.randint(0, 999)
            yield [f"P{7 * person + 1000003}", note, age, day, place, charges, draw.choice("yn")]


@pytest.fixture
def odd_table(tmp_path):
    with (tmp_path / "odd.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(odd_rows())
    return tmp_path / "odd.csv"


def test_a_release_of_people_with_a_number_as_its_label_is_valid(odd_table, tmp_path):
    may = {"accept_unique": True, "accept_identifiers": True, "person": "who", "other_labels": ["back"]}
    made = release(odd_table, "charges", output=tmp_path / "r", effort="small", **may)
    package = tmp_path / "r" / "datapackage.json"
    assert kinds(package) == []
    assert json.loads(package.read_text())["aegis:unit"] == "person"
    table = aegis_sdk.read(package, midpoints=True)
    assert (len(table), table["charges"].dtype) == (made.card.records, float)


@pytest.mark.parametrize("escapes", [False, True])
def test_a_delivery_of_formulas_quotes_and_line_breaks_is_valid(client, odd_table, tmp_path, escapes):
    (tmp_path / "plan.yaml").write_text(
        'label: back\nattributes: {"@note": {}, "=day": {}, "place, or so": {}}\nconfigurations: {raw: {}}\n'
    )
    plan = load_plan(tmp_path / "plan.yaml")
    prepared = prepare_entry(odd_table, plan, name=f"odd-{uuid4().hex}", exact=True)
    head = client.publish(prepared.entry, accept_small_counts=True, accept_unique=True)
    terms = {"purpose": "a study", "contact": "me", "terms": head.terms, "configuration": "raw"}
    made = client.requests.create(head.id, "mutual_information", **terms, wait=60)
    client.requests.approve(made.id)
    task = Task(client, made.id, odd_table, plan, escape_formulas=escapes, accept_unique=True)
    (tmp_path / "shared").mkdir()
    fulfil(task, storage_at(str(tmp_path / "shared"), "https://shared.example"), tmp_path / "work")
    [package] = (tmp_path / "shared").glob("*.datapackage.json")
    assert kinds(package) == []
    names = ["'@note" if escapes else "@note", "'=day" if escapes else "=day", "place, or so", "back"]
    table = aegis_sdk.read(package)
    assert [*table.columns] == names
    expected = Counter(row[1] for row in odd_rows() if row[0] != "who")
    if escapes:
        expected["'=1+1"] = expected.pop("=1+1")
    assert Counter(table[names[0]]) == expected
    assert (table[names[1]].dtype.kind, table["place, or so"].isna().sum()) == ("M", 0)


def test_a_release_with_suppressed_cells_is_valid(aegis, tmp_path):
    draw, likely = random.Random(11), {"A": 0.0, "B": 0.2, "C": 0.4, "Z": 0.0}
    rows = [(town, age) for town in "ABC" for age in range(10) for _ in range(30)] + [("Z", age) for age in range(30)]
    lines = [f"{town},{age},{'yes' if draw.random() < age % 10 / 20 + likely[town] else 'no'}" for town, age in rows]
    table, plan, output = tmp_path / "t.csv", tmp_path / "plan.yaml", tmp_path / "r"
    table.write_text("\n".join(["town,age,ill", *lines]) + "\n")
    plan.write_text(
        "label: ill\nattributes: {town: {}, age: {type: integer}}\nconfigurations: {raw: {}}\n"
        "privacy: {raw: {k: 5}}\nsuppressed: {raw: 30}\n"
    )
    assert aegis("plan", "cells", table, "--plan", plan, "--output", tmp_path / "cells.yaml")[0] == 0
    asked = ("release", table, "--label", "ill", "--output", output, "--suppress-at-most", 0.05)
    assert aegis(*asked, "--plan", tmp_path / "cells.yaml")[0] == 0
    assert (output / "masked.csv").read_text().count("Z,*,") == 30
    assert kinds(output / "datapackage.json") == []
    assert aegis_sdk.read(output)["age"].isna().sum() == 30
