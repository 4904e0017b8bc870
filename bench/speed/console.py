"""Pages of the console, large and small: the time of the service, and the downloads of a browser.

`python -m bench.speed.console --entries 100000`
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import httpx
import numpy as np
import psutil
import psycopg

from app.pages import page as static
from bench.measuring import MILLISECONDS, heading, run, table, verdict
from bench.speed.console_contents import CONSUMER, Contents, Many, made
from bench.speed.market import PROVIDER, Marketplace, key, marketplace

TIMES, WARM = 20, 5
OPERATOR = "operations"
#: The targets: milliseconds for a page, for one that lists 10^5 entries, and kB of a browser's downloads.
PAGE, CATALOGUE = 30.0, 60.0
SCRIPTS, STYLE = 20.0, 12.0
#: Seconds until the log has the line of a received response.
PATIENCE = 10.0
KILOBYTE = 1e3
STATIC = Path(static.__file__).parent / "static"


@dataclass(frozen=True)
class Page:
    """A page, its viewer, and its target in milliseconds."""

    viewer: str
    name: str
    path: str
    target: float = PAGE


@dataclass(frozen=True)
class Measured:
    """The cost of a page.

    Attributes:
        first: milliseconds of the first time.
        p50: the median of later times, after some unmeasured ones.
        p99: the 99th percentile.
        core: milliseconds of a core on average, of the API with its children, and of the database.
        size: the bytes sent, compressed with gzip.
    """

    first: float
    p50: float
    p99: float
    core: tuple[float, float]
    size: int


def main(many: Many) -> None:
    heading(f"Pages of the console: milliseconds of the service by its access log, {TIMES} times each")
    with marketplace(1, [CONSUMER]) as market:
        contents = made(market, many)
        keys = market.keys | {OPERATOR: key(market.environment, OPERATOR, "operator")}
        browsers = {viewer: _browser(market, keys.get(viewer)) for viewer in ("", PROVIDER, CONSUMER, OPERATOR)}
        pages = [*_entry_pages(contents), *_answer_pages(contents), *_request_pages(contents), *_operator_pages()]
        pages += _catalogue_pages(browsers[CONSUMER])
        measured = [_measure(market, browsers[page.viewer], page.path) for page in pages]
    _report(pages, measured)
    _report_downloads()


def _browser(market: Marketplace, own_key: str | None) -> httpx.Client:
    """A browser, signed in if it has a key."""
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip", "Origin": market.url}
    browser = httpx.Client(base_url=market.url, headers=headers, timeout=120)
    if own_key is not None and browser.post("/sign-in", data={"key": own_key, "next": "/"}).status_code != 303:
        raise RuntimeError("could not sign in")
    return browser


def _catalogue_pages(browser: httpx.Client) -> Iterator[Page]:
    first = browser.get("/").raise_for_status().text
    later = first.partition("page_token=")[2].partition('"')[0].partition("&")[0]
    searches = {
        "first page": "",
        "page 2": f"?page_token={later}",
        "words": "?query=half",
        "words of few": "?query=percent",
        "attribute": "?attribute=attribute77",
        "label": "?label=label7",
        "licence": "?license=CC0-1.0",
        "k": "?criterion=k&limit=500",
        "words, label and k": "?query=half&label=label7&criterion=k&limit=500",
    }
    for viewer in (CONSUMER, OPERATOR):
        yield from (Page(viewer, f"catalogue, {name}", f"/{query}", CATALOGUE) for name, query in searches.items())


def _entry_pages(contents: Contents) -> Iterator[Page]:
    parts = {
        "entry": "",
        "page 3 of its lists": "?attributes=3&configurations=3",
        "an attribute": "/attribute?name=attribute-7",
        "a configuration": "/configuration?place=77",
        "ask": "/ask",
    }
    for name, entry in contents.entries.items():
        for viewer in (PROVIDER, CONSUMER):
            yield from (Page(viewer, f"{name}: {part}", f"/entries/{entry}{path}") for part, path in parts.items())
        yield Page(PROVIDER, f"{name}: counts", f"/entries/{entry}/counts?attribute=attribute-7")
    yield Page(PROVIDER, "visibility", f"/entries/{contents.entries['usual']}/visibility")


def _answer_pages(contents: Contents) -> Iterator[Page]:
    parts = {"answer": "", "rows 101 to 125": "?start=100", "comparison": "?first=c1&second=c2"}
    for (viewer, name), answer in contents.answers.items():
        yield from (Page(viewer, f"{name}: {part}", f"/advice/{answer}{query}") for part, query in parts.items())


def _request_pages(contents: Contents) -> Iterator[Page]:
    for viewer in (PROVIDER, CONSUMER):
        yield Page(viewer, "requests", "/requests")
        yield Page(viewer, "requests, advised", "/requests?state=advised")
        yield from (Page(viewer, f"request, {name}", f"/requests/{one}") for name, one in contents.requests.items())
    yield Page(CONSUMER, "a new request", f"/requests/new?entry={contents.entries['usual']}")


def _operator_pages() -> Iterator[Page]:
    yield Page("", "sign in", "/sign-in")
    yield Page(PROVIDER, "publish", "/publish")
    yield Page(CONSUMER, "glossary", "/glossary")
    yield Page(CONSUMER, "session", "/session")
    paths = ("", "/policy", "/tenants", "/tenant?tenant=lab", "/keys", "/keys/new", "/questions", "/audit")
    yield from (Page(OPERATOR, f"operator{path}", f"/operator{path}") for path in paths)
    yield Page(OPERATOR, "operator/audit of a tenant", "/operator/audit?tenant=other-7")


def _measure(market: Marketplace, browser: httpx.Client, path: str) -> Measured:
    """Measure a page after some unmeasured views."""
    api = market.processes["api"][0]
    if api.running is None:
        raise RuntimeError("the API does not run")
    first, _ = _looked(api.log, browser, path, 1)
    _looked(api.log, browser, path, WARM)
    processes = psutil.Process(api.running.pid), _database(market)
    before = list(map(_core_seconds, processes))
    times, size = _looked(api.log, browser, path, TIMES)
    core = [(_core_seconds(one) - start) / TIMES * MILLISECONDS for one, start in zip(processes, before, strict=True)]
    p50, p99 = np.percentile(times, (50, 99))
    return Measured(first[0], float(p50), float(p99), (core[0], core[1]), size)


def _looked(log: Path, browser: httpx.Client, path: str, times: int) -> tuple[list[float], int]:
    """The milliseconds of every response by the access log, and the bytes sent of the last one."""
    start, size = log.stat().st_size, 0
    for _ in range(times):
        answer = browser.get(path).raise_for_status()
        if answer.status_code != httpx.codes.OK:
            raise RuntimeError(f"{path} answered {answer.status_code}")
        size = answer.num_bytes_downloaded
    until = time.monotonic() + PATIENCE
    while len(logged := _logged(log, start)) < times:  # a line may appear after the response
        if time.monotonic() > until:
            raise TimeoutError(f"{log} has {len(logged)} of {times} lines")
        time.sleep(0.01)
    return logged, size


def _logged(log: Path, start: int) -> list[float]:
    with log.open("rb") as lines:
        lines.seek(start)
        whole = [json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"}\n")]
    return [line["ms"] for line in whole if line["event"] == "request"]


def _database(market: Marketplace) -> psutil.Process:
    """The database's main process, whose children are its connections."""
    with psycopg.connect(market.environment["AEGIS_OWNER_DATABASE_URL"]) as connection:
        parent = psutil.Process(connection.info.backend_pid).parent()
    if parent is None:
        raise RuntimeError("the database does not run")
    return parent


def _core_seconds(process: psutil.Process) -> float:
    """The core seconds of a process and its children, all threads together, to the nanosecond (Linux)."""
    threads = [Path(f"/proc/{one.pid}/task").glob("*/schedstat") for one in (process, *process.children())]
    return sum(map(_thread_seconds, chain.from_iterable(threads)))


def _thread_seconds(schedstat: Path) -> float:
    """The core seconds of a thread; 0 if it has just ended."""
    try:
        return int(schedstat.read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return 0.0


def _report(pages: list[Page], measured: list[Measured]) -> None:
    rows = [
        [
            page.viewer,
            page.name,
            f"{one.size / KILOBYTE:.1f}",
            f"{one.first:.0f}",
            f"{one.p50:.1f}",
            f"{one.p99:.1f}",
            f"{one.core[0]:.1f} + {one.core[1]:.1f}",
            f"<= {page.target:g}: {'met' if one.p50 <= page.target else 'MISSED'}",
        ]
        for page, one in zip(pages, measured, strict=True)
    ]
    table(["viewer", "page", "kB sent", "first", "p50", "p99", "of a core", "target of p50"], rows)
    slow = sum(one.p50 > page.target for page, one in zip(pages, measured, strict=True))
    print(verdict(met=not slow, target="each page"), f"missed by {slow} of {len(pages)} pages")
    busy = sum(sum(one.core) > page.target for page, one in zip(pages, measured, strict=True))
    print("of a core: milliseconds of a core in the service with its children, and in the database, per page")
    print(f"both together exceed the target for {busy} of them; the rest of a page's time is waiting")


def _report_downloads() -> None:
    """The files that a browser loads once besides a page, with the best compression."""
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes(), 9)) / KILOBYTE for name in static.TYPES}
    scripts = sum(size for name, size in sizes.items() if name.endswith(".js"))
    style = sum(size for name, size in sizes.items() if name.endswith(".css"))
    for name, size, most in (("JavaScript", scripts, SCRIPTS), ("style", style, STYLE)):
        print(f"{name}, by gzip: {size:.1f} kB", verdict(met=size <= most, target=f"<= {most:g} kB"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=Many.entries)
    run(partial(main, Many(entries=parser.parse_args().entries)))
