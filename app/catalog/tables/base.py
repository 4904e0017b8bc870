from datetime import datetime

from sqlalchemy import ARRAY, DateTime, Integer, LargeBinary, MetaData, Text, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """All tables; constraints are named, so that migrations can name them too."""

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
    """When the row was made, by the database's clock, which all processes share."""
    return mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())


class PackedColumns:
    """The three columns of a packed array. The data is compressed already: it is stored out of line as it is."""

    dtype: Mapped[str] = mapped_column(Text)
    shape: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    data: Mapped[bytes] = mapped_column(LargeBinary)
