"""Tables of entries: versions, counts, configurations, data for searches, and verdicts."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    Text,
    UniqueConstraint,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, PackedColumns, created_at


class EntryRow(Base):
    """A catalogue entry: its name, its visibility and its latest version.

    `released_version` is the latest one that others see: 0 if none, and NULL if no version ever awaited a sign-off, so
    that it is the latest of all. A trigger maintains `changed_at`, the time of the last change that others see, of
    version or visibility.
    """

    __tablename__ = "entry"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        CheckConstraint("audience IN ('private', 'all', 'tenants')", name="audience"),
        # The order of listings: newest first, and by id among equal times.
        Index("ix_entry_created_at_id", "created_at", "id"),
        # For mirrors: changes since a time, in this order.
        Index("ix_entry_changed_at_id", "changed_at", "id"),
        # Entries that may exceed the limit on versions.
        Index("ix_entry_latest_version", "latest_version"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    name: Mapped[str] = mapped_column(Text)
    audience: Mapped[str] = mapped_column(Text)
    audience_tenants: Mapped[list[str]] = mapped_column(ARRAY(Text))
    latest_version: Mapped[int]
    released_version: Mapped[int | None]
    created_at: Mapped[datetime] = created_at()
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())


class EntryVersionRow(Base):
    """An immutable version of an entry, as compressed JSON. Its counts are in `count_table`.

    `people` and `rows_per_person` are NULL if its privacy counts records, and `labels` if it has one.
    """

    __tablename__ = "entry_version"
    __table_args__ = (UniqueConstraint("entry_id", "version"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    entry_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("entry.id", ondelete="CASCADE"))
    version: Mapped[int]
    digest: Mapped[str] = mapped_column(Text)
    keyed_digest: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    keywords: Mapped[list[str]] = mapped_column(ARRAY(Text))
    license: Mapped[str] = mapped_column(Text)
    terms: Mapped[str | None] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    labels: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    people: Mapped[int | None] = mapped_column(BigInteger)
    rows_per_person: Mapped[int | None]
    open_answers: Mapped[bool]
    accepted_small_counts: Mapped[bool]
    stored_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    awaits_sign_off: Mapped[bool] = mapped_column(server_default=false())
    published_by: Mapped[str | None] = mapped_column(Text)
    signed_off_by: Mapped[str | None] = mapped_column(Text)
    signed_off_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    outline: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, deferred=True)
    schema: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    configurations: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    configuration_ids: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime] = created_at()


class CountTableRow(PackedColumns, Base):
    """One table of counts of a version; `attribute` and `masking` are places in its document."""

    __tablename__ = "count_table"
    __table_args__ = (
        CheckConstraint("kind IN ('label_histogram', 'histogram', 'joint', 'masked_joint', 'pairs')", name="kind"),
        Index("ix_count_table_version_id_attribute", "version_id", "attribute"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(Text)
    attribute: Mapped[int | None]
    masking: Mapped[int | None]


#: The name of the row with the codes.
CODES = ""

#: The first character of the names of rows with additions of format 2. Each other row has one privacy criterion, under
#: its name, which is a word.
DECLARED = "/"


class ConfigurationTableRow(PackedColumns, Base):
    """The configurations of a version as numbers: the codes, each privacy criterion, and each array of format 2."""

    __tablename__ = "configuration_table"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    guarantee: Mapped[str] = mapped_column(Text, primary_key=True)


#: Stands for all tenants in `seen_by`. No tenant has this name.
EVERYBODY = ""


class SearchedVersionRow(Base):
    """The searchable data of a version that is or will be visible: the released version and later ones.

    `created_at` is that of its entry. `text` is its name, title and keywords in lower case, each on a line; a trigger
    adds a form feed and the names of its label and attributes, which it takes from `facets`. `facets`
    are exact terms, such as `keyword:health` and `attribute:age`. `seen_by` are the tenants that may see it.
    """

    __tablename__ = "searched_version"
    __table_args__ = (
        UniqueConstraint("entry_id", "version"),
        Index(
            "ix_searched_version_search",
            text("ngrams(text, 1)"),
            "facets",
            "seen_by",
            postgresql_using="gin",
            # Otherwise each search would read the list of pending changes.
            postgresql_with={"fastupdate": "false"},
        ),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    entry_id: Mapped[uuid.UUID]
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    text: Mapped[str] = mapped_column(Text)
    facets: Mapped[list[str]] = mapped_column(ARRAY(Text))
    seen_by: Mapped[list[str]] = mapped_column(ARRAY(Text))


class OfferedPrivacyRow(Base):
    """The lowest and the highest number in a version, by privacy criterion; `alone`: of the share of lone records.

    For the heads of listings, also the numbers of `records` and `columns`; versions from before these lack them.
    """

    __tablename__ = "offered_privacy"
    __table_args__ = (
        Index("ix_offered_privacy_criterion_lowest", "criterion", "lowest"),
        Index("ix_offered_privacy_criterion_highest", "criterion", "highest"),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("searched_version.version_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    criterion: Mapped[str] = mapped_column(Text, primary_key=True)
    lowest: Mapped[float]
    highest: Mapped[float]


class WorthRow(Base):
    """What a model should reach on the best table of a version: for a task and at least this k.

    `task` is the name of the `label`, or the URI of its concept. Rows exist from the publication on, by a trigger that
    adds them as `pending`. `kind`, `low` and `score` are the order of searches (`Worth.order`).
    """

    __tablename__ = "worth"
    __table_args__ = (
        Index("ix_worth_order", "task", "k", "kind", "low", "score", "entry_id"),
        Index("ix_worth_pending", "version_id", postgresql_where=text("state = 'pending'")),
    )

    version_id: Mapped[int] = mapped_column(
        ForeignKey("searched_version.version_id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    k: Mapped[float] = mapped_column(primary_key=True)
    entry_id: Mapped[uuid.UUID]
    version: Mapped[int]
    kind: Mapped[int] = mapped_column(server_default=text("0"))
    low: Mapped[float] = mapped_column(server_default=text("'-Infinity'"))
    score: Mapped[float] = mapped_column(server_default=text("'-Infinity'"))
    state: Mapped[str] = mapped_column(Text, server_default=text("'pending'"))
    configuration: Mapped[str | None] = mapped_column(Text)
    expected: Mapped[dict[str, float | None] | None] = mapped_column(JSONB(none_as_null=True))
    masking: Mapped[str | None] = mapped_column(Text)


class SavedSearchRow(Base):
    """A search of a tenant that is told what it finds, by the events of webhooks.

    `asked` has the parameters of the listing, and the columns after it what they mean: `words` and `facets` as in
    `SearchedVersionRow`, `required` as in `tenant`. `task` and `k` are of a search by worth, whose best until now has
    this `kind`, `low` and `score`.
    """

    __tablename__ = "saved_search"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"), index=True)
    created_at: Mapped[datetime] = created_at()
    created_by: Mapped[str | None] = mapped_column(Text)
    found_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    asked: Mapped[dict[str, Any]] = mapped_column(JSONB)
    words: Mapped[list[str]] = mapped_column(ARRAY(Text))
    facets: Mapped[list[str]] = mapped_column(ARRAY(Text))
    required: Mapped[dict[str, Any]] = mapped_column(JSONB)
    changed_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    task: Mapped[str | None] = mapped_column(Text)
    k: Mapped[float | None]
    kind: Mapped[int | None]
    low: Mapped[float | None]
    score: Mapped[float | None]


class AlertRow(Base):
    """A version that a saved search has found, so that it is told of it once."""

    __tablename__ = "alert"

    search_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("saved_search.id", ondelete="CASCADE"), primary_key=True)
    version_id: Mapped[int] = mapped_column(
        ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True
    )


class VerdictRow(Base):
    """Whether the counts of a version disclose small ones, and where."""

    __tablename__ = "verdict"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    passed: Mapped[bool]
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    few: Mapped[int | None]
    created_at: Mapped[datetime] = created_at()


class ServerKeyRow(Base):
    """The key for keyed digests: one row of 32 random bytes, created by the migration."""

    __tablename__ = "server_key"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[bytes] = mapped_column(LargeBinary)
