"""What tables and stores have in common, page tokens, and the table of compatible revisions."""

import base64
import binascii
import math
import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ARRAY, ColumnElement, DateTime, Integer, LargeBinary, MetaData, Text, any_, func, literal
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Mapped, mapped_column

from app.platform.errors import Fault, InvalidDocumentError

Key = TypeVar("Key")


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


def write_token(key: datetime | Sequence[float], row_id: uuid.UUID, order: str = "") -> str:
    """The token of a place: a time or numbers, and an id, with the name of the order if the listing has several."""
    text = key.isoformat() if isinstance(key, datetime) else ",".join(map(repr, key))
    return base64.urlsafe_b64encode("|".join(filter(None, (text, str(row_id), order))).encode()).decode()


def read_token(token: str, order: str = "") -> tuple[datetime, uuid.UUID]:
    """The time and the id of a place.

    Raises:
        InvalidDocumentError: not a token, or one of another order.
    """
    return _read(token, order, datetime.fromisoformat)


def read_numbers(token: str, order: str, numbers: int) -> tuple[Any, ...]:
    """The numbers, so many, and the id of a place.

    Raises:
        InvalidDocumentError: not a token, or one of another order.
    """

    def read(text: str) -> tuple[float, ...]:
        key = tuple(map(float, text.split(",")))
        if len(key) != numbers or any(map(math.isnan, key)):
            raise ValueError(text)
        return key

    key, row_id = _read(token, order, read)
    return *key, row_id


def _read(token: str, order: str, read: Callable[[str], Key]) -> tuple[Key, uuid.UUID]:
    try:
        text = base64.urlsafe_b64decode(token.encode()).decode()
        key, row_id = text.removesuffix(f"|{order}" if order else "").split("|")
        return read(key), uuid.UUID(row_id)
    except (ValueError, binascii.Error) as error:
        detail = "Not a page token of this listing in this order; use the next_page_token of the previous page."
        fault = Fault("/page_token", detail)
        raise InvalidDocumentError("The page token is invalid.", (fault,)) from error
