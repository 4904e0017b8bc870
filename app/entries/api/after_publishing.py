"""What happens besides when an entry is published, whoever asks."""

import structlog

from app.edge.state import State
from app.entries.service.publishing import Published

_log = structlog.get_logger(__name__)


def note_published(state: State, published: Published) -> None:
    """Count what an upload has become. That small counts were accepted is logged, without them."""
    head = published.head
    if published.is_new:
        state.metrics.published(is_first=head.version == 1)
    if published.is_new and head.accepted_small_counts:
        _log.warning("small counts accepted", entry=head.id, version=head.version)
