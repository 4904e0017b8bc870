import uuid
from datetime import datetime

from sqlalchemy import BigInteger, DateTime, ForeignKey, Identity, Index, Text, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class AuditRecordRow(Base):
    """A logged action. Rows are only added; at commit, a trigger adds the link to the chain."""

    __tablename__ = "audit_record"
    __table_args__ = (
        Index("ix_audit_record_entry_id", "entry_id", postgresql_where=text("entry_id IS NOT NULL")),
        Index("ix_audit_record_request_id", "request_id", postgresql_where=text("request_id IS NOT NULL")),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    # A random salt: the hash in a receipt cannot confirm a guess of the record's content.
    salt: Mapped[uuid.UUID] = mapped_column(server_default=func.gen_random_uuid())
    at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp(), index=True)
    action: Mapped[str] = mapped_column(Text)
    tenant: Mapped[str | None] = mapped_column(Text)
    subject: Mapped[str | None] = mapped_column(Text)
    side: Mapped[str | None] = mapped_column(Text)
    entry_id: Mapped[uuid.UUID | None]
    version: Mapped[int | None]
    digest: Mapped[str | None] = mapped_column(Text)
    terms: Mapped[str | None] = mapped_column(Text)
    request_id: Mapped[uuid.UUID | None]
    state: Mapped[str | None] = mapped_column(Text)
    configuration: Mapped[str | None] = mapped_column(Text)
    file_sha256: Mapped[str | None] = mapped_column(Text)
    target: Mapped[str | None] = mapped_column(Text)
    value: Mapped[str | None] = mapped_column(Text)


class AuditLinkRow(Base):
    """The place of a record in the chain: its number, the previous record's hash and its own."""

    __tablename__ = "audit_link"

    sequence: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    record_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("audit_record.id"), unique=True)
    previous: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(Text)


class AuditHeadRow(Base):
    """A signed head: the last record at a time, signed with the service's key."""

    __tablename__ = "audit_head"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    sequence: Mapped[int] = mapped_column(BigInteger)
    key_id: Mapped[str] = mapped_column(Text)
    signed_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    jws: Mapped[str] = mapped_column(Text)


class AuditKeyRow(Base):
    """A public key that verifies heads and receipts. The latest one is in use."""

    __tablename__ = "audit_key"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    public_key: Mapped[str] = mapped_column(Text)
    valid_from: Mapped[datetime] = created_at()
