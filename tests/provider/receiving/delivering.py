"""Entries, delivered files and the evidence on them, as the service makes it."""

import csv
import io
import random
from datetime import UTC, datetime
from functools import cache

from aegis_provider import apply, document_of
from aegis_provider.prepare import prepare_entry
from aegis_provider.receiving.verification import verify
from aegis_provider.receiving.with_entry import judged_beside
from aegis_provider.table import open_table
from aegis_sdk.wire import EXAMPLE_DATA_REQUEST, DataRequest, Evidence
from app.advice.model import AdviceQuestion
from app.requests.api.answers import evidence_json
from app.requests.service.handovers import PackedEvidence
from tests.app.requests.model.test_data_requests import request_in
from tests.service import publication


def table_text(records=600, seed=1):
    """Return a CSV table: ages, places, amounts and a flag, and a label that depends on them."""
    draw = random.Random(seed)
    lines = ["age,place,amount,flag,y"]
    for _ in range(records):
        age = draw.choice(["", *map(str, range(18, 70))])
        place = draw.choice(["north", "south", "south", "east", "west", "isle"][: draw.choice([3, 5, 5, 6])])
        amount = f"{draw.gauss(100, 30):.1f}"
        flag = draw.choice(["true", "false"])
        y = draw.choice(["low", "mid", "high"] if age and int(age) > 40 else ["low", "low", "mid"])
        lines.append(f"{age},{place},{amount},{flag},{y}")
    return "\n".join(lines) + "\n"


def evidence_on(entry, configuration):
    """Return what the service tells a consumer of a configuration of an entry."""
    content = publication(entry).content
    request = request_in("delivered")
    object.__setattr__(request, "configuration", configuration)
    object.__setattr__(request, "question", AdviceQuestion("joint"))
    packed = PackedEvidence(request, content.schema, content.configurations, content.count_tables)
    return Evidence.model_validate_json(evidence_json(packed))


def verdict_beside(entry, configuration, path):
    """Return the verdict on an entry together with a masked table."""
    with open_table(path) as table:
        return judged_beside(entry, configuration, table, 60.0)


def delivery_of(path, configuration, records, privacy=None, card=None):
    """Return the request whose delivery is the file."""
    told = {
        "url": "https://store.example/t.csv",
        "media_type": "text/csv",
        "size": path.stat().st_size,
        "sha256": "0" * 64,
        "records": records,
        "configuration": configuration,
        "privacy": privacy or {},
        "card": card,
        "delivered_at": datetime(2026, 3, 1, tzinfo=UTC),
    }
    return DataRequest.model_validate(EXAMPLE_DATA_REQUEST | {"state": "delivered", "delivery": told})


class Provider:
    """A provider with a table and a plan, who publishes an entry and delivers what it released."""

    def __init__(self, folder, table, plan, controls=(), **options):
        self.folder, self.table = folder, table
        self._released = {}
        self.prepared = prepare_entry(table, plan, controls, name="e", **options)
        self.plan = self.prepared.plan
        self.entry = document_of(self.prepared.entry)

    def delivered(self, configuration, ending="csv"):
        """Return the file that is honestly released, and its request."""
        path = self.folder / f"{configuration}.{ending}"
        if path in self._released:
            content, request = self._released[path]
            path.write_bytes(content)
            return path, request
        applied = apply(self.table, self.plan, configuration, path)
        request = delivery_of(path, configuration, applied.records, dict(applied.reached))
        self._released[path] = path.read_bytes(), request
        return path, request

    @cache  # noqa: B019 - a test's provider lives as long as its tests
    def evidence(self, configuration):
        return evidence_on(self.entry, configuration)

    def verified(self, configuration, ending="csv", **changes):
        """Return the verdict on the file, perhaps changed, beside the evidence."""
        path, request = self.delivered(configuration, ending)
        if change := changes.get("change"):
            rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
            change(rows)
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            request = delivery_of(path, configuration, len(rows) - 1, changes.get("privacy"))
        return verify(path, request, self.evidence(configuration))
