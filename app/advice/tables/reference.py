from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Text, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, PackedColumns, created_at


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
    """One array of a reference, by its name there: the atoms of the values, the joint counts and others."""

    __tablename__ = "reference_array"

    version_id: Mapped[int] = mapped_column(ForeignKey("entry_version.id", ondelete="CASCADE"), primary_key=True)
    model_version: Mapped[str] = mapped_column(Text, primary_key=True)
    attribute: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
