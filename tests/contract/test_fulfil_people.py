"""A table that says whose a record is, delivered by the real service: people are counted, and not shown."""

import random
from collections import defaultdict
from uuid import uuid4

import httpx
import pytest

from aegis_provider import load_plan, prepare_entry
from aegis_provider.control import LastingRandomness, RandomRounding
from tests.contract.test_fulfil import records

PLAN = """label: ill
person: who
rows_per_person: 3
quasi_identifiers: [age, town]
attributes:
  age: {type: integer, maskings: {tens: {bucketize: {width: 20}}}}
  town: {type: string, maskings: {hidden: {suppress: {}}}}
configurations:
  tens: {age: tens, town: hidden}
privacy:
  tens: {k: 20}
"""


@pytest.fixture
def visits(tmp_path):
    """Visits of 600 people, up to three each."""
    rng, lines = random.Random(3), ["who,age,town,ill"]
    for who in range(600):
        age = rng.randint(20, 79)
        rows = range(rng.randint(1, 3))
        lines += [f"p{who},{age},{rng.choice('ABC')},{'yes' if rng.random() < age / 100 else 'no'}" for _ in rows]
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def test_its_consumer_gets_what_the_entry_says_of_people_and_nothing_more(aegis, client, visits, s3):
    plan, name = load_plan(visits / "plan.yaml"), f"visits-{uuid4().hex}"
    how = {"name": name, "chance": LastingRandomness(b"1" * 32)}
    entry = prepare_entry(visits / "visits.csv", plan, [RandomRounding(5)], **how).entry
    head = client.publish(entry, accept_small_counts=True)
    assert (entry.unit, entry.rows_per_person) == ("person", 3)
    asked = {"purpose": "a study", "contact": "me", "terms": head.terms, "require": {"k": 20}}
    made = client.requests.create(head.id, "mutual_information", **asked, wait=60)
    assert (made.state, made.configuration) == ("advised", "tens")
    client.requests.approve(made.id)
    options = ("--plan", visits / "plan.yaml", "--to", s3, "--work", visits / "work")
    code, out, err = aegis("requests", "fulfil", made.id, visits / "visits.csv", *options)
    assert code == 0, err
    delivery = client.requests.get(made.id).delivery
    assert "600 people" not in delivery.card["for_consumers"]  # how many the table has
    masked = httpx.get(delivery.url).content
    assert b"p1," not in masked
    assert set(records(masked)[0]) == {"age", "town", "ill"}
    assert dict(delivery.privacy) == {"k": 20}  # the exact k of people is in no table that leaves
    people = defaultdict(set)
    for line in (visits / "visits.csv").read_text().splitlines()[1:]:
        who, age, *_ = line.split(",")
        people[int(age) // 20].add(who)
    assert min(map(len, people.values())) > 20
    assert f"{min(map(len, people.values()))}" not in out
