"""The catalogue: publishing, reading, changing and deleting entries, with permissions; verdicts of workers."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.callers.store import KeyStore
from app.entries.model.entries import (
    AttributeOutline,
    CountTable,
    Head,
    HeadPage,
    Publication,
    StoredVerdict,
    VersionMark,
    Visibility,
    audience_text,
)
from app.entries.model.worth import Worth
from app.entries.service.admission import Admission
from app.entries.service.publications import VerdictInput
from app.entries.store.contents import ContentStore, ServerKeyStore, VerdictStore
from app.entries.store.entries import EntryStore
from app.entries.store.searches import Search
from app.entries.store.worth import WorthStore
from app.platform.callers import Caller
from app.platform.errors import (
    Fault,
    InvalidDocumentError,
    NameTakenError,
    NotFoundError,
    RoleNotAllowedError,
    StaleVersionError,
)
from app.platform.queue.queue import JobQueue
from app.tenants.model import RequiredPrivacy, TenantPolicy
from app.tenants.service import QuotaService
from app.tenants.store import TenantStore
from app.webhooks.store.events import EventStore

#: The largest number of listed versions.
VERSIONS_LISTED = 50

#: As many as the output of the HMAC has (RFC 2104, section 3).
SERVER_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Published:
    """The result of an upload; `is_new`: whether it became a new version, since it differs from the latest one."""

    head: Head
    is_new: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TenantTerms:
    """The requirements for the entries of a tenant; `named`: its entry of the given name, if any."""

    tenant: str
    named: Head | None
    required: RequiredPrivacy
    demands_sign_off: bool


def require_publisher(caller: Caller) -> None:
    """Refuse a caller that is neither a provider nor an operator (RoleNotAllowedError)."""
    if not caller.may_publish:
        raise RoleNotAllowedError("Only providers and operators may publish. Use a provider's key.")


class EntryFollower:
    """Reacts to a change of an entry, in the same transaction. Does nothing by default."""

    async def version_added(self, tenant: str, version_id: int, outline: Sequence[AttributeOutline]) -> None:
        """A version was stored."""

    async def entry_ending(self, entry_id: str) -> None:
        """An entry is about to be deleted."""


class CatalogueService:
    """Entries and their versions, for callers.

    `is_current` says whether the caller has seen a head.

    Raises:
        NotFoundError: by methods for one entry: there is no such entry or version, or the caller may not see it.
        RoleNotAllowedError: the caller may not do this.
        StaleVersionError: by methods with `is_current`: the entry has changed since the caller saw it.
    """

    def __init__(
        self,
        entries: EntryStore,
        contents: ContentStore,
        verdicts: VerdictStore,
        tenants: TenantStore,
        keys: KeyStore,
        quotas: QuotaService,
        events: EventStore,
        audit: AuditStore,
        worth: WorthStore,
        queue: JobQueue,
        followers: Sequence[EntryFollower],
    ) -> None:
        self._entries = entries
        self._contents = contents
        self._verdicts = verdicts
        self._tenants = tenants
        self._keys = keys
        self._quotas = quotas
        self._events = events
        self._audit = audit
        self._worth = worth
        self._queue = queue
        self._followers = followers

    async def terms(self, caller: Caller, name: str | None, admission: Admission) -> TenantTerms:
        """The requirements for entries that the caller publishes, and its tenant's entry of this name."""
        require_publisher(caller)
        policy = await self._tenants.policy(caller.tenant)
        named = None if name is None else await self._entries.find_by_name(caller, name)
        required = admission.required.stricter_of(policy.required_privacy)
        return TenantTerms(caller.tenant, named, required, policy.demands_sign_off)

    async def publish(self, caller: Caller, publication: Publication, admission: Admission) -> Published:
        """Add an entry and enqueue the reconstruction of its references.

        Raises:
            NameTakenError: the tenant has an entry of this name.
            InvalidDocumentError: the entry may not be published here (`Admission.refuse`).
            QuotaExceededError: the tenant's storage quota is used up.
        """
        require_publisher(caller)
        policy = await self._tenants.policy(caller.tenant)
        entry_id = await self._entries.add(
            publication.name, caller.tenant, publication.visibility, awaits_sign_off=policy.demands_sign_off
        )
        if entry_id is None:
            taken = await self._entries.find_by_name(caller, publication.name)
            raise NameTakenError(publication.name, "" if taken is None else taken.id)
        admission.refuse(publication, policy.required_privacy)
        await self._quotas.admit_version(caller.tenant, publication.content.stored_bytes)
        await self._add_version(caller, str(entry_id), 1, publication, policy)
        return await self._published(caller, str(entry_id), publication, admission)

    async def replace(
        self,
        caller: Caller,
        entry_id: str,
        publication: Publication,
        is_current: Callable[[Head], bool],
        admission: Admission,
    ) -> Published:
        """Add a version, unless the content equals that of the latest one.

        The visibility stays; `set_visibility` changes it.

        Raises:
            InvalidDocumentError: the name differs from that of the entry, or this may not be published here.
        """
        head = await self._unchanged(caller, entry_id, is_current)
        refuse_other_name(publication, head)
        if publication.content.digest == head.digest:
            return Published(head)
        admission.refuse(publication, head.policy.required_privacy)
        await self._quotas.admit_version(head.tenant, publication.content.stored_bytes)
        await self._add_version(caller, entry_id, head.version + 1, publication, head.policy)
        await self._entries.set_latest(entry_id, head.version + 1, awaits_sign_off=head.policy.demands_sign_off)
        return await self._published(caller, entry_id, publication, admission)

    async def _published(
        self, caller: Caller, entry_id: str, publication: Publication, admission: Admission
    ) -> Published:
        head = await self.head(caller, entry_id)
        await self._record(caller, AuditAction.PUBLISH_ENTRY, head, audience_text(head.visibility))
        await self._events.version_shown(entry_id, head.version)
        return Published(head, True, tuple(admission.warnings(publication, head.policy)))

    async def head(self, caller: Caller, entry_id: str, version: int | None = None) -> Head:
        """The head of an entry that the caller may see, by default at the latest version that it may see."""
        head = await self._entries.find(caller, entry_id, version)
        return visible(caller, head, entry_id, version).seen_by(caller)

    async def own_head(self, caller: Caller, entry_id: str, *, lock: bool = False) -> Head:
        """The head of an entry that the caller may change; `lock` locks the entry until the transaction ends."""
        head = visible(caller, await self._entries.find(caller, entry_id, lock=lock), entry_id, None)
        if not head.belongs_to(caller):
            raise RoleNotAllowedError("Only providers of the entry's own tenant and operators may change it.")
        return head

    async def page(
        self, caller: Caller, search: Search, limit: int, page_token: str | None, *, counted: bool = False
    ) -> HeadPage:
        """A page of the entries that the caller may see; `counted`: with the number on all pages.

        Raises:
            InvalidDocumentError: the page token is invalid, or more than one guarantee is required; or the order is by
                worth, and no entry has the label.
        """
        if len(search.required.numbers) > 1 and search.k is None:
            # One configuration would have to promise both, which the index does not show.
            fault = Fault("/require", "Give only one privacy requirement, as in k=10.")
            raise InvalidDocumentError("The search is invalid.", (fault,))
        page = await self._entries.page(caller, search, limit, page_token)
        if search.k is not None and not page.items:
            await self._refuse_unknown_label(caller, search)
        total = await self._entries.count(caller, search) if counted else None
        return HeadPage(tuple(head.seen_by(caller) for head in page.items), page.next_page_token, total)

    async def _refuse_unknown_label(self, caller: Caller, search: Search) -> None:
        known = await self._entries.page(caller, Search(label=search.label), 1, None)
        if not known.items:
            fault = Fault("/label", f"No entry that you may see has a label {search.label!r}.")
            raise InvalidDocumentError("The search is invalid.", (fault,))

    async def worth(self, head: Head) -> tuple[Worth, ...]:
        """What the tables of an entry's version are worth, by label and by k."""
        return await self._worth.of(head.version_id)

    async def versions(self, caller: Caller, head: Head) -> tuple[VersionMark, ...]:
        """The latest versions of an entry that the caller may see, latest first."""
        return await self._entries.versions(head, VERSIONS_LISTED, sees_all=head.shows_counts_to(caller))

    async def schema(self, head: Head) -> tuple[bytes, bytes]:
        """The entry without its counts, as compressed JSON: the schema and the configurations."""
        configurations = await self._contents.configurations(head.version_id)
        # The schema is read last: if it still exists, the parts read before were complete.
        schema = await self._contents.schema(head.version_id)
        if schema is None or configurations is None:
            raise NotFoundError(f"Entry {head.id} has just been deleted.")
        return schema, configurations

    async def verdict(self, caller: Caller, head: Head) -> StoredVerdict | None:
        """The verdict on an entry; None until there is one. Only callers who may read its counts see what fails."""
        verdict = await self._verdicts.find(head.version_id)
        if verdict is None or head.shows_counts_to(caller):
            return verdict
        return StoredVerdict(
            verdict.passed, (), rows_per_person=verdict.rows_per_person
        )  # places would help an attacker

    async def countable_head(self, caller: Caller, entry_id: str, version: int | None = None) -> Head:
        """The head of an entry whose counts the caller may read."""
        head = await self.head(caller, entry_id, version)
        if not head.shows_counts_to(caller):
            raise RoleNotAllowedError(
                "Only providers and reviewers of the entry's own tenant and operators may read its counts."
            )
        return head

    async def counts(self, head: Head, place: int) -> tuple[CountTable, ...]:
        """The counts of the default label and of the attribute at a place; `countable_head` checks the permission."""
        return await self._contents.count_tables(head.version_id, [place])

    async def counts_with(self, head: Head, places: Sequence[int]) -> tuple[bytes, tuple[CountTable, ...]]:
        """The schema, and the counts of the default label, of attributes and of pairs, likewise."""
        tables = await self._contents.count_tables(head.version_id, places, pairs=True)
        schema, _ = await self.schema(head)
        return schema, tables

    async def summaries(self, head: Head) -> tuple[bytes, bytes, tuple[CountTable, ...]]:
        """The entry as published, in parts: schema, configurations, counts."""
        tables = await self._contents.count_tables(head.version_id)
        schema, configurations = await self.schema(head)
        return schema, configurations, tables

    async def set_visibility(
        self, caller: Caller, entry_id: str, visibility: Visibility, is_current: Callable[[Head], bool]
    ) -> Head:
        """Change who sees the entry, without a new version."""
        head = await self._unchanged(caller, entry_id, is_current)
        await self._entries.set_visibility(entry_id, visibility)
        await self._record(caller, AuditAction.SHOW_ENTRY, head, audience_text(visibility))
        if visibility != head.visibility:
            await self._events.visibility_changed(entry_id, head.visibility)
        return await self.head(caller, entry_id)

    async def sign_off(
        self, caller: Caller, entry_id: str, version: int | None, is_current: Callable[[Head], bool]
    ) -> Head:
        """Let others see a version that awaits its sign-off; any other version stays as it is.

        Raises:
            RoleNotAllowedError: the caller may not sign off, or published this version itself.
            StaleVersionError: this is not the version that the caller has read.
        """
        head = visible(caller, await self._entries.find(caller, entry_id, version, lock=True), entry_id, version)
        if not (caller.may_sign_off and head.shows_counts_to(caller)):
            raise RoleNotAllowedError("Only reviewers of the entry's own tenant and operators may sign it off.")
        if not is_current(head):
            raise StaleVersionError("This is not the version that you have read. Read it again before signing it off.")
        if head.awaits_sign_off:
            own = [] if caller.subject is None else [caller.subject, *await self._keys.lineage(caller.subject)]
            if head.published_by in own:
                raise RoleNotAllowedError("You published this version yourself, so somebody else has to sign it off.")
            await self._entries.sign_off(head, caller.subject)
            await self._record(caller, AuditAction.SIGN_OFF_ENTRY, head)
            await self._events.version_shown(entry_id, head.version)
        return await self.head(caller, entry_id, head.version)

    async def delete(self, caller: Caller, entry_id: str, is_current: Callable[[Head], bool]) -> None:
        """Delete the entry with its versions and advice, end the requests for it, and free its name."""
        head = await self._unchanged(caller, entry_id, is_current)
        for follower in self._followers:
            await follower.entry_ending(entry_id)
        await self._events.entry_deleted(entry_id, head.visibility)
        await self._entries.delete(entry_id)
        await self._record(caller, AuditAction.DELETE_ENTRY, head)

    async def _record(self, caller: Caller, action: AuditAction, head: Head, value: str | None = None) -> None:
        record = AuditRecord(action, head.id, head.version, head.digest, head.terms, value=value)
        await self._audit.add(record, caller)

    async def _unchanged(self, caller: Caller, entry_id: str, is_current: Callable[[Head], bool]) -> Head:
        """The locked head of an entry that the caller may change and has seen."""
        head = await self.own_head(caller, entry_id, lock=True)
        if not is_current(head):
            raise StaleVersionError(
                f"The entry has changed and is at version {head.version}. Read it again and repeat the change."
            )
        return head

    async def _add_version(
        self, caller: Caller, entry_id: str, version: int, publication: Publication, policy: TenantPolicy
    ) -> None:
        version_id = await self._contents.add(
            entry_id,
            version,
            publication.content,
            accepted_small_counts=bool(publication.small_counts),
            awaits_sign_off=policy.demands_sign_off,
            published_by=caller.subject,
        )
        for follower in self._followers:
            await follower.version_added(caller.tenant, version_id, publication.content.outline)
        await self._queue.judge(caller.tenant, version_id)
        await self._queue.value(caller.tenant, version_id)


def visible(caller: Caller, head: Head | None, entry_id: str, version: int | None) -> Head:
    """The given head, if there is one and the caller may see it.

    Raises:
        NotFoundError: otherwise; an invisible entry looks like one that does not exist.
    """
    if head is None or not head.is_visible_to(caller):
        wanted = f"entry {entry_id}" if version is None else f"version {version} of entry {entry_id}"
        raise NotFoundError(f"There is no {wanted}, or you may not see it.")
    return head


class VerdictService:
    """Loads the input of a verdict, and stores the verdict. Each call belongs in a short transaction."""

    def __init__(self, contents: ContentStore, verdicts: VerdictStore) -> None:
        self._contents = contents
        self._verdicts = verdicts

    async def load(self, version_id: int) -> VerdictInput | None:
        """The input for the verdict on a version; None if there is a verdict, or the version is deleted."""
        if not await self._contents.pin(version_id) or await self._verdicts.find(version_id) is not None:
            return None
        schema = await self._contents.schema(version_id)
        configurations = await self._contents.configurations(version_id)
        if schema is None or configurations is None:
            return None
        return VerdictInput(schema, configurations, await self._contents.count_tables(version_id))

    async def store(self, version_id: int, verdict: StoredVerdict) -> None:
        """Store a verdict. Does nothing if the version has been deleted."""
        if await self._contents.pin(version_id) and await self._verdicts.add(version_id, verdict):
            await self._verdicts.record(version_id, "passed" if verdict.passed else "failed")


class ServerKeyService:
    """Renews the key for the digests that others see."""

    def __init__(self, server_key: ServerKeyStore, audit: AuditStore) -> None:
        self._server_key = server_key
        self._audit = audit

    async def renew(self) -> int:
        """Draw a new server key, and recompute all keyed digests; return their number."""
        await self._audit.add(AuditRecord(AuditAction.RENEW_SERVER_KEY), None)
        return await self._server_key.replace(secrets.token_bytes(SERVER_KEY_BYTES))


def refuse_other_name(publication: Publication, head: Head) -> None:
    """Refuse a new version of an entry under another name (InvalidDocumentError)."""
    if publication.name != head.name:
        fault = Fault("/name", f"The name must stay {head.name!r}.")
        raise InvalidDocumentError("A version cannot rename its entry.", (fault,))
