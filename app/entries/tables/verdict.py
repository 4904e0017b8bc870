from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class VerdictRow(Base):
    """Whether the counts of a version give small ones away, and where."""

    __tablename__ = "verdict"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    passed: Mapped[bool]
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    few: Mapped[int | None]
    created_at: Mapped[datetime] = created_at()
