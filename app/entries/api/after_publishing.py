"""Side effects of publishing an entry."""

import structlog

from app.edge.state import State
from app.entries.service.publishing import Published

_log = structlog.get_logger(__name__)


def note_published(state: State, published: Published) -> None:
    """Count an upload, and log the acceptance of small counts, without the counts."""
    head = published.head
    if published.is_new:
        state.metrics.published(is_first=head.version == 1)
    if published.is_new and head.accepted_small_counts:
        _log.warning("small counts accepted", entry=head.id, version=head.version)
