"""What the check of an exported log finds, and what it says of it."""

import json
from hashlib import sha256

import pytest
import rfc8785

from app.audit.model import START, BrokenLogError, Place, PromisedRecord, check_chain
from tests.tables import raised

NUMBER = 8


def hashed(record, **changes):
    """The record with other members, and the hash that it has then."""
    members = {name: value for name, value in (record | changes).items() if name != "hash"}
    return members | {"hash": sha256(rfc8785.dumps(members)).hexdigest()}


def chained(records, first=1, before=START.hash):
    """These records, one after the other in a chain of their own."""
    chain = []
    for sequence, record in enumerate(records, first):
        chain.append(hashed(record, sequence=sequence, previous=before))
        before = chain[-1]["hash"]
    return chain


LOG = chained(
    {"action": "policy.set", "at": f"2026-03-01T12:00:0{n}.000000Z", "salt": "0", "target": f"tenant-{n}\u2028ü"}
    for n in range(NUMBER)
)


def lines(records):
    return [rfc8785.dumps(record) + b"\n" for record in records]


def place(record):
    return Place(record["sequence"], record["hash"])


HEADS = [PromisedRecord(place(LOG[4]), "the head of Monday"), PromisedRecord(place(LOG[7]), "the head of Tuesday")]


def fault(records, promises=()):
    given = records if isinstance(records[0], bytes) else lines(records)
    with pytest.raises(BrokenLogError) as broken:
        check_chain(given, promises)
    return str(broken.value)


def test_a_log_as_it_was_written_passes():
    assert check_chain(lines(LOG), HEADS) == place(LOG[-1])
    assert check_chain([], []) == START


def test_a_changed_record_is_named():
    for member in ("action", "at", "target", "salt", "previous", "sequence", "hash"):
        changed = [*LOG]
        changed[3] = LOG[3] | {member: 999 if member == "sequence" else "other"}
        number = 999 if member == "sequence" else 4
        assert fault(changed) == f"record {number} was changed: its hash does not match its content"


def test_a_changed_record_with_a_new_hash_is_found_at_the_next_one():
    changed = [*LOG]
    changed[3] = hashed(LOG[3], target="other")
    assert fault(changed).startswith("record 5 does not follow the record before it")


def test_a_removed_record_is_named():
    for removed in range(NUMBER - 1):
        left = LOG[:removed] + LOG[removed + 1 :]
        assert fault(left) == f"record {removed + 1} was removed: record {removed + 2} is in its place"


def test_a_moved_record_is_named():
    for one, other in [(0, 1), (3, 4), (2, 6)]:
        moved = [*LOG]
        moved[one], moved[other] = moved[other], moved[one]
        assert fault(moved) == f"record {one + 1} is in the wrong place: it comes after record {other + 1}"


def test_an_inserted_record_is_named():
    forged = hashed(LOG[3], target="forged", previous=LOG[3]["hash"])
    assert fault([*LOG[:4], forged, *LOG[4:]]).startswith(
        "record 4 is in the wrong place: it follows record 4; inserted"
    )
    assert fault([*LOG[:4], LOG[3], *LOG[4:]]).startswith(
        "record 4 is in the wrong place: it follows record 4; inserted"
    )


def test_a_log_that_was_hashed_anew_from_a_record_on_is_found_by_a_head():
    anew = LOG[:2] + chained([LOG[2] | {"target": "other"}, *LOG[3:]], 3, LOG[1]["hash"])
    assert check_chain(lines(anew), ()) == place(anew[-1])  # the chain alone cannot tell
    assert fault(anew, HEADS).startswith("record 5 is not the one that the head of Monday has")


def test_a_truncated_log_is_found_if_a_head_is_after_its_end():
    for kept in range(NUMBER):
        source, number = ("Monday", 5) if kept < 5 else ("Tuesday", 8)
        told = f"the log is truncated: it ends with record {kept}, but the head of {source} has record {number}"
        assert raised(BrokenLogError, check_chain, lines(LOG[:kept]), HEADS) == told
        if kept:
            assert check_chain(lines(LOG[:kept]), HEADS[: kept >= 5]) == place(LOG[kept - 1])


NO_RECORDS = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"{}",
    b"\xff",
    json.dumps(LOG[3]).encode(),  # another form of the same
    rfc8785.dumps(LOG[3])[:-1] + b',"action":"other"}',  # a member twice
    rfc8785.dumps(hashed(LOG[3], more=None)),
    rfc8785.dumps(hashed(LOG[3], more=True)),
    rfc8785.dumps(hashed(LOG[3], more=1.5)),
    rfc8785.dumps(hashed(LOG[3], more={"a": 1})),
    rfc8785.dumps(hashed(LOG[3], sequence="4")),
    rfc8785.dumps(LOG[3] | {"hash": 5}),
]


def test_what_is_not_written_as_it_was_hashed_is_no_record():
    log = lines(LOG)
    told = [(line, fault([*log[:3], line + b"\n", *log[4:]])) for line in NO_RECORDS]
    assert [one for one in told if not one[1].startswith("the record after record 3 was changed")] == []
