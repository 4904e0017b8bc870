from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, DateTime, ForeignKey, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class ApiKeyRow(Base):
    """A key, stored as its hash. Revoked keys are not deleted, since the first key ends development mode for good."""

    __tablename__ = "api_key"
    __table_args__ = (
        CheckConstraint("role IN ('consumer', 'provider', 'reviewer', 'administrator', 'operator')", name="role"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    role: Mapped[str] = mapped_column(Text)
    prefix: Mapped[str] = mapped_column(Text, unique=True)
    key_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = created_at()
    expires_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    revoked_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_used_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    replaces: Mapped[str | None] = mapped_column(Text)


class ConsoleSessionRow(Base):
    """A session of the console, by the SHA-256 of its token.

    It belongs to a key, which identifies the caller, or to an issuer's token, whose claims are stored here.
    """

    __tablename__ = "console_session"
    __table_args__ = (
        CheckConstraint(
            "num_nonnulls(issuer, tenant, roles, subject) = CASE WHEN key_prefix IS NULL THEN 4 ELSE 0 END",
            name="caller",
        ),
    )

    token_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    key_prefix: Mapped[str | None] = mapped_column(ForeignKey("api_key.prefix"), index=True)
    issuer: Mapped[str | None] = mapped_column(Text)
    tenant: Mapped[str | None] = mapped_column(Text)
    roles: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    subject: Mapped[str | None] = mapped_column(Text, index=True)
    created_at: Mapped[datetime] = created_at()
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
