"""Tables of the Dataspace Protocol: what it adds to data requests and deliveries."""

import uuid
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.dataspace.model.processes import OPEN_NEGOTIATION, OPEN_TRANSFER, NegotiationState, TransferState
from app.platform.database.base import Base, created_at


def _is_one_of(states: Iterable[str]) -> str:
    return f"state IN ({', '.join(repr(str(state)) for state in states)})"


class ProcessColumns:
    """The columns of both kinds of process.

    A worker sends the next message at `next_attempt_at`, or at once if the request has changed since `attempted_at`. It
    has claimed the process until `claimed_until`; if it dies, another one continues after that.
    """

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    consumer_id: Mapped[int] = mapped_column(ForeignKey("tenant.id"))
    consumer_pid: Mapped[str] = mapped_column(Text)
    callback: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = created_at()
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    attempted_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    next_attempt_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())
    claimed_until: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class NegotiationRow(ProcessColumns, Base):
    """A negotiation about a data request. A counter-offer of the consumer makes another request of it."""

    __tablename__ = "negotiation"
    __table_args__ = (
        UniqueConstraint("consumer_id", "consumer_pid"),
        Index("ix_negotiation_open", "next_attempt_at", postgresql_where=text(_is_one_of(OPEN_NEGOTIATION))),
        Index("ix_negotiation_claimed", "consumer_id", postgresql_where=text("claimed_until IS NOT NULL")),
        CheckConstraint(_is_one_of(NegotiationState), name="state"),
    )

    request_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("data_request.id", ondelete="CASCADE"), unique=True)


class TransferRow(ProcessColumns, Base):
    """A transfer of the file of an agreement; one at a time is open. `link` is a digest, since links give access."""

    __tablename__ = "transfer"
    __table_args__ = (
        UniqueConstraint("consumer_id", "consumer_pid"),
        Index("ix_transfer_open", "next_attempt_at", postgresql_where=text(_is_one_of(OPEN_TRANSFER))),
        Index("ix_transfer_claimed", "consumer_id", postgresql_where=text("claimed_until IS NOT NULL")),
        Index(
            "ix_transfer_negotiation_id_open",
            "negotiation_id",
            unique=True,
            postgresql_where=text(_is_one_of(OPEN_TRANSFER)),
        ),
        CheckConstraint(_is_one_of(TransferState), name="state"),
    )

    negotiation_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("negotiation.id", ondelete="CASCADE"), index=True)
    link: Mapped[str | None] = mapped_column(Text)
    is_paused: Mapped[bool] = mapped_column(server_default=text("false"))
