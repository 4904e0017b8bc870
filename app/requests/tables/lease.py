import uuid
from datetime import datetime

from sqlalchemy import DateTime, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base


class LeaseRow(Base):
    """Which program fulfils a data request, and until when. A change of the request ends it."""

    __tablename__ = "lease"

    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[uuid.UUID]
    expires_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
