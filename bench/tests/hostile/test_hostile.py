"""A short form of `make fuzz`, and tests that it detects faults."""

from collections import Counter

import psutil
import pytest

from bench.hostile.cases import case, from_json, prepared, to_json
from bench.hostile.mutations import MUTATIONS
from bench.hostile.sending import LATE, Answer, Tally, send_all
from bench.hostile.service import Service
from tests.running import address, process
from tests.service import create_key, example_entry, publish

REQUESTS = 300


async def test_every_hostile_request_is_answered_as_the_contract_says(shared_api):
    """As providers send them: without keys, there must be none that creates one."""
    head = await publish(shared_api, example_entry(name="hostile"))
    asked = {"measure": "g3", "purpose": "a study", "contact": "lab@example.org", "terms": head["terms"]}
    request = await shared_api.post(f"/v1/entries/{head['id']}/requests", json=asked)
    ids = {"entry": head["id"], "request": request.json()["id"]}
    statuses = Counter()
    for number in range(REQUESTS // 2):
        if (one := case(2, number)).caller == "operator":
            continue
        answer = await shared_api.request(
            one.method, one.path.format(**ids), content=one.content, headers=one.headers
        )  # the client holds it to the contract
        assert answer.status_code < 500, (number, answer.text)
        statuses[answer.status_code // 100] += 1
    assert statuses[2] > 0
    assert statuses[4] > 0


@pytest.mark.long
async def test_no_hostile_request_makes_the_service_fail(database_url):
    key = (await create_key(database_url, "operations", "operator"))["Authorization"].removeprefix("Bearer ")
    with process("api", port="0", database_url=database_url) as api:
        url = address(api)
        tallies = send_all(url, prepared(url, key), 0, iter(range(REQUESTS)), clients=2)
        assert api.poll() is None
    assert sum(tally.answers.total() for tally in tallies.values()) == REQUESTS
    failed = [(one.kind, one.method, one.path, answer) for tally in tallies.values() for one, answer in tally.failed]
    assert failed == []
    assert tallies["none"].answers[2] > 0  # what is not mutated is accepted
    assert tallies["truncated"].answers[4] > 0


@pytest.mark.parametrize("number", range(40))
def test_a_request_can_be_sent_again_from_its_file(number):
    one = case(1, number)
    assert from_json(to_json(one, "500")) == one == case(1, number)


def test_all_kinds_of_mutations_are_drawn():
    assert {case(1, number).kind for number in range(500)} == set(MUTATIONS)


@pytest.mark.parametrize(
    ("answer", "failed", "late"),
    [
        (Answer(200, b"{}", 0.1), 0, 0),
        (Answer(422, b"{}", LATE), 0, 0),
        (Answer(401, b'{"code":"unauthorized"}', 0.1), 1, 0),
        (Answer(503, b'{"code":"overloaded"}', 0.1), 0, 0),
        (Answer(503, b'{"code":"interrupted"}', 0.1), 1, 0),
        (Answer(500, b'{"code":"internal"}', 0.1), 1, 0),
        (Answer(0, b"reset", 0.1), 1, 0),
        (Answer(201, b"{}", LATE + 0.1), 0, 1),
    ],
)
def test_what_counts_as_a_failure(answer, failed, late):
    tally = Tally()
    tally.add(case(1, 1), answer)
    assert (len(tally.failed), len(tally.late)) == (failed, late)


def test_errors_are_lines_of_their_levels_and_whatever_is_no_line_of_the_log(tmp_path):
    log = tmp_path / "log"
    traceback = 'Traceback (most recent call last):\n  File "x.py", line 1\nValueError: x'
    known = [
        '{"level": "warning", "event": "a"}',
        '{"level": "error", "event": "b"}',
        '{"level": "error", "event": "c"}',
    ]
    log.write_text("\n".join([known[0], traceback, *known, "Fatal Python error: Segmentation fault", ""]))
    errors = Service("", psutil.Process(), log, "key").errors()
    assert errors == [traceback, known[1], known[2], "Fatal Python error: Segmentation fault"]
