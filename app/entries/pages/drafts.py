"""Entries between their check and their publication. The page of the check holds the file, and the service keeps
nothing of it, so nothing is half published, and the file need not be chosen again.
"""

import binascii
import gzip
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from aegis_sdk import wire
from app.entries.api.mapping import visibility_of
from app.entries.model.entries import Visibility
from app.entries.pages.entry_upload import EntryUpload
from app.pages.fields import validated_as
from app.pages.forms import Form
from app.platform.errors import InvalidDocumentError
from app.platform.http.codings import CodingError, InflatedSizeError, Inflater
from app.platform.http.refusals import BodyTooLargeError, MalformedRequestError

_DAMAGED = "The form has lost the entry file. Choose the file again."


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry file with what was decided about it so far.

    Attributes:
        file: the name of the file.
        document: its content.
        entry_id: the entry that it is a new version of; empty for a new entry, or if its name decides.
        seen: the state of that entry when its provider decided (`state_of`).
        audience: who is to see a new entry: `private`, `all` or `tenants`; empty if the file says so.
        tenants: their names, on lines of their own or with commas between.
        accepts_small_counts: whether its exact counts of a few people are accepted.
        accepts_unique: whether it is accepted that a configuration leaves many records alone.
    """

    file: str
    document: bytes
    entry_id: str = ""
    seen: str = ""
    audience: str = ""
    tenants: str = ""
    accepts_small_counts: bool = False
    accepts_unique: bool = False

    @classmethod
    def of_upload(cls, upload: EntryUpload) -> "Draft":
        """The draft of a file that was just chosen."""
        return cls(upload.file, upload.document, upload.form.text("version_of"))

    def packed(self) -> str:
        """The content as a field of a form. Slow for large entries."""
        return urlsafe_b64encode(gzip.compress(self.document, 2)).decode()

    def visibility(self) -> Visibility | None:
        """Who is to see a new entry; None if the file says so.

        Raises:
            InvalidDocumentError: no tenant is named, or none that can be.
        """
        if not self.audience:
            return None
        names = [name.strip() for name in self.tenants.replace(",", "\n").splitlines() if name.strip()]
        if self.audience == "tenants" and not names:
            raise InvalidDocumentError("Name the tenants that are to see the entry, or choose who else does.")
        asked = {"tenants": names} if self.audience == "tenants" else self.audience
        return visibility_of(validated_as(wire.VisibilityPatch, {"visibility": asked}).visibility)


def read_draft(form: Form, limit: int) -> Draft:
    """The draft that the form of a check holds. Slow for large entries.

    Raises:
        MalformedRequestError: the form was changed on its way.
        BodyTooLargeError: the file has more than `limit` bytes.
    """
    return Draft(
        form.text("file"),
        _unpacked(form.text("document"), limit),
        form.text("entry_id"),
        form.text("seen"),
        form.text("audience"),
        form.text("tenants"),
        form.has("accept_small_counts"),
        form.has("accept_unique"),
    )


def _unpacked(packed: str, limit: int) -> bytes:
    inflater = Inflater(limit)
    try:
        document = b"".join(inflater.feed(urlsafe_b64decode(packed)))
    except InflatedSizeError:
        raise BodyTooLargeError(f"The file has more than {limit} bytes, the most that are accepted.") from None
    except (CodingError, binascii.Error, ValueError):
        raise MalformedRequestError(_DAMAGED) from None
    if not inflater.is_complete:
        raise MalformedRequestError(_DAMAGED)
    return document
