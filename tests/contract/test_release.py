"""`aegis release --publish` against the real service: what it leaves, and what is found out before any work is done."""

import csv
import json
import random
from contextlib import nullcontext
from uuid import uuid4

import anyio
import pytest

from aegis_advisor.verdict import rounded, totals
from aegis_provider.control import rounding
from aegis_provider.errors import IdentifierError, PublishingError, ServiceError, SmallCountsError
from aegis_provider.ledger import ledgers
from aegis_provider.workflow import release
from aegis_sdk import Client
from aegis_sdk.cli import main
from aegis_sdk.wire import EXAMPLE_ENTRY
from tests.in_thread import own_database, serving
from tests.service import create_key

HOURS = 3600.0 * 24

#: The key, what the release has to have, and how it is refused by a service that requires k=10,l=2 and `min_cell` 5.
REFUSED = (
    (None, {"k": 5}, ServiceError, "401 unauthenticated: Send an API key"),
    ("unknown", {"k": 5}, ServiceError, "401 unauthenticated: This API key is unknown, expired or revoked"),
    ("consumer", {"k": 5}, ServiceError, "403 forbidden: Only providers and operators may publish"),
    ("provider", {"k": 5}, PublishingError, "add --require k=10 --require l=2"),
    ("provider", {"k": 10}, PublishingError, "add --require l=2"),
    ("provider", {"k": 20, "l": 2}, PublishingError, "multiples of 3: use aegis summarize --min-cell 5"),
)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table in which age tells much of the label, and the town nothing."""
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    ages = [rng.randint(18, 90) for _ in range(1000)]
    lines = [f"{age},{rng.choice('ABC')},{'yes' if rng.random() < age / 100 else 'no'}" for age in ages]
    path.write_text("\n".join(["age,town,ill", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def keyed(postgres, migrated):
    """A service with keys and a policy: its address, and the key of each role."""
    with own_database(postgres, migrated) as database_url:
        headers = {role: anyio.run(create_key, database_url, "acme", role) for role in ("provider", "consumer")}
        keys = {role: header["Authorization"].removeprefix("Bearer ") for role, header in headers.items()}
        with serving(database_url, worker=False, require_privacy="k=10,l=2", min_cell="5") as address:
            yield address, keys


@pytest.mark.long
def test_the_entry_is_published_and_its_advice_is_the_release(aegis, url, client, people, tmp_path):
    name, output = f"people-{uuid4().hex}", tmp_path / "r"
    command = ("release", people, "--label", "ill", "--output", output, "--seconds", HOURS, "--name", name, "--publish")
    code, out, error = aegis(*command, "--json")
    assert (code, error) == (0, "")
    printed = json.loads(out)
    entry_id, card = printed["entry"], printed["card"]
    described = json.loads((output / "entry.json").read_text()) | {"description": card["for_consumers"]}
    assert client.summaries(entry_id) == described
    assert "**People at risk:" in described["description"]
    advice = client.advise(entry_id, "joint")
    assert (card["configuration"], card["considered"]) == (advice.configuration, advice.considered)
    assert card["basis"] == advice.ranking_basis
    assert card["service"] == {"address": url, "entry": entry_id}
    assert card == json.loads((output / "card.json").read_text())
    told = (output / "card.md").read_text().replace("\\", "")
    assert f"the service at {url}, by the published counts of the entry {entry_id}" in told
    with (output / "masked.csv").open() as masked:
        rows = [tuple(value for name, value in row.items() if name != "ill") for row in csv.DictReader(masked)]
    assert min(map(rows.count, set(rows))) == card["reached"]["k"] >= 5

    again = release(people, "ill", output=output, seconds=HOURS, name=name, publish=client)
    assert (again.entry_id, client.entry(entry_id).version) == (entry_id, 2)  # the card's head is the second version
    [ledger] = json.loads(aegis("ledger", "show", name, "--json")[1])["ledgers"]
    assert [(event["what"], event["version"]) for event in ledger["events"]] == [
        ("entry", 1),
        ("masked table", None),
        ("entry", 2),
        ("card", 2),
    ]


@pytest.mark.long
def test_generated_tables_compete_in_the_service(client, people, tmp_path):
    name = f"both-{uuid4().hex}"
    released = release(
        people, "ill", output=tmp_path / "r", seconds=HOURS, name=name, publish=client, also_generate=True
    )
    left = [event.configuration for event in ledgers()[0][0].events if event.what == "generated table"]
    assert left == [each.id for each in released.entry.generated]
    asked = client.advise(released.entry_id, "joint", kinds=["masked", "generated"])
    ranked = {each.configuration: each.utility for each in asked.ranking}
    figures = {each.id: each.transfer.joint.value for each in [*released.entry.masked, *released.entry.generated]}
    assert ranked == pytest.approx(figures)
    assert ranked[asked.configuration] == max(figures.values())
    assert (asked.ranking_basis, asked.configuration in figures) == ("estimated", True)
    masked = client.advise(released.entry_id, "joint")
    assert masked.configuration == released.card.configuration
    limited = client.advise(
        released.entry_id, "joint", kinds=["masked", "generated"], require={"membership": 1.0, "reidentification": 1.0}
    )
    assert {each.configuration for each in limited.ranking} == {each.id for each in released.entry.generated}


def test_a_service_that_is_down_costs_no_work(people, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AEGIS_URL", "http://127.0.0.1:9")
    with pytest.raises(SystemExit) as ended:
        main(["release", str(people), "--label", "ill", "--publish", "--output", str(tmp_path / "r")])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out, printed.err.count("\n")) == (1, "", 1)
    assert printed.err.startswith("aegis: No response from http://127.0.0.1:9 (AEGIS_URL): ")
    assert "Is it running?; nothing was done" in printed.err
    assert not (tmp_path / "r").exists()


@pytest.mark.long
def test_what_the_service_would_refuse_is_said_before_any_work(keyed, people, tmp_path):
    """In one test, since each process that runs tests would start a service of its own for a part of it."""
    address, keys = keyed
    for role, require, error, told in REFUSED:
        stages = []

        def stage(name, stages=stages):
            stages.append(name)
            return nullcontext(lambda _done, _records: None)

        with Client(address, keys.get(role, role)) as client, pytest.raises(error) as refused:
            release(people, "ill", output=tmp_path / "r", require=require, publish=client, stage=stage)
        message = str(refused.value)
        assert message.startswith(f"{address}: ")
        assert told in message
        assert message.endswith("; nothing was done; without --publish, a release needs no service")
        assert "\n" not in message
        assert (stages, (tmp_path / "r").exists()) == (["asking the service what it requires"], False)


@pytest.mark.long
def test_a_name_of_an_entry_about_something_else_is_not_taken_from_it(client, people, tmp_path):
    name = f"other-{uuid4().hex}"
    client.publish(EXAMPLE_ENTRY | {"name": name})
    with pytest.raises(PublishingError, match="about the label 'health', not 'ill': choose another --name"):
        release(people, "ill", output=tmp_path / "r", name=name, publish=client)
    assert not (tmp_path / "r").exists()


def test_a_host_that_is_no_service_is_told(url, people, tmp_path):
    told = "/elsewhere: not an Aegis service, or an older version"
    with Client(f"{url}/elsewhere") as client, pytest.raises(ServiceError, match=told):
        release(people, "ill", output=tmp_path / "r", publish=client)


@pytest.fixture
def _every_doubt_counts(monkeypatch):
    """Judge as if a reader knew every small count that is possible, and round no pair again because of that."""
    caches = (rounded.knows_small, rounded.known_cells)
    monkeypatch.setattr(rounded, "LIKELY", 0.0)
    candidates = totals._candidates
    monkeypatch.setattr(totals, "_candidates", lambda sums, _, listed=0: candidates(sums, 10**6, listed))  # all sums
    monkeypatch.setattr(rounding, "known_pairs", lambda *_: set())
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.long
@pytest.mark.usefixtures("_every_doubt_counts")
def test_counts_that_give_small_ones_away_are_not_sent(client, people, tmp_path):
    name, output = f"pairs-{uuid4().hex}", tmp_path / "r"
    with pytest.raises(
        SmallCountsError, match=r"FAIL: .* To mend it: aegis summarize .* It is not published"
    ) as failed:
        release(people, "ill", output=output, name=name, publish=client)
    assert "--min-cell" in str(failed.value)
    assert list(client.entries(name)) == []
    assert {each.name for each in output.iterdir()} == {"plan.yaml", "configurations.yaml", ".aegis-release.json"}


@pytest.mark.long
def test_what_the_card_would_tell_of_a_person_is_looked_for_before_anything_is_published(client, people, tmp_path):
    """A column is named after a person whose address stands in another column."""
    first, *lines = people.read_text().splitlines()
    rows = [f"{line},x,p{number % 40}@clinic.example" for number, line in enumerate(lines)]
    table, name, output = tmp_path / "t.csv", f"named-{uuid4().hex}", tmp_path / "r"
    table.write_text("\n".join([f"{first},p7@clinic.example,contact", *rows]) + "\n")
    with pytest.raises(IdentifierError, match="the card would show e-mail addresses of the table"):
        release(table, "ill", output=output, name=name, publish=client)
    assert list(client.entries(name)) == []
    assert {each.name for each in output.iterdir()} == {"plan.yaml", "configurations.yaml", ".aegis-release.json"}
