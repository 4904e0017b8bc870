"""A catalogue of many entries and answers, copied within the database from one that the service has published."""

from typing import Final

import psycopg

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
    v.outline, v.schema, v.configurations, v.configuration_ids
FROM entry AS e, LATERAL (SELECT split_part(e.name, '-', 2)::bigint) AS numbered (n),
    (SELECT * FROM entry_version ORDER BY id LIMIT 1) AS v
WHERE e.name LIKE 'table-%%'
"""
_SEARCHED = """
INSERT INTO searched_version
SELECT v.id, e.id, 1, e.created_at, lower(concat_ws(E'\\n', e.name, v.title, array_to_string(v.keywords, E'\\n'))),
    ARRAY(SELECT 'keyword:' || one FROM unnest(v.keywords) AS one)
    || ARRAY(SELECT 'attribute:attribute' || split_part(e.name, '-', 2)::bigint * place %% 1000
        FROM generate_series(1, 20) AS place)
    || ARRAY['label:' || v.label, 'label:income', 'label:smoker', 'license:' || v.license],
    e.audience_tenants || tenant.name || CASE WHEN audience = 'all' THEN ARRAY[''] ELSE '{}' END
FROM entry_version AS v JOIN entry AS e ON e.id = v.entry_id JOIN tenant ON tenant.id = tenant_id
WHERE e.name LIKE 'table-%%'
"""
# With two digits, as they are stored, so that many are equal.
_WORTH = """
INSERT INTO worth
SELECT version_id, substr(facet, 7), k, entry_id, version, 2, round(score::numeric - 0.02, 2), score, 'known', 'c1',
    jsonb_build_object('auc', score, 'accuracy', score, 'low', round(score::numeric - 0.02, 2), 'high', score)
FROM searched_version, unnest(facets) AS facet, unnest(ARRAY[2, 5, 10, 20]) AS asked (k),
    LATERAL (SELECT round((0.5 + 0.5 * abs(hashint8(version_id * 31 + k + length(facet))) / 2147483648.0)::numeric, 2))
    AS one (score)
WHERE facet LIKE 'label:%%' ON CONFLICT DO NOTHING
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
# Answers of the entry that was copied, for its copies; without counts, nothing else could be asked about them. One
# consumer has asked all of it about the entries that everybody sees.
_CONFIGURATIONS = """
INSERT INTO configuration_table
SELECT v.id, c.guarantee, c.dtype, c.shape, c.data FROM entry_version AS v, configuration_table AS c
WHERE c.version_id = (SELECT min(version_id) FROM advice) AND v.id IN (SELECT version_id FROM searched_version)
ON CONFLICT DO NOTHING
"""
_ADVICE = """
INSERT INTO advice
SELECT gen_random_uuid(), v.id, a.question, a.question_digest, a.model_version, a.status,
    v.created_at - random() * interval '1 year', a.elapsed_ms, a.result
FROM entry_version AS v, advice AS a WHERE a.version_id = (SELECT min(version_id) FROM advice)
    AND v.id IN (SELECT version_id FROM searched_version) ON CONFLICT DO NOTHING
"""
_QUESTIONS = """
INSERT INTO question
SELECT gen_random_uuid(), a.id, (SELECT id FROM tenant WHERE name = %(consumer)s), 'coarse', a.created_at
FROM advice AS a JOIN entry_version AS v ON v.id = version_id JOIN entry AS e ON e.id = entry_id
WHERE audience = 'all' ON CONFLICT DO NOTHING
"""
_BUDGETS = """
INSERT INTO question_budget
SELECT version_id, tenant_id, count(*) FROM question AS q JOIN advice AS a ON a.id = advice_id WHERE view = 'coarse'
GROUP BY version_id, tenant_id ON CONFLICT DO NOTHING
"""

FILLED: Final = (_TENANTS, _ENTRIES, _VERSIONS, _SEARCHED, _WORTH, _OFFERED, _VACUUM)
"""What makes a catalogue of this many `entries` like the oldest version that is there."""

ANSWERED: Final = (_CONFIGURATIONS, _ADVICE, _QUESTIONS, _BUDGETS, _VACUUM)
"""What makes the answers about that version answers about all of them, for a `consumer`."""


def fill(url: str, entries: int, consumer: str | None = None) -> None:
    """Copy the oldest version, and also its answers if a consumer is to have them.

    Args:
        url: the database, for its owner.
        entries: how many entries there shall be besides.
        consumer: the tenant that has asked.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        index = connection.execute("SELECT pg_get_indexdef('ix_searched_version_search'::regclass)").fetchone()
        # Filled as by the migration: making the index afterwards takes a tenth of the time.
        connection.execute("DROP INDEX ix_searched_version_search")
        for statement in (*FILLED, *(ANSWERED if consumer else ())):
            connection.execute(statement, {"entries": entries, "consumer": consumer})
        connection.execute(index[0] if index else "")
        connection.execute(_VACUUM)
