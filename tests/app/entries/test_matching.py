"""The plans by which PostgreSQL looks entries up. A plan that goes through all rows would be found in time only."""

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.dialects import postgresql

from app.entries.store.searches import Search, matching, matching_first
from app.platform.callers import Caller, Role
from app.tenants.model import RequiredPrivacy
from tests.postgres import OWNER, as_role

OPERATOR = Caller("operations", frozenset({Role.OPERATOR}))
CONSUMER = Caller("lab", frozenset({Role.CONSUMER}))

FILL = """
SET session_replication_role = replica;  -- there are no contents that the rows could refer to
INSERT INTO entry (id, tenant_id, name, audience, audience_tenants, latest_version, created_at)
SELECT gen_random_uuid(), 1, 'table-' || n, CASE WHEN n = 7 THEN 'all' ELSE 'private' END, '{}', 1,
    now() - n * interval '1 minute' FROM generate_series(1, 2000) AS n;
INSERT INTO searched_version (version_id, entry_id, version, created_at, text, facets, seen_by)
SELECT row_number() OVER (), id, 1, created_at, name || E'\\neverywhere ' || repeat('and so on ', 20),
    ARRAY['label:' || name, 'license:CC0-1.0'],
    CASE WHEN audience = 'all' THEN ARRAY['owner', ''] ELSE ARRAY['owner'] END
FROM entry;
INSERT INTO offered_privacy SELECT version_id, 'k', 2, version_id FROM searched_version;
ANALYZE entry, searched_version, offered_privacy;
"""


@pytest.fixture(scope="module")
def planned(shared_database_url):
    """The plan of a statement on a catalogue of two thousand entries, as text."""
    with psycopg.connect(as_role(shared_database_url, OWNER), autocommit=True) as connection:
        connection.execute(FILL)

        def plan(statement):
            compiled = statement.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})
            text = sql.SQL("EXPLAIN {}").format(sql.SQL(str(compiled).replace("%%", "%")))
            return "\n".join(line for (line,) in connection.execute(text))

        yield plan


def test_what_is_rare_is_looked_up_in_an_index(planned):
    by_index = "ix_searched_version_search"
    for words in ("table-1234", "everywhere table-77", "nowhere", "xq", "\u7cd6"):
        assert by_index in planned(matching(OPERATOR, Search(words), None, 51))
    assert by_index in planned(matching(OPERATOR, Search(label="table-1234"), None, 51))
    assert by_index in planned(matching(CONSUMER, Search(), None, 51))  # it sees little
    for required in (RequiredPrivacy({"k": 1990}), RequiredPrivacy({}, {"k": 1})):
        assert "ix_offered_privacy_criterion_" in planned(matching(OPERATOR, Search(required=required), None, 51))


@pytest.mark.parametrize("caller", [OPERATOR, CONSUMER], ids=["operator", "consumer"])
def test_what_is_frequent_is_found_among_the_newest_one_by_one(planned, caller):
    for search in (Search(), Search("everywhere"), Search("nowhere"), Search(license="CC0-1.0")):
        plan = planned(matching_first(caller, search, None, 51))
        assert "Index Scan Backward using ix_entry_created_at_id" in plan
        assert "Seq Scan on searched_version" not in plan
        assert "Seq Scan on entry" not in plan
        assert "ix_searched_version_search" not in plan
