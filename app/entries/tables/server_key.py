from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.database.base import Base


class ServerKeyRow(Base):
    """The key of this installation's digests: one row, 32 random bytes, made by the migration."""

    __tablename__ = "server_key"

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[bytes] = mapped_column(LargeBinary)
