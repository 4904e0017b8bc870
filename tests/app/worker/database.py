"""Queries, from outside the service, about jobs and sessions in the database."""

from typing import Any

import psycopg

#: Has a row while somebody waits for a lock of this database.
LOCK_AWAITED = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def rows(database_url: str, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with psycopg.connect(database_url) as connection:
        return connection.execute(query, parameters).fetchall()


def jobs(database_url: str) -> list[tuple[str, str]]:
    """The task and status of the jobs that answers need, oldest first, then of those whose turn has not come.

    Successful jobs may be deleted already. A verdict is nothing that an answer waits for.
    """
    listed = rows(database_url, "SELECT task_name, status::text FROM procrastinate_jobs ORDER BY id")
    listed += rows(database_url, "SELECT task, 'todo' FROM waiting_job ORDER BY rank, id")
    return [(task, status) for task, status in listed if status != "succeeded" and task not in ("verdict", "worth")]
