"""What tables and stores have in common, page tokens, and the table of compatible revisions."""

import base64
import binascii
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, DateTime, Integer, LargeBinary, MetaData, Text, any_, func, literal
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, mapped_column

from app.platform.errors import Fault, InvalidDocumentError


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


def write_token(time: datetime, row_id: uuid.UUID, order: str = "") -> str:
    """The token of a place, with the name of the order if the listing has several."""
    return base64.urlsafe_b64encode("|".join(filter(None, (time.isoformat(), str(row_id), order))).encode()).decode()


def read_token(token: str, order: str = "") -> tuple[datetime, uuid.UUID]:
    """The place of a token.

    Raises:
        InvalidDocumentError: not a token, or one of another order.
    """
    try:
        text = base64.urlsafe_b64decode(token.encode()).decode()
        time, row_id = text.removesuffix(f"|{order}" if order else "").split("|")
        return datetime.fromisoformat(time), uuid.UUID(row_id)
    except (ValueError, binascii.Error) as error:
        detail = "Not a page token of this listing in this order; use the next_page_token of the previous page."
        fault = Fault("/page_token", detail)
        raise InvalidDocumentError("The page token is invalid.", (fault,)) from error
