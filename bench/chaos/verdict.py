"""The judgement of everything acknowledged."""

from collections import defaultdict
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bench.chaos.asking import Service
from bench.chaos.audit import check_log
from bench.chaos.damage import Damage, Verdict
from bench.chaos.load import PURPOSE, Notes
from bench.chaos.undisturbed import Question, compare

#: Seconds after the faults in which everything accepted must end.
PATIENCE = 300.0
_FINAL = {"succeeded", "failed"}

#: The final states of a request: not withdrawn, withdrawn without acknowledgement, and with one.
_ENDS = {None: {"advised"}, False: {"advised", "withdrawn"}, True: {"withdrawn"}}


def judge(url: str, notes: Notes, data_dir: Path, undisturbed: AbstractContextManager[str], verdict: Verdict) -> None:
    """Judge everything in the notes.

    Args:
        url: the service.
        notes: what it has acknowledged.
        data_dir: the directory of its database.
        undisturbed: yields the address of an undisturbed service.
        verdict: receives the damage.
    """
    answers: dict[Question, dict[str, Any]] = {}
    requests: dict[str, dict[str, Any]] = {}
    with Service(url, PATIENCE) as service:
        with verdict.judging("entries"):
            _entries(service, notes, verdict)
        with verdict.judging("answers"):
            _advice(service, notes, verdict, answers)
        with verdict.judging("doubled requests"):
            _doubled(service, notes, verdict)
        with verdict.judging("requests"):
            _requests(service, notes, verdict, requests)
        with verdict.judging("the audit log"):
            check_log(service, data_dir, notes, verdict)
    with verdict.judging("the comparison with an undisturbed service"), undisturbed as other:
        compare(other, notes, answers, requests, verdict)


def _entries(service: Service, notes: Notes, verdict: Verdict) -> None:
    for entry, (document, digest) in notes.entries.items():
        head, whole = service.get(f"/v1/entries/{entry}"), service.get(f"/v1/entries/{entry}/summaries")
        if not (head.is_success and whole.is_success):
            verdict.lost.append(Damage(entry, f"entry: {head.status_code}, {whole.status_code}"))
        elif head.json()["digest"] != digest or not has(whole.json(), document):
            verdict.different.append(Damage(entry, "entry: not as it was published"))


def has(answered: Any, sent: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether a response contains everything that was sent; it may also contain defaults."""
    if isinstance(sent, dict):
        return isinstance(answered, dict) and all(
            name in answered and has(answered[name], part) for name, part in sent.items()
        )
    if isinstance(sent, list):
        return isinstance(answered, list) and len(answered) == len(sent) and all(map(has, answered, sent))
    return bool(answered == sent)


def _advice(service: Service, notes: Notes, verdict: Verdict, answers: dict[Question, dict[str, Any]]) -> None:
    """Collect the answers, by entry and measure."""
    for question, ids in notes.advice.items():
        first = min(ids)
        if len(ids) > 1:
            verdict.doubled.append(Damage(first, f"advice {sorted(ids)}"))
        advice = service.ended(f"/v1/advice/{first}", lambda body: body["status"] in _FINAL)
        if advice is None:
            verdict.lost.append(Damage(first, "advice is not there, or does not end"))
        elif advice["status"] != "succeeded":
            verdict.different.append(Damage(first, f"advice {advice['problem']}"))
        else:
            answers[question] = advice


def _doubled(service: Service, notes: Notes, verdict: Verdict) -> None:
    """Find duplicate requests, acknowledged or not."""
    purposes = _ids_by_purpose(service)
    for purpose, ids in notes.requests.items():
        purposes[purpose] |= ids
    for ids in purposes.values():
        if len(ids) > 1:
            known = min(ids & notes.after.keys() or ids)
            verdict.doubled.append(Damage(known, f"request {sorted(ids)}"))


def _ids_by_purpose(service: Service) -> dict[str, set[str]]:
    """All requests that were sent during this run."""
    purposes: dict[str, set[str]] = defaultdict(set)
    place: dict[str, str] = {}
    while True:
        page = service.get("/v1/requests", limit=100, **place).json()
        for one in page["items"]:
            if one["purpose"].startswith(PURPOSE):
                purposes[one["purpose"]].add(one["id"])
        if page["next_page_token"] is None:
            return purposes
        place = {"page_token": page["next_page_token"]}


def _requests(service: Service, notes: Notes, verdict: Verdict, requests: dict[str, dict[str, Any]]) -> None:
    """Collect the requests, by purpose."""
    for purpose, ids in notes.requests.items():
        first = min(ids)
        ended = service.ended(f"/v1/requests/{first}", lambda body: body["state"] != "requested")
        if ended is None:
            verdict.lost.append(Damage(first, "request is not there, or does not end"))
            continue
        asked = ended["purpose"], ended["entry"]["id"], ended["request"]["measure"]
        if asked != (purpose, *notes.about[purpose]):
            verdict.different.append(Damage(first, f"request: not as it was sent, but {asked}"))
        elif ended["state"] not in _ENDS[notes.withdrawn.get(purpose)]:
            verdict.different.append(Damage(first, f"request {ended['state']}"))
        requests[purpose] = ended
