"""The base of tables and stores, and the table of compatible revisions."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, DateTime, Integer, LargeBinary, MetaData, Text, any_, func, literal
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, mapped_column


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
    """When the row was created, by the database's clock."""
    return mapped_column(DateTime(timezone=True), server_default=func.clock_timestamp())


class Store:
    """Queries in the transaction of a session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session


class PackedColumns:
    """The three columns of a packed array. The data is already compressed, so PostgreSQL stores it unchanged."""

    dtype: Mapped[str] = mapped_column(Text)
    shape: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    data: Mapped[bytes] = mapped_column(LargeBinary)


class CompatibleRevisionRow(Base):
    """A schema revision whose version of the service works with the current schema."""

    __tablename__ = "compatible_revision"

    revision: Mapped[str] = mapped_column(Text, primary_key=True)


def one_of(column: ColumnElement[Any] | InstrumentedAttribute[Any], numbers: Iterable[int]) -> ColumnElement[bool]:
    """Whether the column is one of these numbers, sent as one parameter, since a statement has at most 65,535."""
    return column == any_(literal(list(numbers), ARRAY(Integer)))
