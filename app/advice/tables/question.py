import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class QuestionRow(Base):
    """Who asked for an advice. Tenants that ask the same question share the advice, but not its id and time."""

    __tablename__ = "question"
    __table_args__ = (
        UniqueConstraint("advice_id", "tenant_id", "view"),
        # The order of listings: newest first, and by id among equal times.
        Index("ix_question_created_at_id", "created_at", "id"),
        # How many a tenant has asked lately.
        Index("ix_question_tenant_id_created_at", "tenant_id", "created_at"),
        CheckConstraint("view IN ('full', 'coarse')", name="view"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    advice_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("advice.id", ondelete="CASCADE"))
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    view: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = created_at()


class QuestionBudgetRow(Base):
    """How many distinct questions with a coarse answer a tenant has asked about a version."""

    __tablename__ = "question_budget"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"), primary_key=True)
    used: Mapped[int]
