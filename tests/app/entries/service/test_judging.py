"""The service gives its verdict the same input on an entry as the provider does."""

import orjson

from aegis_advisor.verdict import Releases, Verdict
from aegis_provider.entry import content_of
from aegis_sdk.wire import EntryDocument
from app.entries.api.uploads import read_publication
from app.entries.service import publications
from tests.generated import mixed_entry


def test_generated_tables_are_known_to_show_no_record(monkeypatch):
    entry, told = mixed_entry(), []
    monkeypatch.setattr(publications, "judge", lambda published, **_: told.append(published.releases) or Verdict(()))
    content = read_publication(orjson.dumps(entry)).content
    stored = publications.VerdictInput(content.schema, content.configurations, content.count_tables)
    publications.compute_verdict(stored, 60.0)
    [releases], own = told, Releases.of(content_of(EntryDocument.model_validate(entry)))
    assert releases.generated == own.generated == {0, 3, 4}
