"""What the database knows of jobs and sessions, asked from the outside."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import psycopg


def rows(database_url: str, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    with psycopg.connect(database_url) as connection:
        return connection.execute(query, parameters).fetchall()


def jobs(database_url: str) -> list[tuple[str, str]]:
    """Task and status of every job that there is, oldest first; those that succeeded are gone or say so."""
    found = rows(database_url, "SELECT task_name, status::text FROM procrastinate_jobs ORDER BY id")
    return [(task, status) for task, status in found if status != "succeeded"]


async def until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """What `condition` finds as soon as it finds something; the others in this loop run meanwhile."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := await asyncio.to_thread(condition):
            return found
    raise AssertionError("it did not come about")
