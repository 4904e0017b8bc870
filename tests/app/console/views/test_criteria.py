"""Pages have words for each criterion of the contract: without them, a page with one would fail."""

from aegis_sdk.charts.kept import PROTECTION, SUPPRESSED
from aegis_sdk.wire import PRIVACY_CRITERIA
from app.entries.pages.entry_views import CRITERIA


def test_every_criterion_is_said_in_words():
    assert list(CRITERIA) == list(PRIVACY_CRITERIA)
    assert list(PROTECTION) == [*PRIVACY_CRITERIA, SUPPRESSED]
