"""Messages to counterparts that do not answer, and to workers that die."""

import psycopg
import pytest


@pytest.fixture
def changed(shared_database_url):
    """Change what is stored about a negotiation, and return what it then is."""

    def change(process, assignment="state = state"):
        returned = "RETURNING state, attempts, next_attempt_at > now() + interval '3 s', claimed_until IS NULL"
        with psycopg.connect(shared_database_url) as connection:
            statement = f"UPDATE negotiation SET {assignment} WHERE id = %s {returned}"
            return connection.execute(statement, [process["providerPid"].removeprefix("urn:uuid:")]).fetchone()

    return change


async def test_a_refused_message_waits_before_it_is_sent_again(trade, changed):
    process = await trade.negotiate()
    trade.connector.refuses = {"agreement"}
    await trade.act("provider", "approve")
    assert changed(process) == ("REQUESTED", 1, True, True)
    trade.connector.refuses = set()
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == []
    changed(process, "next_attempt_at = now()")
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["agreement"]
    assert changed(process)[:2] == ("AGREED", 0)


async def test_a_counterpart_that_is_never_reached_is_given_up(trade, changed):
    process = await trade.negotiate()
    trade.connector.refuses = {"agreement"}
    await trade.act("provider", "approve")
    changed(process, "attempts = 9, next_attempt_at = now()")
    await trade.send()
    assert changed(process)[0] == "TERMINATED"
    assert (await trade.request())["state"] == "approved"


async def test_what_a_dead_worker_was_sending_is_sent_by_another(trade, changed):
    process = await trade.negotiate()
    trade.connector.refuses = {"agreement"}
    await trade.act("provider", "approve")
    trade.connector.refuses = set()
    changed(process, "next_attempt_at = now(), claimed_until = now() + interval '1 hour'")
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == []
    changed(process, "claimed_until = now() - interval '1 s'")
    await trade.send()
    assert trade.connector.told(process["consumerPid"]) == ["agreement"]
