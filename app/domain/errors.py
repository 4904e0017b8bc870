"""What can be refused, and why. The API gives each a status; nothing here knows HTTP."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a document: where (an RFC 6901 JSON Pointer) and what."""

    pointer: str
    detail: str


def pointer(*path: str | int) -> str:
    """The JSON Pointer of a place, given by the names and indices on the way to it."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


class RefusalError(Exception):
    """A request that the service refuses; `code` is a stable slug for programs, the text is for people."""

    code = "refused"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class UnknownKeyError(RefusalError):
    """The key is missing, unknown, expired or revoked."""

    code = "unauthenticated"


class RoleNotAllowedError(RefusalError):
    """The caller is known and may not do this."""

    code = "forbidden"


class NotFoundError(RefusalError):
    """There is no such thing, or none that this caller may see."""

    code = "not_found"


class NameTakenError(RefusalError):
    """The tenant has an entry of this name already: `entry_id`."""

    code = "name_taken"

    def __init__(self, name: str, entry_id: str) -> None:
        super().__init__(
            f"This tenant has an entry named {name!r} already; PUT /v1/entries/{entry_id} adds a version to it."
        )
        self.entry_id = entry_id


class StaleVersionError(RefusalError):
    """The entry has changed since the caller read it."""

    code = "stale_version"


class InvalidDocumentError(RefusalError):
    """A well-formed document that breaks rules: every fault that was found."""

    code = "invalid"

    def __init__(self, detail: str, faults: tuple[Fault, ...] = (), *, code: str = "invalid") -> None:
        super().__init__(detail)
        self.faults = faults
        self.code = code


class DatabaseUnavailableError(RefusalError):
    """The catalogue cannot be reached now."""

    code = "database_unavailable"
