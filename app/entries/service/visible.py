"""What a caller may see of what was asked for."""

from app.entries.model.entries import Head
from app.platform.callers import Caller
from app.platform.errors import NotFoundError


def visible(caller: Caller, head: Head | None, entry_id: str, version: int | None) -> Head:
    """The head of an entry or a version, if there is one that the caller may see.

    Raises:
        NotFoundError: there is none. An entry that is not seen looks like one that does not exist.
    """
    if head is None or not head.is_visible_to(caller):
        wanted = f"entry {entry_id}" if version is None else f"version {version} of entry {entry_id}"
        raise NotFoundError(f"There is no {wanted}, or you may not see it.")
    return head
