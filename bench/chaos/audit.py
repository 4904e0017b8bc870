"""The check that the audit log has every acknowledged action exactly once."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.chaos.asking import Service
from bench.chaos.damage import Damage, Verdict
from bench.chaos.load import Notes

#: The timeout in seconds for exporting or verifying a log.
_SECONDS = 600.0


def check_log(service: Service, data_dir: Path, notes: Notes, verdict: Verdict) -> None:
    """Verify the audit log and count the acknowledged actions in it."""
    log, keys = data_dir.with_name("audit.jsonl"), data_dir.with_name("audit-keys.json")
    keys.write_bytes(service.get("/.well-known/aegis-keys.json").content)
    for words in (("export", "--data-dir", data_dir, "--output", log), ("verify", log, "--keys", keys)):
        command = [sys.executable, "-m", "app.cli", "audit", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        if done.returncode:
            verdict.broken.append(f"audit log: {done.stdout}{done.stderr}")
    recorded = _recorded(log)
    for action, about in _acknowledged(notes):
        times = recorded[action, about]
        if times != 1:
            (verdict.doubled if times else verdict.lost).append(Damage(about, f"audit log: {action} {times} times"))


def _recorded(log: Path) -> Counter[tuple[str, str]]:
    """The number of records by action and entry or request."""
    recorded: Counter[tuple[str, str]] = Counter()
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if about := record.get("request") or record.get("entry"):
                recorded[record["action"], about] += 1
    return recorded


def _acknowledged(notes: Notes) -> Iterator[tuple[str, str]]:
    """The required records: the action, and the id of its entry or request."""
    for entry in notes.entries:
        yield "entry.publish", entry
    for purpose, ids in notes.requests.items():
        yield "request.request", min(ids)
        if notes.withdrawn.get(purpose):
            yield "request.withdraw", min(ids)
