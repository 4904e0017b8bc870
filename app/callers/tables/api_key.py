from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class ApiKeyRow(Base):
    """A key, stored as its hash. Revoked keys stay, since development mode ends once a key was ever created."""

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
