"""What is asked of entries before they are published, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.entries.model.entries import AttributeOutline, Head
from app.platform.callers import Caller
from app.platform.errors import RoleNotAllowedError
from app.tenants.model import RequiredPrivacy


@dataclass(frozen=True, slots=True)
class Published:
    """What an upload has become.

    Attributes:
        head: the head of the entry.
        is_new: whether the upload is a new version; if not, it equals the latest one.
        warnings: what its provider should know, one sentence each.
    """

    head: Head
    is_new: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked of the entries of a tenant.

    Attributes:
        tenant: the tenant.
        named: its entry that has the name asked about; None if there is none.
        required: the privacy that configurations must vouch for.
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
    """Acts on a change of an entry, in the transaction of the change. Does nothing by default."""

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """A version was stored."""

    async def entry_ending(self, entry_id: str) -> None:
        """An entry is about to be deleted."""
