"""Listings and searches of a catalogue of 10^5 entries, by caller and number of matches.

`core` is the milliseconds of a core per search in the API and in PostgreSQL, which other load hardly changes.

`python -m bench.speed.searches --entries 100000`
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial

import httpx
import psutil

from aegis_sdk import Client
from aegis_sdk.wire import EXAMPLE_ENTRY
from bench.measuring import MILLISECONDS, core_seconds, heading, percentile, run, table, timed, verdict
from bench.speed.market import PROVIDER, Marketplace, key, marketplace
from tests.copied_catalogue import fill

TIMES, WARM = 40, 12
TARGET = 40.0
CONSUMER = "lab"

CASES: dict[str, dict[str, str]] = {
    "listing": {},
    "listing, 200 a page": {"limit": "200"},
    "words: all": {"query": "frequent"},
    "words: a half": {"query": "half"},
    "words: 1 %": {"query": "percent"},
    "words: two, 0.1 %": {"query": "percent word1"},
    "words: the oldest tenth": {"query": "former"},
    "words: one": {"query": "single"},
    "words: none": {"query": "nowhere"},
    "words: private ones only": {"query": "sealed"},
    "two letters: none": {"query": "qq"},
    "attribute: 2 %": {"attribute": "attribute77"},
    "attribute: none": {"attribute": "nothing"},
    "keyword: 1 %": {"keyword": "topic7"},
    "label: 5 %": {"label": "label7"},
    "licence: all": {"license": "CC0-1.0"},
    "licence: none": {"license": "none"},
    "k >= 2: all": {"require": "k=2"},
    "k >= 500: 0.1 %": {"require": "k=500"},
    "k >= 5000: none": {"require": "k=5000"},
    "t <= 0.05: none": {"require": "t=0.05"},
    "words and k: 0.05 %": {"query": "half", "require": "k=500"},
    "words, label, k: none": {"query": "percent", "label": "label7", "require": "k=500"},
}


def main(entries: int = 100_000) -> None:
    heading(f"Searches of {entries:,} entries: milliseconds from the request to the whole answer, one after the other")
    with marketplace(0, [CONSUMER]) as market:
        seconds, _ = timed(partial(_fill, market, entries))
        print(f"(filled in {seconds:.0f} s)")
        callers = {"operator": key(market.environment, "operations", "operator"), "consumer": market.keys[CONSUMER]}
        rows = list(_rows(market.url, callers))
        table(
            ["search", "found", *(f"{name}, {p}" for name in callers for p in ("p50", "p99", "core"))],
            [r for r, _ in rows],
        )
        slowest = max(slow for _, slow in rows)
        print(verdict(met=slowest <= TARGET, target=f"each p50 <= {TARGET:g} ms"), f"slowest: {slowest:.1f} ms")


def _fill(market: Marketplace, entries: int) -> None:
    with Client(market.url, market.keys[PROVIDER]) as client:
        client.publish(EXAMPLE_ENTRY, accept_small_counts=True)
    fill(market.environment["AEGIS_OWNER_DATABASE_URL"], entries)


def _rows(url: str, callers: dict[str, str]) -> Iterator[tuple[list[str], float]]:
    """A row per search, and the slower median of its two callers."""
    for name, params in CASES.items():
        cells, medians, sizes = [], [], []
        for own_key in callers.values():
            with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {own_key}"}, timeout=60) as client:
                _answers(client, params, WARM)
                before = core_seconds(*psutil.Process().children())
                seconds, size = _answers(client, params, TIMES)
                core = (core_seconds(*psutil.Process().children()) - before) / TIMES * MILLISECONDS
            medians.append(percentile(seconds, 50))
            cells += [f"{medians[-1]:.1f}", f"{percentile(seconds, 99):.1f}", f"{core:.1f}"]
            sizes.append(size)
        yield [name, "/".join(sizes), *cells], max(medians)


def _answers(client: httpx.Client, params: dict[str, str], times: int) -> tuple[list[float], str]:
    """The seconds of every response, and the number of entries on the page, with + if there is another page."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = client.get("/v1/entries", params=params)
        seconds.append(time.perf_counter() - start)
    page = answer.raise_for_status().json()
    return seconds, f"{len(page['items'])}{'+' if page['next_page_token'] else ''}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=100_000)
    run(partial(main, parser.parse_args().entries))
