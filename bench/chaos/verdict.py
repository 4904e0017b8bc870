"""What has become of everything that was acknowledged, compared with a service that nothing has disturbed."""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench.chaos.load import Notes

#: Seconds in which all that was accepted must end once the faults are over.
PATIENCE = 300.0
_FINAL = {"succeeded", "failed"}

#: About how many entries an undisturbed service is asked at the same time.
_AT_ONCE = 8

#: How a request may end: that nobody withdrew, that somebody tried to, and of which that was acknowledged.
_ENDS = {None: {"advised"}, False: {"advised", "withdrawn"}, True: {"withdrawn"}}


@dataclass(frozen=True)
class Damage:
    """What became of something that was acknowledged.

    Attributes:
        id: of the entry, advice or request.
        words: what it is now.
    """

    id: str
    words: str


@dataclass
class Verdict:
    """What went wrong: nothing, if all lists are empty.

    Attributes:
        lost: what is not there any more, or does not end.
        doubled: what was done twice.
        different: what is not as it was sent, or as an undisturbed service answers.
        broken: what is wrong with the audit log.
    """

    lost: list[Damage] = field(default_factory=list)
    doubled: list[Damage] = field(default_factory=list)
    different: list[Damage] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.doubled or self.different or self.broken)


def judge(url: str, notes: Notes, data_dir: Path, undisturbed: AbstractContextManager[str]) -> Verdict:
    """Judge everything that was noted.

    Args:
        url: the service.
        notes: what it has acknowledged.
        data_dir: of its database.
        undisturbed: has the address of a service that nothing disturbs.
    """
    verdict = Verdict()
    with httpx.Client(base_url=url, timeout=60) as api:
        _entries(api, notes, verdict)
        answers = _advice(api, notes, verdict)
        _requests(api, notes, verdict)
        _log(api, data_dir, verdict)
    with undisturbed as other, httpx.Client(base_url=other, timeout=60) as api:
        _compare(api, notes, answers, verdict)
    return verdict


def _entries(api: httpx.Client, notes: Notes, verdict: Verdict) -> None:
    for entry, (document, digest) in notes.entries.items():
        head, counts = api.get(f"/v1/entries/{entry}"), api.get(f"/v1/entries/{entry}/summaries")
        if not (head.is_success and counts.is_success):
            verdict.lost.append(Damage(entry, f"{head.status_code}, {counts.status_code}"))
            continue
        joint = document["attributes"][0]["maskings"][0]["joint"]
        if head.json()["digest"] != digest or counts.json()["attributes"][0]["maskings"][0]["joint"] != joint:
            verdict.different.append(Damage(entry, "not as it was published"))


def _advice(api: httpx.Client, notes: Notes, verdict: Verdict) -> dict[tuple[str, str], Any]:
    """The answers, by entry and measure."""
    answers = {}
    for question, ids in notes.advice.items():
        if len(ids) > 1:
            verdict.doubled.append(Damage(min(ids), f"advice {sorted(ids)}"))
        advice = _ended(api, f"/v1/advice/{min(ids)}", lambda body: body["status"] in _FINAL)
        if advice is None:
            verdict.lost.append(Damage(min(ids), "advice does not end"))
        elif advice["status"] != "succeeded":
            verdict.different.append(Damage(min(ids), f"advice {advice['problem']}"))
        else:
            answers[question] = advice
    return answers


def _requests(api: httpx.Client, notes: Notes, verdict: Verdict) -> None:
    purposes: dict[str, list[str]] = {}
    token = None
    while True:
        page = api.get("/v1/requests", params={"limit": 100} | ({"page_token": token} if token else {})).json()
        for one in page["items"]:
            purposes.setdefault(one["purpose"], []).append(one["id"])
        token = page["next_page_token"]
        if token is None:
            break
    for purpose, ids in notes.requests.items():
        if len(purposes.get(purpose, [])) > 1 or len(ids) > 1:
            verdict.doubled.append(Damage(min(ids), f"request {sorted(ids)}"))
        ended = _ended(api, f"/v1/requests/{min(ids)}", lambda body: body["state"] != "requested")
        if ended is None:
            verdict.lost.append(Damage(min(ids), "request does not end"))
        elif ended["state"] not in _ENDS[notes.withdrawn.get(purpose)]:
            verdict.different.append(Damage(min(ids), f"request {ended['state']}"))


def _ended(api: httpx.Client, path: str, is_over: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """What has become of something; None if it is not there, or does not end."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        answer = api.get(path)
        if answer.status_code == 404:
            return None
        if answer.is_success and is_over(answer.json()):
            body: dict[str, Any] = answer.json()
            return body
        time.sleep(0.2)
    return None


def _log(api: httpx.Client, data_dir: Path, verdict: Verdict) -> None:
    """Check the chain of the audit log."""
    log, keys = data_dir.with_name("audit.jsonl"), data_dir.with_name("audit-keys.json")
    keys.write_bytes(api.get("/.well-known/aegis-keys.json").content)
    for words in (("export", "--data-dir", data_dir, "--output", log), ("verify", log, "--keys", keys)):
        command = [sys.executable, "-m", "app.cli", "audit", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            verdict.broken.append(f"audit log: {done.stdout}{done.stderr}")


def _compare(api: httpx.Client, notes: Notes, answers: dict[tuple[str, str], Any], verdict: Verdict) -> None:
    """Ask the undisturbed service the same, about several entries at a time."""
    asked: dict[str, dict[str, Any]] = {}
    for (entry, measure), advice in answers.items():
        asked.setdefault(entry, {})[measure] = advice
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for different in pool.map(lambda entry: _compare_one(api, notes.entries[entry][0], asked[entry]), asked):
            verdict.different += different


def _compare_one(api: httpx.Client, document: dict[str, Any], answers: dict[str, Any]) -> list[Damage]:
    """The advice on an entry, by measure, that is another one there."""
    again = document | {"name": f"again-{document['name']}"}
    published = api.post("/v1/entries", params={"accept_small_counts": "true"}, json=again)
    path, different = f"/v1/entries/{published.json()['id']}/advice", []
    for measure, advice in answers.items():
        asked = api.post(path, json={"measure": measure}, headers={"Prefer": "wait=30"})
        same = _ended(api, f"/v1/advice/{asked.json()['id']}", lambda body: body["status"] in _FINAL)
        if same is None or same.get("ranking") != advice["ranking"]:
            different.append(Damage(advice["id"], "another ranking than that of an undisturbed service"))
    return different
