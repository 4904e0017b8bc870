from datetime import datetime
from typing import Any

from sqlalchemy import Text, false, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class TenantRow(Base):
    """An organisation that owns entries and keys."""

    __tablename__ = "tenant"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    required_privacy: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    quota: Mapped[dict[str, int]] = mapped_column(JSONB, server_default=text("'{}'"))
    demands_sign_off: Mapped[bool] = mapped_column(server_default=false())
    composition: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = created_at()
