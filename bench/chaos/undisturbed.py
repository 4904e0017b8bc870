"""The same questions to an undisturbed service, and the differences of its answers."""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any
from uuid import uuid4

from bench.chaos.asking import Service, SilentServiceError
from bench.chaos.damage import Damage, Verdict
from bench.chaos.load import Notes

#: An entry and a measure.
Question = tuple[str, str]

#: The number of entries that are asked about concurrently.
_AT_ONCE = 8

#: The most failed comparisons, after which the others are skipped.
_MOST_UNJUDGED = 20

#: Seconds in which it must answer a question.
_ANSWER_SECONDS = 60.0

#: The members in which two answers to the same question differ: ids and times.
_OWN = {"id", "entry", "created_at", "elapsed_ms"}


def compare(
    url: str,
    notes: Notes,
    answers: dict[Question, dict[str, Any]],
    requests: dict[str, dict[str, Any]],
    verdict: Verdict,
) -> None:
    """Compare whole answers, and the configurations of requests.

    Args:
        url: the undisturbed service.
        notes: the published entries.
        answers: the answers by question.
        requests: the requests by purpose.
        verdict: receives the differences.
    """
    asked: dict[str, set[str]] = defaultdict(set)
    for entry, measure in chain(answers, (notes.about[purpose] for purpose in requests)):
        asked[entry].add(measure)
    same: dict[Question, dict[str, Any]] = {}
    with Service(url, _ANSWER_SECONDS) as service, ThreadPoolExecutor(_AT_ONCE) as pool:
        asking = [pool.submit(_ask, service, notes.entries[entry][0], asked[entry]) for entry in asked]
        try:
            for entry, part in zip(asked, asking, strict=True):
                same |= {(entry, measure): answer for measure, answer in _results(part, verdict).items()}
        finally:
            pool.shutdown(cancel_futures=True)
    verdict.different += _other_answers(answers, same)
    verdict.different += _other_configurations(notes, requests, same)


def _results(part: Future[dict[str, dict[str, Any]]], verdict: Verdict) -> dict[str, dict[str, Any]]:
    """The answers to compare with; a missing one is recorded, up to a limit."""
    try:
        return part.result()
    except Exception as error:
        verdict.unjudged.append(f"undisturbed: {error!r}")
        if len(verdict.unjudged) > _MOST_UNJUDGED:
            raise
    return {}


def _ask(service: Service, document: dict[str, Any], measures: set[str]) -> dict[str, dict[str, Any]]:
    """Its answers about an entry by measure, published under a new name, since names are unique."""
    again = document | {"name": f"again-{uuid4().hex}"}
    published = service.post("/v1/entries?accept_small_counts=true", again)
    if not published.is_success:
        raise SilentServiceError(f"an entry is refused: {published.text[:300]}")
    answers, place = {}, f"/v1/entries/{published.json()['id']}/advice"
    for measure in sorted(measures):
        asked = service.post(place, {"measure": measure}, {"Prefer": "wait=30"})
        path = f"/v1/advice/{asked.json().get('id')}"
        answer = service.ended(path, lambda body: body["status"] not in {"queued", "running"}, _ANSWER_SECONDS)
        if answer is None or answer["status"] != "succeeded":
            raise SilentServiceError(f"{measure} is not answered: {asked.text[:300]}")
        answers[measure] = answer
    return answers


def _other_answers(answers: dict[Question, dict[str, Any]], same: dict[Question, dict[str, Any]]) -> Iterator[Damage]:
    for question in answers.keys() & same.keys():
        answer, other = answers[question], same[question]
        names = sorted(name for name in {*answer, *other} - _OWN if answer.get(name) != other.get(name))
        if names:
            yield Damage(answer["id"], f"advice: undisturbed, {', '.join(names)} would be different")


def _other_configurations(
    notes: Notes, requests: dict[str, dict[str, Any]], same: dict[Question, dict[str, Any]]
) -> Iterator[Damage]:
    """The differing configurations; requests that were withdrawn before the answer have none."""
    for purpose, request in requests.items():
        if (answer := same.get(notes.about[purpose])) is None:
            continue
        best, offered = answer["configuration"], request["configuration"]
        if offered != best and not (offered is None and request["state"] == "withdrawn"):
            yield Damage(request["id"], f"request: offers {offered}, undisturbed it would be {best}")
