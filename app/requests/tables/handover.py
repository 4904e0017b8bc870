import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, ForeignKey, LargeBinary, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class HandoverRow(Base):
    """What a provider says of the masked table that it delivers for a data request."""

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
