import uuid
from datetime import datetime

from sqlalchemy import Index, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class IdempotencyKeyRow(Base):
    """A request with an idempotency key, by a hash of the caller and the key.

    `answer` is encrypted with the key itself, which is not stored: an answer can have a secret. It is NULL while the
    request is carried out; `created_at` is then when its process was last heard of.
    """

    __tablename__ = "idempotency_key"
    __table_args__ = (Index("ix_idempotency_key_created_at", "created_at"),)

    name: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    claim: Mapped[uuid.UUID]
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = created_at()
