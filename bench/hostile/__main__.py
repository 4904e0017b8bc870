import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil

from bench.hostile import __doc__ as about
from bench.hostile.cases import Case, from_json, prepared, to_json
from bench.hostile.sending import Answer, Sender, Tally, send_all
from bench.hostile.service import Service, Sizes, serving
from bench.measuring import heading, table

#: The most memory in MB that any process may have had at its peak, also one that has ended. Each has 200 MB before it
#: does anything. The largest bodies have 5 MB, which exist as bytes and as objects, several at a time; 100,000
#: requests reached 293 MB.
MEMORY = 600.0


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.hostile", description=about)
    options.add_argument("--cases", type=int, default=100_000, help="number of requests (default: 100000)")
    options.add_argument("--first", type=int, default=0, help="number of the first one (default: 0)")
    options.add_argument("--seed", type=int, default=1, help="seed of the requests (default: 1)")
    options.add_argument("--clients", type=int, default=4, help="number of connections (default: 4)")
    options.add_argument("--wrong", type=Path, default=Path(".aegis/hostile"), help="directory for failing requests")
    options.add_argument("--again", type=Path, help="send this failing request again instead")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="aegis-hostile-") as directory, serving(Path(directory)) as service:
        if given.again is not None:
            return again(service, given.again)
        return attack(service, range(given.first, given.first + given.cases), given.seed, given.clients, given.wrong)


def again(service: Service, file: Path) -> int:
    """Send a failing request again and print the response."""
    with closing(Sender(service.url, prepared(service.url, service.operator))) as sender:
        answer = sender.send(from_json(file.read_text(encoding="utf-8")))
    print(answer.status, f"{answer.seconds:.2f} s", answer.body.decode("utf-8", "replace"))
    print(*service.errors(), sep="\n")
    return 1 if answer.is_failure or answer.is_late else 0


def attack(service: Service, numbers: range, seed: int, clients: int, place: Path) -> int:
    """Send the requests with these numbers and print the report; return 0 if nothing is wrong."""
    ids, start = prepared(service.url, service.operator), time.monotonic()
    before, members = service.look(), service.members()
    tallies = send_all(service.url, ids, seed, _noted(numbers), clients)
    seconds, sent = time.monotonic() - start, sum(tally.answers.total() for tally in tallies.values())
    wrong = _wrong(Sender(service.url, ids), tallies)
    heading(f"Answers to {sent:,} requests in {seconds:.0f} s (load: {psutil.getloadavg()[2]:.1f})")
    _show_answers(tallies)
    heading("Memory of the largest process of each kind, in MB; peaks also of those that have ended")
    _show_memory(before, service.look(), service.seen)
    _keep(wrong, place)
    crashed = [kind for process_id, kind in members.items() if process_id not in service.members()]
    is_fine = _judged(service, len(wrong), crashed)
    if sent != len(numbers):
        print(f"only {sent:,} of {len(numbers):,} requests were sent")
    return 0 if is_fine and sent == len(numbers) else 1


def _judged(service: Service, wrong: int, crashed: list[str]) -> bool:
    """Print the faults; return whether there are none."""
    errors = service.errors()
    for error in errors[:20]:
        print(f"  {error[:500]}")
    large = sorted({kind for kind, _, peak in service.seen.values() if peak > MEMORY})
    print(f"\n{wrong} wrong answers; {len(errors)} errors in the log", end="; ")
    print(f"too much memory: {', '.join(large) or 'none'}; crashed: {', '.join(crashed) or 'none'}")
    return not (wrong or errors or large or crashed)


def _wrong(sender: Sender, tallies: dict[str, Tally]) -> list[tuple[Case, Answer]]:
    """The inadmissible responses, and those that were late twice."""
    with closing(sender):
        again = [(one, sender.send(one)) for tally in tallies.values() for one, _ in tally.late]
    failed = [failure for tally in tallies.values() for failure in tally.failed]
    return failed + [(one, answer) for one, answer in again if answer.is_failure or answer.is_late]


def _noted(numbers: range) -> Iterator[int]:
    for number in numbers:
        if number % 5_000 == 0:
            print(f"{number - numbers.start:,} of {len(numbers):,}", file=sys.stderr, flush=True)
        yield number


def _show_answers(tallies: dict[str, Tally]) -> None:
    columns = ("mutation", "requests", "2xx", "4xx", "5xx", "none", "failed", "late", "slowest (s)")
    rows = [
        [kind, *(f"{number:,}" for number in _numbers(tally)), f"{tally.slowest:.2f}"]
        for kind, tally in sorted(tallies.items())
    ]
    table(columns, rows)


def _numbers(tally: Tally) -> tuple[int, ...]:
    by_status = (tally.answers[status] for status in (2, 4, 5, 0))
    return (tally.answers.total(), *by_status, len(tally.failed), len(tally.late))


def _show_memory(before: Sizes, after: Sizes, ever: Sizes) -> None:
    kinds = sorted({kind for kind, *_ in ever.values()})
    rows = [
        [
            kind,
            *(str(sum(one == kind for one, *_ in sizes.values())) for sizes in (after, ever)),
            *(f"{most:.0f}" for most in (_most(before, kind, 2), _most(after, kind, 1), _most(ever, kind, 2))),
        ]
        for kind in kinds
    ]
    table(("process", "number", "ever seen", "peak before", "in use after", "peak ever"), rows)


def _most(sizes: Sizes, kind: str, place: int) -> float:
    """The largest value in one column of the sizes of a kind of process."""
    return max((float(size[place]) for size in sizes.values() if size[0] == kind), default=0.0)


def _keep(wrong: list[tuple[Case, Answer]], place: Path) -> None:
    """Write failing requests to files, so that they can be sent again."""
    place.mkdir(parents=True, exist_ok=True)
    for number, (one, answer) in enumerate(wrong[:100]):
        file = place / f"{number:03}.json"
        said = f"{answer.status} after {answer.seconds:.1f} s: {answer.body[:500].decode('utf-8', 'replace')}"
        file.write_text(to_json(one, said), encoding="utf-8")
        print(f"  {file}: {one.kind}, {one.method} {one.path}: {said[:200]}")


if __name__ == "__main__":
    sys.exit(main())
