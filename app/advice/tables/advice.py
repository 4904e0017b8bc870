import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Float, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class AdviceRow(Base):
    """A question about an entry's version, and its answer. The same question has one row for each model version."""

    __tablename__ = "advice"
    __table_args__ = (
        UniqueConstraint("version_id", "question_digest", "model_version"),
        # What is finished, by its age.
        Index("ix_advice_finished", "created_at", postgresql_where=text("status IN ('succeeded', 'failed')")),
        CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="status"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"))
    question: Mapped[dict[str, Any]] = mapped_column(JSONB)
    question_digest: Mapped[bytes] = mapped_column(LargeBinary)
    model_version: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = created_at()
    elapsed_ms: Mapped[float | None] = mapped_column(Float)
    result: Mapped[bytes | None] = mapped_column(LargeBinary)
    problem: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
