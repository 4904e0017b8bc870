"""Tables of questions, answers and references."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Float, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, PackedColumns, created_at


class AdviceRow(Base):
    """A question about a version, and its answer. Equal questions share a row for each model version."""

    __tablename__ = "advice"
    __table_args__ = (
        UniqueConstraint("version_id", "question_digest", "model_version"),
        # Finished advice by age.
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


class QuestionRow(Base):
    """A tenant's question. Tenants with the same question share the advice, but have their own id and time."""

    __tablename__ = "question"
    __table_args__ = (
        UniqueConstraint("advice_id", "tenant_id", "view"),
        # The order of listings: newest first, and by id among equal times.
        Index("ix_question_created_at_id", "created_at", "id"),
        # Recent questions of a tenant, for quotas.
        Index("ix_question_tenant_id_created_at", "tenant_id", "created_at"),
        CheckConstraint("view IN ('full', 'coarse')", name="view"),
    )

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    advice_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("advice.id", ondelete="CASCADE"))
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    view: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = created_at()


class QuestionBudgetRow(Base):
    """The number of distinct questions with a coarse answer by a tenant about a version."""

    __tablename__ = "question_budget"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"), primary_key=True)
    used: Mapped[int]


class ReferenceRow(Base):
    """The reference of one attribute of a version, with its certificate; computed once by each model version."""

    __tablename__ = "reference"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    model_version: Mapped[str] = mapped_column(Text, primary_key=True)
    attribute: Mapped[int] = mapped_column(primary_key=True)
    method: Mapped[str] = mapped_column(Text)
    atoms: Mapped[int]
    iterations: Mapped[int]
    residual: Mapped[float] = mapped_column(Float)
    converged: Mapped[bool]
    misfits: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default=text("'{}'"))
    support_known: Mapped[bool] = mapped_column(server_default=text("false"))
    ceilings: Mapped[dict[str, float]] = mapped_column(JSONB, server_default=text("'{}'"))
    information_bound: Mapped[float | None] = mapped_column(Float)
    created_at: Mapped[datetime] = created_at()


class ReferenceArrayRow(PackedColumns, Base):
    """One array of a reference, by name: the atoms of the values, the joint counts and others."""

    __tablename__ = "reference_array"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    model_version: Mapped[str] = mapped_column(Text, primary_key=True)
    attribute: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
