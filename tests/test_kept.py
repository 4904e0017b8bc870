"""What tests hand on to each other tells none of them anything about another, whichever comes first."""

import asyncio
import re

import pytest

from tests.kept import KEPT
from tests.service import AUDIT_KEY, Worker, create_key, example_entry, publish, running_app

pytestmark = pytest.mark.usefixtures("_one_loop")

READ = ("/v1/entries", "/v1/audit", "/v1/keys", "/v1/webhooks", "/v1/publishing", "/v1/questions", "/metrics")
WRONG_KEY = {"Authorization": "Bearer aegis_wrong_key"}
VARYING = re.compile(
    r"(?m)^(?!aegis_database_pool)\w+(?<!_total)({.*}| ).*\n|.*process_.*\n|#.*\n"
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|[\w-]{32,}|aegis_\w+|_ms': [\d.]+"
)


async def life(url, *, guarded):
    """What a test sees that then leaves all that it can: rows, answers, a spent limit, counts, keys."""
    key = await create_key(url, "owner", "operator") if guarded else {}
    async with running_app(url, audit_key=AUDIT_KEY, wrong_keys=2) as api, Worker.on(url) as worker:
        seen = {path: (await api.get(path, headers=key)).text for path in READ}
        entry = (await publish(api, example_entry(visibility="all"), **await create_key(url, "owner", "provider")))[
            "id"
        ]
        question, path = {"measure": "mutual_information"}, f"/v1/entries/{entry}/advice"
        asked = await api.post(path, json=question, headers=key | {"Prefer": "respond-async"})
        await worker.run()
        seen["answer"] = str((await api.get(f"/v1/advice/{asked.json()['id']}", headers=key)).json())
        seen["guesses"] = str([(await api.get(READ[0], headers=WRONG_KEY)).status_code for _ in range(3)])
    return {name: VARYING.sub("", text) for name, text in seen.items()}


@pytest.mark.parametrize("guarded", [True, False])
async def test_each_test_begins_as_the_first_one_did(database_url, lent, guarded):
    kept, lives = KEPT.to(database_url), []
    for turn in (guarded, not guarded, guarded, not guarded):
        lives.append(await life(database_url, guarded=turn))
        await asyncio.to_thread(lent.renew)
    assert lives[2:] == lives[:2]
    assert {one["guesses"] for one in lives} == {"[200, 200, 200]", "[401, 401, 429]"}
    assert all("'status': 'succeeded'" in one["answer"] for one in lives)
    assert KEPT.to(database_url) is kept
