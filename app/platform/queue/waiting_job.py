from typing import Any

from sqlalchemy import BigInteger, Identity, Index, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base


class WaitingJobRow(Base):
    """A job that waits until its tenant's turn comes; then it moves to the queue of the workers."""

    __tablename__ = "waiting_job"
    __table_args__ = (
        UniqueConstraint("tenant", "lane", "claim"),
        Index("ix_waiting_job_turn", "tenant", "lane", "rank", "id"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    tenant: Mapped[str] = mapped_column(Text)
    lane: Mapped[str] = mapped_column(Text)
    task: Mapped[str] = mapped_column(Text)
    claim: Mapped[str] = mapped_column(Text)
    rank: Mapped[int]
    arguments: Mapped[dict[str, Any]] = mapped_column(JSONB)
