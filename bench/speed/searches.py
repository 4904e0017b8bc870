"""Listings and searches of a catalogue of 10^5 entries, by whoever asks and by how much is found.

`core` are the milliseconds of a core that one takes in the API and in PostgreSQL, which other load hardly changes.

`python -m bench.speed.searches --entries 100000`
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial

import httpx
import psutil
import psycopg

from aegis_sdk import Client
from aegis_sdk.wire import EXAMPLE_ENTRY
from bench.measuring import MILLISECONDS, heading, percentile, run, table, timed, verdict
from bench.speed.market import PROVIDER, Marketplace, key, marketplace

TIMES, WARM = 40, 12
TARGET = 40.0
CONSUMER = "lab"

# Of each hundred entries, 60 are for all, 30 private, and 10 for some tenants; one of a thousand is for the lab.
# `frequent` is in all, `half` in every second, `percent` in one of a hundred, `single` in one, `former` in the oldest
# tenth, and `sealed` in each private one. Other words are drawn from a thousand.
_ENTRIES = """
INSERT INTO entry (id, tenant_id, name, audience, audience_tenants, latest_version, created_at)
SELECT gen_random_uuid(), (SELECT min(id) FROM tenant WHERE name LIKE 'other-%%') + n %% 50, 'table-' || n,
    CASE WHEN n %% 10 < 6 THEN 'all' WHEN n %% 10 < 9 THEN 'private' ELSE 'tenants' END,
    CASE WHEN n %% 10 < 9 THEN '{}' WHEN n %% 1000 = 9 THEN ARRAY['lab', 'x'] ELSE ARRAY['x', 'y'] END, 1,
    now() - n * interval '1 minute'
FROM generate_series(1, %(entries)s) AS n
"""
_VERSIONS = """
INSERT INTO entry_version (entry_id, version, digest, keyed_digest, title, description, keywords, license, label,
    open_answers, accepted_small_counts, outline, schema, configurations, configuration_ids)
SELECT e.id, 1, v.digest, v.keyed_digest,
    concat_ws(' ', 'frequent', 'word' || n * 7919 %% 1000, 'word' || n * 104729 %% 1000,
        CASE WHEN n %% 2 = 0 THEN 'half' END, CASE WHEN n %% 100 = 0 THEN 'percent' END,
        CASE WHEN n = %(entries)s / 2 AND audience = 'all' THEN 'single' END,
        CASE WHEN n > %(entries)s * 0.9 THEN 'former' END, CASE WHEN audience = 'private' THEN 'sealed' END),
    repeat('what it is ', 50), ARRAY['health', 'topic' || n %% 100], 'CC0-1.0', 'label' || n %% 20, false, false,
    (SELECT jsonb_agg(v.outline -> 0 || jsonb_build_object('name', 'attribute' || (n * place) %% 1000))
     FROM generate_series(1, 20) AS place),
    decode(repeat(md5(n::text), 40), 'hex'), v.configurations, v.configuration_ids
FROM entry AS e, LATERAL (SELECT split_part(e.name, '-', 2)::bigint) AS numbered (n),
    (SELECT * FROM entry_version LIMIT 1) AS v
WHERE e.name LIKE 'table-%%'
"""
_SEARCHED = """
INSERT INTO searched_version
SELECT v.id, e.id, 1, e.created_at, lower(concat_ws(E'\\n', e.name, v.title, array_to_string(v.keywords, E'\\n'))),
    ARRAY(SELECT 'keyword:' || one FROM unnest(v.keywords) AS one)
    || ARRAY(SELECT 'attribute:' || (one ->> 'name') FROM jsonb_array_elements(v.outline) AS one)
    || ARRAY['label:' || v.label, 'license:' || v.license],
    e.audience_tenants || tenant.name || CASE WHEN audience = 'all' THEN ARRAY[''] ELSE '{}' END
FROM entry_version AS v JOIN entry AS e ON e.id = v.entry_id JOIN tenant ON tenant.id = tenant_id
WHERE e.name LIKE 'table-%%'
"""
# k is 2 or more for all, and 1,000 or more for one of a thousand.
_OFFERED = """
INSERT INTO offered_privacy
SELECT id, criterion, 0.1, CASE WHEN id %% 1000 = 0 THEN 1000 ELSE 2 + id %% 20 END
FROM entry_version, unnest(ARRAY['k', 'l', 't', 'reidentification', 'membership']) AS criterion
WHERE entry_version.id IN (SELECT version_id FROM searched_version) ON CONFLICT DO NOTHING
"""
_TENANTS = "INSERT INTO tenant (name) SELECT 'other-' || n FROM generate_series(1, 50) AS n"
_VACUUM = "VACUUM ANALYZE"

#: What makes a catalogue of so many `entries` like the newest version that is there.
FILLED = (_TENANTS, _ENTRIES, _VERSIONS, _SEARCHED, _OFFERED, _VACUUM)

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
    with psycopg.connect(market.environment["AEGIS_OWNER_DATABASE_URL"], autocommit=True) as connection:
        index = connection.execute("SELECT pg_get_indexdef('ix_searched_version_search'::regclass)").fetchone()
        # Filled as by the migration: making the index afterwards takes a tenth of the time.
        connection.execute("DROP INDEX ix_searched_version_search")
        for statement in FILLED:
            connection.execute(statement, {"entries": entries})
        connection.execute(index[0] if index else "")
        connection.execute(_VACUUM)


def _rows(url: str, callers: dict[str, str]) -> Iterator[tuple[list[str], float]]:
    """A row for each search, and the slower median of its two callers."""
    for name, params in CASES.items():
        cells, medians, sizes = [], [], []
        for own_key in callers.values():
            with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {own_key}"}, timeout=60) as client:
                _answers(client, params, WARM)
                before = _core_seconds()
                seconds, size = _answers(client, params, TIMES)
                core = (_core_seconds() - before) / TIMES * MILLISECONDS
            medians.append(percentile(seconds, 50))
            cells += [f"{medians[-1]:.1f}", f"{percentile(seconds, 99):.1f}", f"{core:.1f}"]
            sizes.append(size)
        yield [name, "/".join(sizes), *cells], max(medians)


def _answers(client: httpx.Client, params: dict[str, str], times: int) -> tuple[list[float], str]:
    """The seconds of each answer, and how many entries are on the page; + if there is another page."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = client.get("/v1/entries", params=params)
        seconds.append(time.perf_counter() - start)
    page = answer.raise_for_status().json()
    return seconds, f"{len(page['items'])}{'+' if page['next_page_token'] else ''}"


def _core_seconds() -> float:
    """The core seconds that the API, PostgreSQL and this process's other children have used."""
    processes = psutil.Process().children(recursive=True)
    return sum(sum(process.cpu_times()[:2]) for process in processes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=100_000)
    run(partial(main, parser.parse_args().entries))
