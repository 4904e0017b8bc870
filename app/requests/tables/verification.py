import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class VerificationRow(Base):
    """What a consumer has found out about the masked table that was delivered for its data request."""

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
