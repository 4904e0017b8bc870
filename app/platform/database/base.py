from datetime import datetime

from sqlalchemy import ARRAY, DateTime, Integer, LargeBinary, MetaData, Text, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The base of all tables. Constraints are named, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def created_at() -> Mapped[datetime]:
    """When the row was created, by the database's clock, which all processes share."""
    return mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())


class PackedColumns:
    """The three columns of a packed array. The data is already compressed, so PostgreSQL stores it unchanged."""

    dtype: Mapped[str] = mapped_column(Text)
    shape: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    data: Mapped[bytes] = mapped_column(LargeBinary)
