"""A short form of `make chaos`: a few faults under load, which must not damage anything acknowledged.

Then the test causes damage, which the same judge must find.
"""

from contextlib import nullcontext
from random import Random

import httpx
import psycopg

from bench.chaos.damage import Verdict
from bench.chaos.load import made_up
from bench.chaos.run import Run, put_under_load
from bench.chaos.stage import stage
from bench.chaos.verdict import judge

_WAIT = {"Prefer": "wait=30"}

#: The answer to one question becomes that to another.
_SWAP = """
    UPDATE advice SET result = (SELECT result FROM advice JOIN question ON advice_id = advice.id WHERE question.id = %s)
    WHERE id = (SELECT advice_id FROM question WHERE id = %s)
"""


def test_nothing_acknowledged_is_lost_doubled_or_different_after_some_faults_and_real_damage_shows(tmp_path):
    done = Run()
    with stage(tmp_path) as running:
        put_under_load(running, 5, Random(3), done)
        verdict = _judged(running, done)
        assert sum(map(len, done.recovered.values())) == 5
        assert done.notes.entries
        assert verdict.is_clean, verdict
        assert (done.refused, done.failed) == ([], [])
        with httpx.Client(base_url=running.replicas[0].url, timeout=30) as api:
            _assert_that_damage_shows(running, done, api)
    assert running.left == []


def _judged(running, done):
    verdict = Verdict()
    judge(running.replicas[0].url, done.notes, running.data_dir, nullcontext(running.replicas[0].url), verdict)
    return verdict


def _assert_that_damage_shows(running, done, api):
    lost = _published(done, api)
    (entry, measure), ids = next(iter(done.notes.advice.items()))
    changed = min(ids)
    doubled = _requested_twice(done, api)
    other = api.post(f"/v1/entries/{entry}/advice", json={"measure": "g1" if measure != "g1" else "g2"}, headers=_WAIT)
    assert api.delete(f"/v1/entries/{lost}").is_success
    with psycopg.connect(running.owner_url, autocommit=True) as database:
        assert database.execute(_SWAP, [other.json()["id"], changed]).rowcount == 1
        database.execute("INSERT INTO audit_record (action, entry_id) VALUES ('entry.publish', %s)", [entry])

    verdict = _judged(running, done)
    assert [damage.id for damage in verdict.lost] == [lost]
    assert {damage.id for damage in verdict.doubled} == {doubled, entry}
    assert {damage.id for damage in verdict.different} == {changed}
    assert "ranking" in verdict.different[0].words
    assert not verdict.unjudged


def _published(done, api):
    """The id of one more entry, which nobody has asked about."""
    document = made_up(Random(5))
    head = api.post("/v1/entries?accept_small_counts=true", json=document).json()
    done.notes.published(document, head)
    return head["id"]


def _requested_twice(done, api):
    """The id of the first request, whose purpose is sent again."""
    purpose, (entry, measure) = next(iter(done.notes.about.items()))
    terms = api.get(f"/v1/entries/{entry}").json()["terms"]
    again = {"measure": measure, "purpose": purpose, "contact": "lab@example.org", "terms": terms}
    assert api.post(f"/v1/entries/{entry}/requests", json=again).is_success
    return min(done.notes.requests[purpose])
