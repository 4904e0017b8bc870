"""Page tokens: a place in a listing by time and id."""

import base64
import binascii
import uuid
from datetime import datetime

from app.platform.errors import Fault, InvalidDocumentError


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
