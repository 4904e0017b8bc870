"""Tables of data requests."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, DateTime, ForeignKey, Index, LargeBinary, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at
from app.requests.model.data_requests import OPEN, State

_ALL, _OPEN = (", ".join(f"'{state}'" for state in states) for states in (State, OPEN))


class DataRequestRow(Base):
    """A consumer's data request. It outlives the entry, the advice and the contact; digests and times stay.

    `table_name` is the table that the entry says it is about; NULL if it says none, as its own name stands for it then.
    """

    __tablename__ = "data_request"
    __table_args__ = (
        Index("ix_data_request_consumer_id_created_at", "consumer_id", "created_at"),
        Index("ix_data_request_provider_id_created_at", "provider_id", "created_at"),
        Index("ix_data_request_created_at_id", "created_at", "id"),
        # What a consumer was granted of a table.
        Index("ix_data_request_consumer_id_table", "consumer_id", text("coalesce(table_name, entry_name)")),
        # Requests that wait for their advice, and requests that can expire.
        Index("ix_data_request_requested", "advice_id", postgresql_where=text(f"state = '{State.REQUESTED}'")),
        Index("ix_data_request_open", "changed_at", postgresql_where=text(f"state IN ({_OPEN})")),
        CheckConstraint(f"state IN ({_ALL})", name="state"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    entry_id: Mapped[uuid.UUID] = mapped_column(index=True)
    entry_name: Mapped[str] = mapped_column(Text)
    table_name: Mapped[str | None] = mapped_column(Text)
    version: Mapped[int]
    version_id: Mapped[int | None] = mapped_column(ForeignKey("entry_version.id", ondelete="SET NULL"), index=True)
    digest: Mapped[str] = mapped_column(Text)
    keyed_digest: Mapped[str] = mapped_column(Text)
    provider_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    consumer_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    question: Mapped[dict[str, Any]] = mapped_column(JSONB)
    question_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("question.id", ondelete="SET NULL"), index=True)
    advice_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("advice.id", ondelete="SET NULL"), index=True)
    is_coarse: Mapped[bool]
    purpose: Mapped[str] = mapped_column(Text)
    contact: Mapped[str | None] = mapped_column(Text)
    terms: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    configuration: Mapped[str | None] = mapped_column(Text)
    cost: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    problem: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    created_at: Mapped[datetime] = created_at()
    changed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())


class DataRequestChangeRow(Base):
    """A step in the history of a request: who did what, when and why. Rows are only added."""

    __tablename__ = "data_request_change"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), index=True)
    at: Mapped[datetime] = created_at()
    action: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    side: Mapped[str] = mapped_column(Text)
    tenant: Mapped[str | None] = mapped_column(Text)
    subject: Mapped[str | None] = mapped_column(Text)
    reason: Mapped[str | None] = mapped_column(Text)
    configuration: Mapped[str | None] = mapped_column(Text)
    beside: Mapped[str | None] = mapped_column(Text)


class HandoverRow(Base):
    """A provider's description of the masked table that it delivers for a data request."""

    __tablename__ = "handover"

    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    media_type: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(Text)
    records: Mapped[int] = mapped_column(BigInteger)
    configuration: Mapped[str] = mapped_column(Text)
    reached: Mapped[dict[str, Any]] = mapped_column(JSONB)
    card: Mapped[bytes | None] = mapped_column(LargeBinary)
    delivered_at: Mapped[datetime] = created_at()


class LeaseRow(Base):
    """The program that fulfils a data request, and the end of its lease. A change of the request ends the lease."""

    __tablename__ = "lease"

    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[uuid.UUID]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class VerificationRow(Base):
    """A consumer's verification of the masked table that was delivered for its data request."""

    __tablename__ = "verification"

    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), primary_key=True)
    sha256: Mapped[str | None] = mapped_column(Text)
    size: Mapped[int | None] = mapped_column(BigInteger)
    records: Mapped[int | None] = mapped_column(BigInteger)
    measured: Mapped[dict[str, Any]] = mapped_column(JSONB)
    cells_compared: Mapped[int] = mapped_column(BigInteger)
    cells_differing: Mapped[int] = mapped_column(BigInteger)
    differences: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    verified_at: Mapped[datetime] = created_at()
