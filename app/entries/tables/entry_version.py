import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, LargeBinary, Text, UniqueConstraint, false, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class EntryVersionRow(Base):
    """An immutable version of an entry, as compressed JSON. Its counts are in `count_table`."""

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
