"""`aegis requests new` asks for the terms, and reports write nothing to the terminal that a provider has made up."""

import io
import sys

import pytest

from aegis_sdk import Client
from aegis_sdk.cli.requests import listing, offered, report
from aegis_sdk.testing import MockService
from aegis_sdk.wire import EXAMPLE_DATA_REQUEST, EXAMPLE_HEAD, Change, DataRequest, EntryHead, Problem

ASKED = ("--purpose", "a study", "--contact", "me", "--measure", "g3")
REQUEST = DataRequest.model_validate(EXAMPLE_DATA_REQUEST)
EVIL = "bad \x1b]0;pwn\x07\nsecond line"


@pytest.fixture
def service(monkeypatch):
    head = EntryHead(**EXAMPLE_HEAD, entry_schema={"terms": {"@type": "Offer"}})
    service = MockService().with_entry(head).with_request(REQUEST)
    monkeypatch.setattr("aegis_sdk.cli.requests.Client", lambda: Client(transport=service))
    return service


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("said", "code"), [("y", 0), ("yes", 0), ("n", 1), ("", 1)])
def test_the_terms_are_shown_and_asked_about(aegis, service, monkeypatch, said, code):
    monkeypatch.setattr(sys, "stdin", Terminal(f"{said}\n"))
    ended, out, err = aegis("requests", "new", EXAMPLE_HEAD["id"], *ASKED)
    assert ended == code
    assert "licence of health-survey: CC0-1.0" in err
    assert '"@type": "Offer"' in err
    made = [one for one in service.requests if one.method == "POST"]
    assert (len(made), out) == ((1, f"{REQUEST.id}\n") if code == 0 else (0, ""))
    assert all(one.body["terms"] == EXAMPLE_HEAD["terms"] for one in made)


def test_a_request_that_failed_is_a_failure_with_its_id(aegis, service):
    failed = REQUEST.model_copy(update={"state": "failed", "problem": Problem(detail="no counts")})
    service.with_request(failed)
    code, out, err = aegis("requests", "new", EXAMPLE_HEAD["id"], *ASKED, "--accept-terms")
    assert (code, out) == (1, f"{REQUEST.id}\n")
    assert "failed: no counts" in err


def test_texts_of_others_are_escaped():
    change = REQUEST.changes[0].model_dump() | {"action": EVIL, "side": EVIL, "by": EVIL, "reason": EVIL}
    evil = REQUEST.model_copy(
        update={
            "state": EVIL,
            "purpose": EVIL,
            "contact": EVIL,
            "configuration": EVIL,
            "possible": [EVIL],
            "changes": [Change(**change)],
        }
    )
    failed = evil.model_copy(update={"problem": Problem(detail=EVIL)})
    lines = [*report(evil), *listing([evil], is_all=False), offered(failed)]
    assert all(line.isprintable() for line in lines)
    assert "and more" in lines[-2]


def test_a_stale_request_says_so():
    assert offered(REQUEST.model_copy(update={"stale": True})).endswith("; the entry has a newer version")


def test_a_list_cannot_be_narrowed_for_one_request(aegis):
    code, _, err = aegis("requests", "show", REQUEST.id, "--state", "advised")
    assert (code, "No such option: --state" in err) == (2, True)
