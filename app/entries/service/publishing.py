"""Requirements for entries before publication, and its result."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.entries.model.entries import AttributeOutline, Head
from app.platform.callers import Caller
from app.platform.errors import RoleNotAllowedError
from app.tenants.model import RequiredPrivacy


@dataclass(frozen=True, slots=True)
class Published:
    """The result of an upload.

    Attributes:
        head: the head of the entry.
        is_new: whether the upload became a new version; otherwise it equals the latest one.
        warnings: warnings for the provider, one sentence each.
    """

    head: Head
    is_new: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """The requirements for the entries of a tenant.

    Attributes:
        named: its entry of the given name; None without one.
        required: the privacy that configurations must promise.
        demands_sign_off: whether a reviewer must sign off each version before others see it.
    """

    tenant: str
    named: Head | None
    required: RequiredPrivacy
    demands_sign_off: bool


def require_publisher(caller: Caller) -> None:
    """Refuse a caller that may not publish.

    Raises:
        RoleNotAllowedError: the caller is neither a provider nor an operator.
    """
    if not caller.may_publish:
        raise RoleNotAllowedError("Only providers and operators may publish. Use a provider's key.")


class EntryFollower:
    """Reacts to a change of an entry, in the same transaction. Does nothing by default."""

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """A version was stored."""

    async def entry_ending(self, entry_id: str) -> None:
        """An entry is about to be deleted."""
