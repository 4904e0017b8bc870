"""Tokens that name a place in a listing by time and id, newest first."""

import base64
import binascii
import uuid
from datetime import datetime

from app.domain.errors import Fault, InvalidDocumentError


def write_token(created_at: datetime, row_id: uuid.UUID) -> str:
    """The token of a place."""
    return base64.urlsafe_b64encode(f"{created_at.isoformat()}|{row_id}".encode()).decode()


def read_token(token: str) -> tuple[datetime, uuid.UUID]:
    """The place of a token.

    Raises:
        InvalidDocumentError: it is no token.
    """
    try:
        created_at, row_id = base64.urlsafe_b64decode(token.encode()).decode().split("|")
        return datetime.fromisoformat(created_at), uuid.UUID(row_id)
    except (ValueError, binascii.Error) as error:
        fault = Fault("/page_token", "Not a page token; use the next_page_token of the previous page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,)) from error
