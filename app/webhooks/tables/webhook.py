import uuid
from datetime import datetime

from sqlalchemy import ARRAY, DateTime, ForeignKey, LargeBinary, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base, created_at


class WebhookRow(Base):
    """Where a tenant is told of events. Its secret signs them, so it is stored as it is.

    `failures` counts the failed attempts since the last success. Before `retry_at`, nothing is sent. A worker that
    sends something has claimed the webhook until `claimed_until`; if the worker dies, another goes on after that.
    """

    __tablename__ = "webhook"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    tenant_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"), index=True)
    url: Mapped[str] = mapped_column(Text)
    event_types: Mapped[list[str]] = mapped_column(ARRAY(Text))
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    previous_secret: Mapped[bytes | None] = mapped_column(LargeBinary)
    previous_secret_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    created_at: Mapped[datetime] = created_at()
    created_by: Mapped[str | None] = mapped_column(Text)
    disabled_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    disabled_reason: Mapped[str | None] = mapped_column(Text)
    failing_since: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    failures: Mapped[int] = mapped_column(server_default=text("0"))
    retry_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    claimed_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_attempt_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    last_status: Mapped[int | None]
    last_error: Mapped[str | None] = mapped_column(Text)
