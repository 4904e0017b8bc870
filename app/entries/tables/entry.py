import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class EntryRow(Base):
    """A catalogue entry: its name, who sees it, and which version is the latest.

    `released_version` is the latest one that others see: 0 if they see none, and NULL if no version ever awaited a
    sign-off, so that it is the latest of all. A trigger keeps `changed_at`: when what others see last changed, be it
    the version or the visibility.
    """

    __tablename__ = "entry"
    __table_args__ = (
        UniqueConstraint("tenant_id", "name"),
        CheckConstraint("audience IN ('private', 'all', 'tenants')", name="audience"),
        # The order of listings: newest first, and by id among equal times.
        Index("ix_entry_created_at_id", "created_at", "id"),
        # What has changed since a mirror last asked, and the order of such listings.
        Index("ix_entry_changed_at_id", "changed_at", "id"),
        # Those that may have more versions than are kept.
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
